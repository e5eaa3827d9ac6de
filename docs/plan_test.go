package docs

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	input "github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

var update = flag.Bool("update", false, "rewrite the screens of plan-rollout.md")

var planScreen = regexp.MustCompile("(?s)(    kubectl ds plan-rollout ([^\n]*)\n\n```\n)(.*?)```\n")

// TestPlanPage: the screens of plan-rollout.md are what their commands print.
func TestPlanPage(t *testing.T) {
	raw, err := os.ReadFile("plan-rollout.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	page := planScreen.ReplaceAllStringFunc(string(raw), func(part string) string {
		shown++
		m := planScreen.FindStringSubmatch(part)
		got := planned(t, m[2])
		if diff := cmp.Diff(m[3], got); diff != "" && !*update {
			t.Errorf("%s (-page +got):\n%s", m[2], diff)
		}
		return m[1] + got + "```\n"
	})
	if want := strings.Count(string(raw), "\n    kubectl ds plan-rollout "); shown != want || shown == 0 {
		t.Errorf("%d of %d commands have a screen", shown, want)
	}
	if *update {
		if err := os.WriteFile("plan-rollout.md", []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// planned returns the screen of a command line of the page.
func planned(t *testing.T, line string) string {
	t.Helper()
	words := strings.Fields(line)
	name, from := words[0], ""
	var c plan.Change
	var o plan.Options
	again := ""
	for i := 1; i < len(words); i += 2 {
		value := words[i+1]
		switch words[i] {
		case "--from":
			from = value
		case "--start":
			d, err := time.ParseDuration(value)
			if err != nil {
				t.Fatal(err)
			}
			o.Starts = []time.Duration{d}
			again += " --start " + value
		case "--image":
			c.Images = []plan.Image{{Image: value}}
		case "--max-unavailable":
			v := intstr.Parse(value)
			c.MaxUnavailable = &v
		case "--taint":
			taint := strings.Split(value, ":")
			c.Nodes = []plan.NodeEdit{{Kind: plan.NodeTaint, Which: taint[0], Taint: &corev1.Taint{Key: taint[1], Effect: corev1.TaintEffect(taint[2])}}}
		default:
			t.Fatalf("%s: %s is not understood", line, words[i])
		}
	}
	d, err := input.ReadFiles(t.Context(), []string{"../" + from}, strings.NewReader(""), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Read(t.Context(), input.Ref{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	asked := &c
	if c.MaxUnavailable == nil && len(c.Nodes) == 0 {
		asked = nil
	}
	p, err := plan.Make(s, asked, o)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := view.Plan(&b, p, "kubectl ds plan-rollout -n "+p.DaemonSet.Namespace+" "+name+" --from "+from+again, view.Style{Width: 80}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
