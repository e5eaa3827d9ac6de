// Package controller runs the DaemonSet controller of one Kubernetes version
// on states that it reads, one sync at a time, and says what it wrote: a new
// controller for each sync, or, in a trace, one that lives on.
//
// It is shared by the programs of all versions, and so uses of client-go only
// what all of them have. go.mod names the oldest; each program builds it with
// the API types and the client of its own version.
package controller

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"os"
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/test/oracle/controller/wire"
)

// Adapter is what a version's program hands over. Functions whose parameters
// change over the versions are called by reflection.
type Adapter struct {
	// New is the controller's own constructor.
	New any

	// ShouldRun is its NodeShouldRunDaemonPod: a function, or a method with
	// the controller as first parameter. The last two booleans count.
	ShouldRun any

	// NewClock makes a clock that stands still, for the constructor of a
	// backoff. Its package moved in 1.23.
	NewClock any

	// NoPods makes what stands in for its PodControl, and does nothing; nil: nothing does.
	NoPods func() any

	// RealClock says that it reads the real clock in the rolling update and for
	// the status, as up to 1.20.
	RealClock bool
}

// state is a Snapshot, read with the API types of this version.
type state struct {
	TakenAt   time.Time                   `json:"takenAt"`
	DaemonSet appsv1.DaemonSet            `json:"daemonSet"`
	Revisions []appsv1.ControllerRevision `json:"revisions"`
	Nodes     []corev1.Node               `json:"nodes"`
	Pods      []corev1.Pod                `json:"pods"`
}

// Main answers the requests on stdin until it ends.
func Main(a Adapter) {
	if err := serve(a, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(a Adapter, in io.Reader, out io.Writer) error {
	requests := json.NewDecoder(bufio.NewReader(in))
	answers := bufio.NewWriter(out)
	var living *trace
	for {
		var r wire.Request
		switch err := requests.Decode(&r); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return fmt.Errorf("read a request: %w", err)
		}
		answer, err := a.answer(r, &living)
		if err != nil {
			answer = wire.Answer{Failed: err.Error()}
		}
		if err := json.NewEncoder(answers).Encode(answer); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
		if err := answers.Flush(); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
	}
}

func (a Adapter) answer(r wire.Request, living **trace) (wire.Answer, error) {
	var s state
	if err := json.Unmarshal(r.State, &s); err != nil {
		return wire.Answer{}, fmt.Errorf("read a state: %w", err)
	}
	if r.Trace != "" {
		return a.follow(living, r.Trace, &s)
	}
	answer := wire.Answer{}
	var err error
	if answer.Placement, err = a.placement(&s); err != nil {
		return wire.Answer{}, err
	}
	order := rand.New(rand.NewSource(r.Seed))
	for range r.Runs {
		run, err := a.sync(&s, order, r)
		if err != nil {
			return wire.Answer{}, err
		}
		answer.Runs = append(answer.Runs, run)
	}
	return answer, nil
}

// placement asks for every node.
func (a Adapter) placement(s *state) (map[string]wire.Placement, error) {
	i, err := a.newInstance(s)
	if err != nil {
		return nil, err
	}
	defer i.stop()
	return a.placementBy(i, s)
}

func (a Adapter) placementBy(i *instance, s *state) (map[string]wire.Placement, error) {
	answers := make(map[string]wire.Placement, len(s.Nodes))
	for n := range s.Nodes {
		p, err := i.shouldRun(a.ShouldRun, s.Nodes[n].DeepCopy(), s.DaemonSet.DeepCopy())
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", s.Nodes[n].Name, err)
		}
		answers[s.Nodes[n].Name] = p
	}
	return answers, nil
}

// sync runs a new controller on the state for one sync, again where the clock
// ran out on it.
func (a Adapter) sync(s *state, order *rand.Rand, r wire.Request) (wire.Run, error) {
	const attempts = 100
	for range attempts {
		i, err := a.newInstance(s)
		if err != nil {
			return wire.Run{}, err
		}
		if r.Burst > 0 {
			i.setBurst(r.Burst)
		}
		i.world.refuse = r.Refuse
		shift := a.shift(s.TakenAt, slack)
		i.fill(s, shift, order)
		if r.NoPods {
			field(i.controller, "podControl").Set(reflect.ValueOf(a.NoPods()))
		}
		i.measured()
		i.stop()
		if !shift.ranOut() {
			return i.run(), nil
		}
	}
	return wire.Run{}, fmt.Errorf("%d syncs took longer than %s each: run it again on a machine that is less busy", attempts, slack)
}
