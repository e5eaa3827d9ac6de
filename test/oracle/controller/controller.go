// Package controller runs the DaemonSet controller of one Kubernetes version on states and returns
// what it wrote. Each sync runs on a new controller or, in a trace, on one that keeps running.
//
// The programs of all versions share it, so it uses only the part of client-go that all versions
// have. go.mod names the oldest version; each program builds it with its own.
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

// Adapter holds the functions of one version. Those whose parameters differ between versions are
// called by reflection.
type Adapter struct {
	// New is the constructor of the controller.
	New any

	// ShouldRun is NodeShouldRunDaemonPod: a function, or a method with the controller as first
	// parameter. The last two boolean results are used.
	ShouldRun any

	// NewClock returns a stopped clock for the constructor of a backoff. Its package changed in
	// v1.23.
	NewClock any

	// NoPods returns a PodControl that does nothing; nil if there is none.
	NoPods func() any

	// RealClock is set if the controller reads the real clock in the rolling update and for the
	// status, as before v1.21.
	RealClock bool
}

// state is a Snapshot, decoded with the API types of this version.
type state struct {
	TakenAt   time.Time                   `json:"takenAt"`
	DaemonSet appsv1.DaemonSet            `json:"daemonSet"`
	Revisions []appsv1.ControllerRevision `json:"revisions"`
	Nodes     []corev1.Node               `json:"nodes"`
	Pods      []corev1.Pod                `json:"pods"`
}

// Main answers requests on stdin until its end.
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

// placement returns the placement of every node.
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

// sync runs one sync of a new controller on the state, and repeats it if the clock shift expired.
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
