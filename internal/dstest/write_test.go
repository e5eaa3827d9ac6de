package dstest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// read evaluates the source of an option.
func read(source string) (Option, error) {
	e, err := parser.ParseExpr(source)
	if err != nil {
		return Option{}, err
	}
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return Option{}, fmt.Errorf("%s is no call", source)
	}
	var texts []string
	var numbers []int64
	for _, a := range call.Args {
		lit, ok := a.(*ast.BasicLit)
		if !ok {
			return Option{}, fmt.Errorf("%s has an argument that is no literal", source)
		}
		if n, err := strconv.ParseInt(lit.Value, 10, 64); err == nil {
			numbers = append(numbers, n)
			continue
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			return Option{}, err
		}
		texts = append(texts, text)
	}
	name := call.Fun.(*ast.SelectorExpr).Sel.Name
	switch name {
	case "Version":
		return Version(texts[0]), nil
	case "MaxUnavailable":
		return MaxUnavailable(texts[0]), nil
	case "MaxSurge":
		return MaxSurge(texts[0]), nil
	case "OnDelete":
		return OnDelete(), nil
	case "MinReadySeconds":
		return MinReadySeconds(int32(numbers[0])), nil
	case "AddRevision":
		return AddRevision(texts[0], numbers[0], texts[1]), nil
	case "AddPod":
		return AddPod(texts[0]), nil
	case "Rename":
		return Rename(texts...), nil
	case "Patch":
		return Patch(texts[0], texts[1]), nil
	}
	return Option{}, fmt.Errorf("there is no option %s", name)
}

// again returns the state for the output of Write.
func again(t *testing.T, grid string, sources []string) *snapshot.Snapshot {
	t.Helper()
	var opts []Option
	for _, source := range sources {
		o, err := read(source)
		if err != nil {
			t.Fatal(err)
		}
		opts = append(opts, o)
	}
	s, err := Parse(grid, opts...)
	if err != nil {
		t.Fatalf("%q %s: %v", grid, strings.Join(sources, ", "), err)
	}
	return s
}

func TestWrite(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []Option
		want    string
		why     string
	}{
		{"", nil, `{"", nil, "why"},`, "no nodes are an empty grid"},
		{"O o N n G g H h -", nil, `{"O o N n G g H h -", nil, "why"},`, "letters need no options"},
		{"!O #- ^N !^o ~O", nil, `{"!O #- ^N !^o ~O", nil, "why"},`, "neither do marks"},
		{"Ot of ns np Oa Or nx O/n/oft", nil, `{"Ot of ns np Oa Or nx O/n/otf", nil, "why"},`, "nor flags, which have an order"},
		{"O*12 N N", nil, `{"O*12 N N", nil, "why"},`, "equal nodes are said once"},
		{"O", []Option{MaxUnavailable("25%")}, `{"O", options{dstest.MaxUnavailable("25%")}, "why"},`, "a limit has its option"},
		{"O", []Option{MaxSurge("2")}, `{"O", options{dstest.MaxSurge("2")}, "why"},`, "and so has the other"},
		{"V W", []Option{OnDelete(), MinReadySeconds(30)}, "{\"V W\", options{\n\tdstest.OnDelete(),\n\tdstest.MinReadySeconds(30),\n}, \"why\"},", "several options have a line each"},
		{"O", []Option{Version("v1.30.5")}, `{"O", options{dstest.Version("v1.30.5")}, "why"},`, "a version changes the revisions with it"},
		{"N", []Option{AddRevision("twin", 3, ""), AddRevision("older", 0, "example/agent:0")}, "{\"N\", options{\n\tdstest.AddRevision(\"twin\", 3, \"\"),\n\tdstest.AddRevision(\"older\", 0, \"example/agent:0\"),\n}, \"why\"},", "revisions are told by their image"},
		{"O", []Option{Edit(func(s *snapshot.Snapshot) { s.Revisions = s.Revisions[1:] })}, "{\"O\", options{dstest.Patch(\"revisions/agent-old\", `null`)}, \"why\"},", "a revision that every grid has can be missing"},
		{"O", []Option{DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.HostNetwork = true })}, "{\"O\", options{dstest.Patch(\"daemonset\", `{\"spec\":{\"template\":{\"spec\":{\"hostNetwork\":true}}}}`)}, \"why\"},", "a template changes the revisions with it"},
		{"O", []Option{Pod("p0", func(p *corev1.Pod) { p.Labels[hashLabel] = "x`" })}, `{"O", options{dstest.Patch("pods/p0", "{\"metadata\":{\"labels\":{\"controller-revision-hash\":\"x` + "`" + `\"}}}")}, "why"},`, "a raw string holds no backquote"},
		{"N ~O", []Option{Rename("n1", "gone", "p1", "n1")}, `{"N ~O", options{dstest.Rename("n1", "gone", "p1", "n1")}, "why"},`, "other names are said at once"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got, err := Row(State(tt.grid, tt.options...), "why")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Row(State(%q)) (-want +got):\n%s", tt.grid, diff)
			}
		})
	}
}

