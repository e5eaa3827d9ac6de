package oracle

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// scene is a random cluster with a DaemonSet and a rollout: how long things take and what goes
// wrong. Times are in seconds.
type scene struct {
	seed    int64
	group   string // subject of the scene, by which results are grouped
	trouble trouble
	share   float64 // share of the nodes or pods that have the trouble
	nodes   int

	maxUnavailable, maxSurge intstr.IntOrString // one of them is 0
	minReady                 int32
	grace                    int64

	ending  termination
	endPart float64 // median, as a share of the grace period; for endsWithin
	start   float64 // median time until a pod with a present image is ready
	sigma   float64 // standard deviation of its logarithm
	pull    float64 // median time to pull an image; 0: images are present
	runs    float64 // share of the start time after which containers run and are probed
	period  float64 // period of the probe; 0: none, and a running container is ready
	blind   bool    // events cannot be read
}

// termination says how pods end.
type termination string

const (
	endsAtOnce termination = "ends at once"
	endsWithin termination = "ends within its grace period"
	endsKilled termination = "uses its whole grace period"
)

// trouble is what goes wrong.
type trouble string

const (
	noTrouble    trouble = ""
	slowPull     trouble = "pull"
	failsProbe   trouble = "probe"
	failsMount   trouble = "mount"
	failsSandbox trouble = "sandbox"
	crashes      trouble = "crash"
	noImage      trouble = "image"
	noRoom       trouble = "no room"
	nodeDies     trouble = "node dies"
	nodeJoins    trouble = "node joins"
	nodeLeaves   trouble = "node leaves"
	nodeTainted  trouble = "node tainted"
	heldForHours trouble = "held for hours"
)

// Groups of scenes.
const (
	plainScene   = "plain"
	surgeScene   = "surge"
	lateScene    = "late"
	brokenScene  = "broken"
	someScene    = "broken on some"
	nodesScene   = "nodes"
	resumedScene = "resumed"
)

// sceneKinds are the subjects of scenes, used in turn. The length of the list is odd because some
// things alternate.
var sceneKinds = []struct {
	group   string
	trouble trouble
}{
	{plainScene, noTrouble}, {surgeScene, noTrouble}, {lateScene, slowPull}, {someScene, failsProbe}, {nodesScene, nodeDies},
	{plainScene, noTrouble}, {brokenScene, crashes}, {lateScene, failsProbe}, {someScene, failsMount}, {nodesScene, nodeJoins},
	{plainScene, noTrouble}, {surgeScene, noTrouble}, {lateScene, failsMount}, {someScene, failsSandbox}, {nodesScene, nodeLeaves},
	{plainScene, noTrouble}, {brokenScene, failsProbe}, {lateScene, failsSandbox}, {someScene, crashes}, {nodesScene, nodeTainted},
	{plainScene, noTrouble}, {surgeScene, noTrouble}, {lateScene, crashes}, {someScene, noImage}, {resumedScene, heldForHours},
	{plainScene, noTrouble}, {brokenScene, failsMount}, {brokenScene, noImage}, {someScene, noRoom}, {resumedScene, heldForHours},
	{plainScene, noTrouble}, {surgeScene, noTrouble}, {brokenScene, failsSandbox}, {brokenScene, noRoom}, {plainScene, noTrouble},
}

