package cause_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
)

// took makes the pods of a grid, from p1 on, ready that long after their creation two days ago.
func took(starts string) []dstest.Option {
	var out []dstest.Option
	for i, text := range strings.Fields(starts) {
		d, err := time.ParseDuration(text)
		if err != nil {
			panic(err)
		}
		out = append(out, dstest.Pod(fmt.Sprintf("p%d", i+1), func(p *corev1.Pod) {
			p.CreationTimestamp = metav1.NewTime(at(48 * time.Hour))
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at(48*time.Hour - d))}}
		}))
	}
	return out
}

// TestLate checks a pod p0 that is running but not ready, at an age and beside pods with given start times. The result
// is its severity, which is Error if it is expected to stay that way, and, if the pod is late or fails its probe, how
// many of the others were ready within the slowest start.
func TestLate(t *testing.T) {
	const minutes = 4 * time.Minute
	for _, tt := range []struct {
		age    time.Duration
		grid   string
		starts string
		probe  bool // the kubelet reports a failing readiness probe
		want   string
		why    string
	}{
		{10 * time.Second, "n N N N", "1s 1s 1s", true, "ProbeFailing Info", "in the first ten seconds nothing is late, however fast the others were"},
		{11 * time.Second, "n N N N", "1s 1s 1s", true, "ProbeFailing Warning late 3 within 1", "it takes longer than any other did"},
		{11 * time.Second, "n N N N", "1s 1s 1s", false, "Starting Warning late 3 within 1", "whether or not anything says why"},
		{16 * time.Second, "n N N N", "1s 1s 8s", true, "ProbeFailing Info", "twice as long as the slowest of them is not unusual"},
		{17 * time.Second, "n N N N", "1s 1s 8s", true, "ProbeFailing Warning late 3 within 8", "longer is"},
		{30 * time.Second, "n N N N", "1s 1s 20s", true, "ProbeFailing Info", "nor is half a minute, where one took about as long"},
		{31 * time.Second, "n N N N", "1s 1s 20s", true, "ProbeFailing Warning late 3 within 20", "then it need not be twice"},
		{90 * time.Second, "n N N N", "1s 91s 1s", true, "ProbeFailing Info", "one that is younger than the slowest known start is not late"},
		{92 * time.Second, "n N N N", "1s 91s 1s", true, "ProbeFailing Warning late 3 within 91", "a second later it is"},
		{90 * time.Second, "n N N O", "1s 1s 1s", true, "ProbeFailing Warning late 3 within 1", "too few of the current revision: all are compared with"},
		{30 * time.Second, "n N N O", "1s 1s 1s", false, "Starting Info", "another revision's image may have been there, this one's may be pulled"},
		{31 * time.Second, "n N N O", "1s 1s 1s", false, "Starting Warning late 3 within 1", "for half a minute"},
		{120 * time.Second, "n N N O", "1s 1s 100s", false, "Starting Info", "for twice as long as another one took, up to two minutes"},
		{121 * time.Second, "n N N O", "1s 1s 100s", false, "Starting Warning late 3 within 100", "not for longer"},
		{59 * time.Second, "n N N N O", "1s 1s 1s 120s", true, "ProbeFailing Warning late 3 within 1", "where there are enough, the old ones tell nothing"},
		{90 * time.Second, "n N N N", "1s 1s 40h", true, "ProbeFailing Info", "of three that started one took for hours, perhaps"},
		{90 * time.Second, "n N N N N", "1s 1s 1s 49h", true, "ProbeFailing Error 3 within 1", "one that is Ready in the future was not measured"},
		{59 * time.Second, "n" + strings.Repeat(" N", 10), "1s 1s 1s 1s 1s 1s 1s 1s 1s 40m", true, "ProbeFailing Warning late 9 within 1", "of ten it lost readiness for a while"},
		{90 * time.Second, "n N N", "1s 1s", false, "Starting Info", "two others tell too little"},
		{59 * time.Second, "n N N", "1s 1s", true, "ProbeFailing Info", "then the kubelet's events count"},
		{61 * time.Second, "n N N", "1s 1s", true, "ProbeFailing Warning late", "after a minute"},
		{minutes, "n N N N", "4m 5m 1s", true, "ProbeFailing Info", "a program may need minutes"},

		{60 * time.Second, "n N N N", "1s 1s 1s", true, "ProbeFailing Error 3 within 1", "after a minute of failing it is expected to stay so, beside pods that took a second"},
		{119 * time.Second, "n N N N", "1s 1s 1s", false, "Starting Warning late 3 within 1", "without a failure it is not"},
		{120 * time.Second, "n N N N", "1s 1s 1s", false, "ProbeFailing Error 3 within 1", "for two minutes"},
		{149 * time.Second, "n N N N", "1s 1s 30s", true, "ProbeFailing Warning late 3 within 30", "where one took long, it may take five times as long"},
		{150 * time.Second, "n N N N", "1s 1s 30s", true, "ProbeFailing Error 3 within 30", "then it is expected to stay so"},
		{7 * time.Minute, "n N N N", "1s 1s 90s", true, "ProbeFailing Warning late 3 within 90", "also beyond five minutes, the patience where nothing is known"},
		{119 * time.Second, "n N N O", "1s 1s 1s", true, "ProbeFailing Warning late 3 within 1", "another revision's pods tell less"},
		{120 * time.Second, "n N N O", "1s 1s 1s", true, "ProbeFailing Error 3 within 1", "after twice as long they do"},
		{minutes, "n N N O", "1s 1s 1s", false, "ProbeFailing Error 3 within 1", "without a failure after four minutes"},
		{5*time.Minute - time.Second, "n N N", "1s 1s", true, "ProbeFailing Warning late", "where nothing can be compared it has five minutes"},
		{5 * time.Minute, "n N N", "1s 1s", true, "ProbeFailing Error", "and no more"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			options := append(took(tt.starts), dstest.Pod("p0", func(p *corev1.Pod) {
				began := metav1.NewTime(at(tt.age))
				p.CreationTimestamp = began
				p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "agent", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: began}}}}
			}))
			if tt.probe {
				options = append(options, podEvent("Unhealthy", "statuscode: 503", time.Second))
			}
			_, found := find(t, dstest.State(tt.grid, options...))
			c := found.Of("n0")
			got := fmt.Sprintf("%s %s", c.Code, c.Severity)
			if c.Facts["late"] == true {
				got += " late"
			}
			if s, known := c.Facts["slowestStart"]; known {
				got += fmt.Sprintf(" %v within %v", c.Facts["starts"], s)
			}
			if got != tt.want {
				t.Errorf("p0 after %s is %s, want %s", tt.age, got, tt.want)
			}
		})
	}
}

// TestLateAfterRestart checks that a restarted container has as much time again.
func TestLateAfterRestart(t *testing.T) {
	for _, restarts := range []int32{0, 1} {
		_, found := find(t, dstest.State("n N N N", append(took("1s 1s 1s"), dstest.Pod("p0", func(p *corev1.Pod) {
			p.CreationTimestamp = metav1.NewTime(at(time.Hour))
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "agent", RestartCount: restarts, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(at(10 * time.Second))}}}}
		}))...))
		if c, want := found.Of("n0"), restarts == 0; (c.Facts["late"] == true) != want || c.Code != cause.Starting {
			t.Errorf("after %d restarts %s, late %v; want Starting, %t", restarts, c.Code, c.Facts["late"], want)
		}
	}
}
