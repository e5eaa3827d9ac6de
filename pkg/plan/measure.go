package plan

import (
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
)

// collectedWithin is the longest time from the deletion of a node until its pods are garbage-collected, in seconds: 40
// until they are due, and up to 20 until the collector runs. The API does not expose when a node was deleted.
const collectedWithin = 60

// nominalStart replaces an unknown start time, so that the steps can be counted.
const nominalStart = 30

// pace sets how long things take in one simulation, in seconds.
type pace struct {
	starts   timing.InTurn // from creation to Ready
	ends     timing.InTurn // from deletion until a pod is gone
	byGrace  bool          // ends are known only from the grace period
	early    bool          // if byGrace, pods that handle SIGTERM end immediately
	minReady float64
	rate     float64
	burst    int
	refused  bool  // the API server rejects every new pod
	room     *room // that quotas leave at the start; nil if no quota limits pods
	silent   daemonset.Reason
	collects float64 // when the pods of deleted nodes are collected
	window   float64 // events within this time are treated as simultaneous
	drawn    bool    // the simulation records its line
}

// startOf returns how long a pod that is not ready at an age takes in total to become ready, in seconds.
func (p *pace) startOf(age float64) float64 { return p.starts.Beyond(age) }

// endOf returns how long a pod that was deleted age seconds ago takes in total to be gone, in seconds.
func (p *pace) endOf(age float64) float64 { return p.ends.Beyond(age) }

func (sc *scenario) pace(starts, ends timing.Times) *pace {
	m := sc.m
	return &pace{starts: timing.InTurn{Times: starts}, ends: timing.InTurn{Times: ends},
		byGrace:  m.EndSource == timing.SourceGracePeriod,
		minReady: m.MinReady, rate: m.Rate, burst: m.Burst, refused: sc.a.refusal != nil, room: sc.a.room,
		silent: sc.a.silent, collects: collectedWithin / 2}
}

// typical returns the pace at which every pod takes the median time and nearly simultaneous events are treated as
// simultaneous, which makes steady waves.
func (sc *scenario) typical() *pace {
	start := float64(nominalStart)
	if len(sc.m.Starts) > 0 {
		start = sc.m.Quantile(0.5)
	}
	p := sc.pace(timing.Exact([]float64{start}), timing.Exact([]float64{timing.Mean(sc.m.Ends)}))
	p.window = max(1, start/2)
	return p
}

// expected returns the pace at which pods take times drawn from the expected distributions.
func (sc *scenario) expected() *pace { return sc.pace(sc.m.Start, sc.m.End) }

// likely is how many standard errors the optimistic and the pessimistic course are from the expected one, so that nine
// of ten rollouts are between them.
const likely = 1.7

// unlucky is the Luck of late pods in the pessimistic course; the optimistic course has its negative.
const unlucky = 0.45

// optimistic returns the pace at which every pod starts and ends as fast as is likely.
func (sc *scenario) optimistic(row int) *pace {
	ends := sc.m.End.Longer(-likely, row)
	if sc.m.EndSource == timing.SourceGracePeriod {
		ends = timing.Exact([]float64{0})
	}
	p := sc.pace(sc.m.Start.Longer(-likely, row), ends)
	p.early = true
	p.starts.Luck, p.collects = -unlucky, 1
	return p
}

// pessimistic returns the pace at which every pod starts and ends as slowly as is likely. If only few ends were
// measured, pods use their grace period.
func (sc *scenario) pessimistic(row int) *pace {
	ends := sc.m.End.Longer(likely, row)
	if sc.m.EndSource != timing.SourceGracePeriod && sc.m.EndSource != timing.SourceFlag &&
		len(sc.m.Ends) < timing.Fewest {
		ends = timing.Exact([]float64{max(ends.Seconds[len(ends.Seconds)-1], timing.GracePeriod(sc.st))})
	}
	p := sc.pace(sc.m.Start.Longer(likely, row), ends)
	p.starts.Luck, p.collects = unlucky, collectedWithin
	return p
}
