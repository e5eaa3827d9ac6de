package plan

import (
	"math"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
)

// times is how long something takes that happens again and again.
type times struct {
	seconds []float64 // what is expected, shortest first, to be taken in turn; none where nothing tells
	spread  float64   // how far one is from the others, as the standard deviation of its logarithm
	doubt   float64   // how far all of them may be off, likewise
}

// longer returns the same by so many standard deviations of what is left to happen: a
// number of rows of so many, one after the other. A negative number is shorter.
func (t times) longer(deviations float64, row int) []float64 {
	by := math.Exp(deviations * math.Sqrt(t.doubt*t.doubt+t.spread*t.spread/float64(max(1, row))))
	out := slices.Clone(t.seconds)
	for i := range out {
		out[i] *= by
	}
	return out
}

// said returns the times that a person named: nothing is doubted, and one alone is that
// of all.
func said(seconds []float64) times {
	_, sd := moments(seconds)
	return times{seconds: seconds, spread: sd}
}

// known returns times that were seen, one at least.
func known(seconds []float64) times {
	t := said(seconds)
	t.spread = max(leastSpread, t.spread)
	t.doubt = t.spread / math.Sqrt(float64(len(seconds)))
	return t
}

const (
	leastSpread = 0.05 // nothing takes exactly as long as another
	otherwise   = 0.25 // how far the starts of another revision may be off
	usualSpread = 0.4  // where nothing tells it
)

// moments returns mean and standard deviation of the logarithms.
func moments(seconds []float64) (mu, sd float64) {
	for _, s := range seconds {
		mu += math.Log(max(0.5, s))
	}
	mu /= float64(len(seconds))
	for _, s := range seconds {
		d := math.Log(max(0.5, s)) - mu
		sd += d * d
	}
	return mu, math.Sqrt(sd / float64(len(seconds)))
}

// startTimes returns how long pods of the current revision take to start: fresh ones
// that have, waiting ones that have not for so many seconds, and those of other
// revisions, which tell where fresh ones do not yet.
//
// The first that are ready are the fastest. So those that are waiting count too: each
// as one that takes longer, by a log-normal distribution that fits all of them. One
// that is far beyond it is late, and tells nothing of the others.
func startTimes(fresh, waiting, old []float64) times {
	if len(fresh) >= 8 && len(waiting) <= len(fresh)/2 {
		return known(fresh)
	}
	prior, mu, sd := 0., 0., usualSpread
	if len(old) >= fewest {
		mu, sd = moments(old)
		sd = max(leastSpread, sd)
		prior = sd * sd / (otherwise * otherwise)
		if len(fresh) == 0 && len(waiting) == 0 {
			t := known(old)
			t.doubt = otherwise
			return t
		}
	} else if len(fresh) > 0 {
		mu, _ = moments(fresh)
	} else {
		return times{}
	}
	before, beforeSD := mu, sd
	n := 0.
	for range 20 {
		n = prior
		sum, squares := prior*before, 3*beforeSD*beforeSD
		var at []float64
		for _, s := range fresh {
			at = append(at, math.Log(max(0.5, s)))
		}
		var extra float64
		for _, s := range waiting {
			z := (math.Log(max(0.5, s)) - mu) / sd
			if z > 2.5 {
				continue
			}
			hazard := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / (0.5 * math.Erfc(z/math.Sqrt2))
			at = append(at, mu+sd*hazard)
			extra += sd * sd * (1 + z*hazard - hazard*hazard)
		}
		for _, x := range at {
			sum += x
			n++
		}
		if n > 0 {
			mu = sum / n
		}
		for _, x := range at {
			squares += (x - mu) * (x - mu)
		}
		sd = max(leastSpread, math.Sqrt((squares+extra)/(3+float64(len(at)))))
	}
	t := times{spread: sd, doubt: sd / math.Sqrt(max(n, sd*sd/(otherwise*otherwise)))}
	const quantiles = 19
	for i := 1; i <= quantiles; i++ {
		u := float64(i) / (quantiles + 1)
		t.seconds = append(t.seconds, math.Exp(mu+sd*math.Sqrt2*math.Erfinv(2*u-1)))
	}
	return t
}

// levelled returns times, shortest first, with all of the slowest tenth that are longer
// than cause.Patience as short as the shortest of it: a pod that lost readiness for a
// while looks as if it had needed days.
func levelled(starts []float64) []float64 {
	if len(starts) == 0 {
		return nil
	}
	slow := cause.Starts{Seconds: starts}.Quantile(0.9)
	for i := range starts {
		if starts[i] > cause.Patience.Seconds() {
			starts[i] = min(starts[i], slow)
		}
	}
	return starts
}
