package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

func TestOtherPlatforms(t *testing.T) {
	// a node is a cell of the grid and its platform: linux (-l), windows (-w), amd64 (-a), arm64 (-r)
	labels := map[rune][2]string{'l': {corev1.LabelOSStable, "linux"}, 'w': {corev1.LabelOSStable, "windows"}, 'a': {corev1.LabelArchStable, "amd64"}, 'r': {corev1.LabelArchStable, "arm64"}}
	other := func(code daemonset.Reason, platform string, known []string, on ...string) []Warning {
		return []Warning{{code, daemonset.Facts{"platform": platform, "platforms": known, "onNodes": on}}}
	}
	linux, amd := []string{"linux"}, []string{"amd64"}
	inTemplate := func(spec string) []dstest.Option {
		return []dstest.Option{dstest.Patch("daemonset", `{"spec":{"template":{"spec":`+spec+`}}}`)}
	}
	affinity := func(terms string) []dstest.Option {
		return inTemplate(`{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[` + terms + `]}}}}`)
	}
	const either, any = `{"matchExpressions":[{"key":"kubernetes.io/os","operator":"In","values":["linux","windows"]}]}`, `{"matchExpressions":[{"key":"kubernetes.io/hostname","operator":"Exists"}]}`
	for _, tt := range []struct {
		nodes  string
		option []dstest.Option
		want   []Warning
		why    string
	}{
		{"N-l N-l --w --w", nil, other(OtherOperatingSystem, "windows", linux, "n2", "n3"), "pods run on linux only, and windows nodes get one"},
		{"N-l O-l o-w", nil, other(OtherOperatingSystem, "windows", linux, "n2"), "a windows node with an old pod that is not available gets a new one"},
		{"N-l n-w", nil, nil, "one that has a pod of the template shows what becomes of it"},
		{"N-l N-w --w", nil, nil, "a pod is available on windows, too"},
		{"N-l O-w --w", nil, nil, "also of the revision before"},
		{"N-l --l", nil, nil, "one operating system"},
		{"--l --l --w", nil, []Warning{{MixedOperatingSystems, daemonset.Facts{"platforms": []string{"linux", "windows"}, "onNodes": []string{"n2"}}}}, "no pod shows what the images are built for"},
		{"--l --l --l", nil, nil, "one operating system, and no pod"},
		{"N-l --w", inTemplate(`{"os":{"name":"linux"}}`), nil, "the template says what it is for: see the kubelet's answer"},
		{"N-l --w", affinity(either), nil, "whoever names the operating systems knows of them"},
		{"N-l --w", affinity(either + "," + any), other(OtherOperatingSystem, "windows", linux, "n1"), "a term that names none lets any node in"},
		{"N-l --w", affinity(any), other(OtherOperatingSystem, "windows", linux, "n1"), "affinity for something else"},
		{"N-l --w", inTemplate(`{"nodeSelector":{"kubernetes.io/os":"linux"}}`), nil, "a nodeSelector: the windows node is not eligible"},
		{"N-l --w", []dstest.Option{dstest.Tainted("n1", "a:NoSchedule")}, nil, "nor is one with a taint"},
		{"N-la N-la --lr", nil, other(OtherArchitecture, "arm64", amd, "n2"), "another architecture"},
		{"N-la --wr", nil, append(other(OtherOperatingSystem, "windows", linux, "n1"), other(OtherArchitecture, "arm64", amd, "n1")...), "both"},
		{"--la --lr", nil, nil, "images for several architectures are common"},
		{"N-l --", nil, nil, "a node that does not say what it is"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var cells []string
			has := map[string]string{}
			for i, cell := range strings.Fields(tt.nodes) {
				last := strings.LastIndexByte(cell, '-')
				cells, has[fmt.Sprint("n", i)] = append(cells, cell[:last]), cell[last+1:]
			}
			options := append(tt.option, dstest.Edit(func(s *snapshot.Snapshot) {
				for i := range s.Nodes {
					delete(s.Nodes[i].Labels, corev1.LabelOSStable)
					for _, is := range has[s.Nodes[i].Name] {
						s.Nodes[i].Labels[labels[is][0]] = labels[is][1]
					}
				}
			}))
			if diff := cmp.Diff(tt.want, otherPlatforms(stateOf(t, dstest.State(strings.Join(cells, " "), options...)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
