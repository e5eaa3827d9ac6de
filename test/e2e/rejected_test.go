package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/manifest"
	"github.com/kubectl-ds/kubectl-ds/pkg/validate"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestRejected draws manifests, half of them broken in one field, and compares which of them a real
// API server and pkg/validate reject, and for which fields. pkg/validate must reject at least 90%
// of those that the server rejects for the same fields, and none that it accepts; see beyond for
// exceptions. REJECTED_CASES is their number and REJECTED_SEED the first seed.
func TestRejected(t *testing.T) {
	if before(37) {
		t.Skip("needs an API server of v1.37 or later, as make e2e starts it: older ones do not know all fields of the manifests")
	}
	t.Parallel()
	n, seed := number(t, "REJECTED_CASES", 400), number(t, "REJECTED_SEED", 1)
	c := stage.New(t, stage.Options{Bare: true})
	version, err := c.Client.Discovery().ServerVersion()
	must(t, err)
	cases, order := make([]*rejectedCase, n), rand.New(rand.NewPCG(uint64(seed), 0)).Perm(len(invalid))
	for i := range cases {
		r := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
		cases[i] = &rejectedCase{why: "nothing is broken", version: version.GitVersion}
		o := drawManifest(r)
		if i%2 == 1 {
			ch := invalid[order[i/2%len(order)]]
			cases[i].why, cases[i].beyond = breakManifest(r, o, ch), slices.Contains(beyond, ch.why)
		}
		cases[i].raw, err = json.Marshal(o)
		must(t, err)
	}
	must(t, inParallel(cases, func(k *rejectedCase) error { return k.ask(t.Context(), c, t.TempDir()) }))

	rejected, found := 0, 0
	for i, k := range cases {
		switch missed, invented := k.compare(); {
		case k.theirs == nil && k.ours != nil:
			t.Errorf("case %d of seed %d: the API server accepts it (%s): %v\n%s", i, seed, k.why, k.ours, k.raw)
		case k.theirs == nil && k.why != "nothing is broken":
			t.Logf("case %d: accepted although broken: %s", i, k.why)
		case k.theirs == nil:
		case invented != "":
			rejected++
			t.Errorf("case %d of seed %d (%s): the API server has nothing against %s: it says %v", i, seed, k.why, invented, k.said)
		case missed != "" && !k.beyond:
			rejected++
			t.Errorf("case %d of seed %d (%s): missed %s: %v", i, seed, k.why, missed, k.said)
		case missed != "":
			rejected++
			t.Logf("case %d: missed %s (%s): %v", i, missed, k.why, k.said)
		default:
			rejected++
			found++
		}
		if k.why == "nothing is broken" && k.theirs != nil {
			t.Errorf("case %d of seed %d: the API server rejects what is meant to be valid: %v\n%s", i, seed, k.said, k.raw)
		}
	}
	t.Logf("seed %d: %d manifests, %d rejected by the API server, %d of them here for the same fields", seed, n, rejected, found)
	if rejected < n*2/5 || found*10 < rejected*9 {
		t.Errorf("only %d of %d were rejected, and of those only %d here", rejected, n, found)
	}
}

// rejectedCase is a manifest with the fields for which it is rejected, or nil.
type rejectedCase struct {
	why          string
	beyond       bool // beyond the rules
	version      string
	raw          []byte
	theirs, ours []string
	said         error // by the API server
}

func (k *rejectedCase) ask(ctx context.Context, c *stage.Cluster, dir string) error {
	options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
	k.said = c.Client.AppsV1().RESTClient().Post().Namespace("default").Resource("daemonsets").VersionedParams(&options, metav1.ParameterCodec).
		SetHeader("Content-Type", runtime.ContentTypeJSON).Body(k.raw).Do(ctx).Error()
	var status apierrors.APIStatus
	switch {
	case k.said == nil:
	case !errors.As(k.said, &status):
		return k.said
	case status.Status().Details == nil || len(status.Status().Details.Causes) == 0:
		k.theirs = []string{""} // it could not be decoded
	default:
		for _, cause := range status.Status().Details.Causes {
			k.theirs = append(k.theirs, cause.Field)
		}
	}
	file := filepath.Join(dir, "manifest.json")
	if err := os.WriteFile(file, k.raw, 0o600); err != nil {
		return err
	}
	found, err := manifest.ReadManifests(ctx, []string{file}, "", nil)
	if unreadable := (*source.InputError)(nil); errors.As(err, &unreadable) {
		k.ours = []string{cmp.Or(unreadable.Field, "unreadable")}
		return nil
	}
	if err != nil {
		return err
	}
	applied, err := manifest.Overlay(nil, found[0], k.version)
	if err != nil {
		return err
	}
	for _, e := range validate.DaemonSet(nil, applied.DaemonSet, k.version) {
		k.ours = append(k.ours, e.Field)
	}
	return nil
}

// compare returns a field that only the API server reports and one that only pkg/validate reports.
// A manifest that cannot be decoded has no fields there.
func (k *rejectedCase) compare() (missed, invented string) {
	if k.ours == nil {
		return strings.Join(k.theirs, ", "), ""
	}
	if slices.Equal(k.theirs, []string{""}) {
		return "", ""
	}
	for _, f := range k.ours {
		if !slices.Contains(k.theirs, f) {
			invented = f
		}
	}
	for _, f := range k.theirs {
		if !slices.Contains(k.ours, f) {
			missed = f
		}
	}
	return missed, invented
}
