package plan

import (
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
)

// collected is at most how long after its node a pod is garbage-collected, in seconds: 40,
// and up to 20 more until the collector looks. Nothing tells since when a node is gone.
const collected = 60

// nominal stands for a start that is not known, so that the steps can be
// counted.
const nominal = 30

// pace is the course of time in one simulation, in seconds.
type pace struct {
	starts   timing.InTurn // how long pods take to become ready
	ends     timing.InTurn // how long they take to be gone
	byGrace  bool          // only the grace period bounds that
	early    bool          // where it does, pods that obey SIGTERM end at once
	minReady float64
	rate     float64
	burst    int
	refused  bool  // every new pod is, by the API server
	room     *room // that quotas leave to begin with; nil where none limits pods
	silent   daemonset.Reason
	collects float64 // when the pods of a node that is gone are collected
	window   float64 // what happens within so much is taken to happen at once
	drawn    bool    // the simulation keeps its line
}

// startOf returns how long a pod takes in all that is so many seconds old and not
// ready.
func (p *pace) startOf(age float64) float64 { return p.starts.Beyond(age) }

// endOf returns how long a pod takes to be gone that was deleted so many seconds ago.
func (p *pace) endOf(age float64) float64 { return p.ends.Beyond(age) }

func (w *way) pace(starts, ends timing.Times) *pace {
	m := w.m
	return &pace{starts: timing.InTurn{Times: starts}, ends: timing.InTurn{Times: ends},
		byGrace:  m.EndSource == timing.SourceGracePeriod,
		minReady: m.MinReady, rate: m.Rate, burst: m.Burst, refused: w.a.refusal != nil, room: w.a.room,
		silent: w.a.silent, collects: collected / 2}
}

// typical has every pod take the median time, and what then happens at about
// the same time happen at once: steady waves come of it.
func (w *way) typical() *pace {
	start := float64(nominal)
	if len(w.m.Starts) > 0 {
		start = w.m.Quantile(0.5)
	}
	p := w.pace(timing.Exact([]float64{start}), timing.Exact([]float64{timing.Mean(w.m.Ends)}))
	p.window = max(1, start/2)
	return p
}

// expected has pods take the times that are expected, one after the other.
func (w *way) expected() *pace { return w.pace(w.m.Start, w.m.End) }

// likely is how many standard deviations the shortest and the longest course are from
// the expected one: nine of ten are between.
const likely = 1.7

// unlucky is the same for what is late, as a part of all that can be.
const unlucky = 0.45

// optimistic has every pod start and end as fast as is likely.
func (w *way) optimistic(row int) *pace {
	ends := w.m.End.Longer(-likely, row)
	if w.m.EndSource == timing.SourceGracePeriod {
		ends = timing.Exact([]float64{0})
	}
	p := w.pace(w.m.Start.Longer(-likely, row), ends)
	p.early = true
	p.starts.Luck, p.collects = -unlucky, 1
	return p
}

// pessimistic has every pod start and end as slowly as is likely, and use its grace
// period where only few have ended.
func (w *way) pessimistic(row int) *pace {
	ends := w.m.End.Longer(likely, row)
	if w.m.EndSource != timing.SourceGracePeriod && w.m.EndSource != timing.SourceFlag &&
		len(w.m.Ends) < timing.Fewest {
		ends = timing.Exact([]float64{max(ends.Seconds[len(ends.Seconds)-1], timing.GracePeriod(w.st))})
	}
	p := w.pace(w.m.Start.Longer(likely, row), ends)
	p.starts.Luck, p.collects = unlucky, collected
	return p
}
