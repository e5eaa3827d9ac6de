package timing

import (
	"math"
	"slices"
	"sort"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
)

// Times is a distribution of how long something takes.
type Times struct {
	Seconds []float64 // a sample of it, shortest first; empty if unknown
	middle  float64   // mean of the logarithms
	spread  float64   // standard deviation of the logarithms
	doubt   float64   // standard error of middle
	most    float64   // upper bound; 0 if there is none
}

// within returns t with an upper bound.
func (t Times) within(most float64) Times {
	t.most = most
	for i := range t.Seconds {
		t.Seconds[i] = min(t.Seconds[i], most)
	}
	return t
}

// Longer scales t by that many standard errors of the mean of row samples. A negative number makes it shorter.
func (t Times) Longer(deviations float64, row int) Times {
	by := deviations * math.Sqrt(t.doubt*t.doubt+t.spread*t.spread/float64(max(1, row)))
	out := slices.Clone(t.Seconds)
	for i := range out {
		out[i] *= math.Exp(by)
	}
	if t.Seconds, t.middle = out, t.middle+by; t.most > 0 {
		return t.within(t.most + max(0, deviations))
	}
	return t
}

// slow returns the time that one in a hundred exceeds.
func (t *Times) slow() float64 {
	return max(t.Seconds[len(t.Seconds)-1], math.Exp(t.middle+slowest*max(leastSpread, t.spread)))
}

// Last returns by how much the last pod may delay the end of a rollout, in seconds; 0 if a person gave the times. With
// this part of the slowest time, the range holds 9 of 10 ends of recorded rollouts in which no pod was late.
func (t *Times) Last() float64 {
	const part = 0.15
	if t.doubt == 0 {
		return 0
	}
	return part * t.slow()
}

// InTurn draws from Times: evenly, in an order that does not repeat, and without a random number.
type InTurn struct {
	Times
	taken float64
	Luck  float64 // how much longer late pods take: from -0.5 to 0.5
}

// part returns the next fraction between 0 and 1.
func (t *InTurn) part() float64 {
	const golden = 0.6180339887498949
	t.taken += golden
	if t.taken >= 1 {
		t.taken--
	}
	return t.taken
}

// Next draws a time.
func (t *InTurn) Next() float64 { return t.Seconds[int(t.part()*float64(len(t.Seconds)))] }

// A pod that takes far longer than the others is late: it takes up to latest times as long as the slowest. See
// cause.Patience for one that takes even longer.
const (
	far     = 2.5 // standard deviations from the middle
	slowest = 2.33
	latest  = 5
)

// Beyond draws a time that is longer than an age. If the sample has none, it continues with the log-normal
// distribution, and far beyond that with the distribution of late pods, in which any time is as likely as one twice as
// long.
func (t *InTurn) Beyond(age float64) float64 {
	longer := sort.Search(len(t.Seconds), func(i int) bool { return t.Seconds[i] > age })
	if rest := t.Seconds[longer:]; len(rest) > 0 {
		return rest[int(t.part()*float64(len(rest)))]
	}
	if t.most > age {
		return t.most
	}
	sd := max(leastSpread, t.spread)
	if z := (math.Log(max(0.5, age)) - t.middle) / sd; z < far {
		left := 0.5 * math.Erfc(z/math.Sqrt2) // of all are longer
		return max(age, math.Exp(t.middle+sd*normal(1-left*(1-t.part()))))
	}
	up := latest * t.slow() / age
	if up < 1.05 { // it is older than that already
		up = 1.2
	}
	return age * math.Pow(up, min(1, max(0, t.part()+t.Luck)))
}

// normal returns the quantile of the standard normal distribution.
func normal(part float64) float64 { return math.Sqrt2 * math.Erfinv(2*part-1) }

// Exact returns the distribution of times that are certain, because a person gave them.
func Exact(seconds []float64) Times {
	mu, sd := moments(seconds)
	return Times{Seconds: seconds, middle: mu, spread: sd}
}

// known returns the distribution of measured times, at least one.
func known(seconds []float64) Times {
	t := Exact(seconds)
	t.spread = max(leastSpread, t.spread)
	t.doubt = t.spread / math.Sqrt(float64(len(seconds)))
	return t
}

const (
	leastSpread = 0.05 // no two pods take exactly the same time
	otherwise   = 0.25 // how much the starts of another revision may differ
	usualSpread = 0.4  // if it is unknown
)

// moments returns the mean and the standard deviation of the logarithms.
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

// startTimes returns how long pods of the current revision take to start. fresh holds the times of those that became
// Ready, waiting the ages of those that did not yet, and old the times of other revisions, which count as long as there
// are few fresh ones.
//
// The first pods to become Ready are the fastest. So a waiting pod counts as one that takes longer than its age, by the
// log-normal distribution that fits all of them. A pod far beyond that distribution is late and does not count.
func startTimes(fresh, waiting, old []float64) Times {
	if len(fresh) >= 8 && len(waiting) <= len(fresh)/2 {
		return known(fresh)
	}
	prior, mu, sd := 0., 0., usualSpread
	if len(old) >= Fewest {
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
		return Times{}
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
	return logNormal(mu, sd, sd/math.Sqrt(max(n, sd*sd/(otherwise*otherwise))))
}

// logNormal returns the quantiles of a log-normal distribution.
func logNormal(middle, spread, doubt float64) Times {
	const quantiles = 19
	t := Times{middle: middle, spread: spread, doubt: doubt}
	for i := 1; i <= quantiles; i++ {
		t.Seconds = append(t.Seconds, math.Exp(middle+spread*normal(float64(i)/(quantiles+1))))
	}
	return t
}

// levelled replaces the times in the slowest tenth that are longer than cause.Patience by the shortest of that tenth. A
// pod that lost readiness for a while looks as if its start had taken days.
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

// credible removes the starts that are longer than cause.Patience, unless most of them are and the fresh ones are too.
// A pod that lost readiness for a while looks as if its start had taken days.
func credible(starts, fresh []float64) []float64 {
	patience := cause.Patience.Seconds()
	short := starts[:sort.Search(len(starts), func(i int) bool { return starts[i] > patience })]
	if 2*len(short) > len(starts) || len(fresh) > 0 && fresh[len(fresh)-1] <= patience {
		return short
	}
	return starts
}