// newScene returns the scene of a seed, which is at least 1.
func newScene(seed int64) *scene {
	r := rand.New(rand.NewPCG(uint64(seed), 0x7363656e65))
	kind := sceneKinds[(seed-1)%int64(len(sceneKinds))]
	s := &scene{seed: seed, group: kind.group, trouble: kind.trouble, share: 1}
	one := func(of ...float64) float64 { return of[r.IntN(len(of))] }
	between := func(from, to float64) float64 { return from + r.Float64()*(to-from) }
	evenly := func(from, to float64) float64 { return math.Exp(between(math.Log(from), math.Log(to))) }

	s.nodes = int(one(5, 8, 8, 12, 12, 20, 20, 30, 45, 60))
	s.maxUnavailable, s.maxSurge = intstr.FromInt32(1), intstr.FromInt32(0)
	limits := []intstr.IntOrString{intstr.FromInt32(1), intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromString("10%"), intstr.FromString("30%"), intstr.FromString("100%")}
	surges := []intstr.IntOrString{intstr.FromInt32(1), intstr.FromString("25%"), intstr.FromString("100%")}
	if s.group == surgeScene || s.group != plainScene && r.IntN(4) == 0 {
		s.maxUnavailable, s.maxSurge = intstr.FromInt32(0), surges[r.IntN(len(surges))]
	} else {
		s.maxUnavailable = limits[r.IntN(len(limits))]
	}
	s.minReady = int32(one(0, 0, 0, 5, 10, 30))
	s.grace = int64(one(30, 30, 30, 5, 60))
	s.ending = []termination{endsAtOnce, endsWithin, endsKilled}[r.IntN(3)]
	s.endPart = between(0.1, 0.8)
	s.start, s.sigma = evenly(1, 60), between(0.05, 0.5)
	s.pull = one(0, 1) * evenly(3, 30)
	s.runs = between(0.2, 0.9)
	s.period = one(0, 1, 5, 10)
	s.blind = r.IntN(5) == 0
	switch s.group {
	case lateScene:
		s.share = between(0.05, 0.3)
	case someScene:
		s.share = between(0.05, 0.4)
	case nodesScene:
		s.share = between(0.02, 0.25)
	}
	if s.group == resumedScene { // with a higher limit nothing would be left to resume
		s.maxUnavailable, s.maxSurge = limits[r.IntN(4)], intstr.FromInt32(0)
	}
	if s.trouble == failsProbe {
		s.period = one(1, 5, 10)
	}
	return s
}

// slow returns the start time of a slow but healthy pod: one in a hundred is slower.
func (s *scene) slow() float64 {
	return s.start*math.Exp(2.33*s.sigma) + s.pull*math.Exp(2.33*pullSigma)
}

const pullSigma = 0.4

// drawn returns a random source that depends only on the seed and the words, so that the order of
// calls does not matter.
func (s *scene) drawn(words ...any) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, append([]any{s.seed}, words...)...)
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

// hits reports whether the trouble is about a node.
func (s *scene) hits(node string) bool { return s.drawn("hits", node).Float64() < s.share }

// lifetime holds the times of a pod, in seconds: from its binding until its containers run and
// until it is ready, and from its deletion until it is gone.
type lifetime struct {
	runs, ready, ends float64
	trouble           trouble
	over              float64 // when the trouble is over; 0: never
}

// lifetimeOf draws the lifetime of a pod. If first is true, the node pulls the image.
func (s *scene) lifetimeOf(pod, node string, first, troubled bool) lifetime {
	r := s.drawn("pod", pod)
	took := s.start * math.Exp(s.sigma*r.NormFloat64())
	pull := 0.
	if n := math.Exp(pullSigma * r.NormFloat64()); first {
		pull = s.pull * n
	}
	f := lifetime{runs: pull + took, ready: pull + took}
	if s.period > 0 {
		f.runs = pull + took*s.runs
	}
	switch grace := float64(s.grace); s.ending {
	case endsAtOnce:
		f.ends = 0.3 + 1.7*r.Float64()
	case endsWithin:
		f.ends = min(grace, 0.5+s.endPart*grace*math.Exp(0.4*r.NormFloat64()))
	case endsKilled:
		f.ends = grace + 0.5 + r.Float64()
	}
	late, times := r.Float64() < s.share, 1.5+3.5*r.Float64()
	switch {
	case !troubled:
	case s.group == lateScene && late:
		f.trouble = s.trouble
		whole := times * s.slow()
		f.over = whole - took // the pod starts normally once it can
		if s.trouble == slowPull || s.trouble == failsProbe {
			f.over = whole
		}
	case s.group == brokenScene, s.group == someScene && s.hits(node):
		f.trouble = s.trouble
	}
	return f
}

// seconds returns a duration of some seconds.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