func TestWriteRefuses(t *testing.T) {
	s := State("O", AddRevision("twin", 3, ""), AddRevision("twin", 4, ""), Edit(func(s *snapshot.Snapshot) { s.Revisions[3].UID = "" }))
	if _, _, err := Write(s); err == nil || !strings.Contains(err.Error(), "revisions/agent-twin") {
		t.Errorf("two revisions of one name: %v", err)
	}
}

// TestWriteGrid checks that a state made from a grid is written as a grid without options, and that
// this gives the same Snapshot except for the order of lists.
func TestWriteGrid(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range cases.Of(50) {
		grid := randomGrid(r)
		s := State(grid, MinReadySeconds(30))
		got, sources, err := Write(s)
		if err != nil {
			t.Fatalf("%q: %v", grid, err)
		}
		if len(sources) != 1 {
			t.Fatalf("%q: written as %q, %q", grid, got, sources)
		}
		if diff := cmp.Diff(s, again(t, got, sources)); diff != "" {
			t.Fatalf("%q, written as %q (-want +got):\n%s", grid, got, diff)
		}
	}
}

func randomGrid(r *rand.Rand) string {
	of := func(choices ...string) string { return choices[r.IntN(len(choices))] }
	var cells []string
	for range r.IntN(8) {
		cell := of("", "", "", "!", "#", "^", "!^", "~")
		if r.IntN(6) == 0 && cell != "~" {
			cells = append(cells, cell+"-")
			continue
		}
		var pods []string
		for range 1 + r.IntN(3) {
			pod := of("O", "N", "V", "W", "G", "H", "o", "n", "g", "h")
			if pod > "a" {
				pod += of("", "", "f", "s", "p")
			}
			pods = append(pods, pod+of("", "", "t")+of("", "", "", "a", "r", "x"))
		}
		cell += strings.Join(pods, "/")
		if r.IntN(6) == 0 {
			cell += "*" + of("2", "3", "5")
		}
		cells = append(cells, cell)
	}
	return strings.Join(cells, " ")
}

// TestWriteRandom checks that nothing of a random state is lost.
func TestWriteRandom(t *testing.T) {
	for _, version := range []string{Newest, "v1.33.2", "v1.22.17", "v1.17.4"} {
		for seed := range cases.Of(int64(5)) {
			s := RandomFor(seed, version)
			if len(s.Nodes) > 20 && version != Newest {
				continue // slow, and tests nothing else
			}
			grid, sources, err := Write(s)
			if err != nil {
				t.Fatalf("seed %d of %s: %v", seed, version, err)
			}
			want, err := lines(s)
			if err != nil {
				t.Fatal(err)
			}
			got, err := lines(again(t, grid, sources))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d of %s, written as %q %s (-want +got):\n%s", seed, version, grid, strings.Join(sources, "\n"), diff)
			}
		}
	}
}
