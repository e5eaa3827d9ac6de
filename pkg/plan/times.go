package plan

import (
	"math"
	"slices"
	"sort"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
)

// times is how long something takes that happens again and again.
type times struct {
	seconds []float64 // what is expected, shortest first, to be taken in turn; none where nothing tells
	middle  float64   // the mean of their logarithms
	spread  float64   // how far one is from the others, as the standard deviation of its logarithm
	doubt   float64   // how far all of them may be off, likewise
	most    float64   // none is expected to take longer; 0: nothing bounds them
}

// within returns the same, none longer than a time.
func (t times) within(most float64) times {
	t.most = most
	for i := range t.seconds {
		t.seconds[i] = min(t.seconds[i], most)
	}
	return t
}

// longer returns the same by so many standard deviations of what is left to happen: a
// number of rows of so many, one after the other. A negative number is shorter.
func (t times) longer(deviations float64, row int) times {
	by := deviations * math.Sqrt(t.doubt*t.doubt+t.spread*t.spread/float64(max(1, row)))
	out := slices.Clone(t.seconds)
	for i := range out {
		out[i] *= math.Exp(by)
	}
	if t.seconds, t.middle = out, t.middle+by; t.most > 0 {
		return t.within(t.most + max(0, deviations))
	}
	return t
}

// slow is how long the slowest take: one of a hundred takes longer.
func (t *times) slow() float64 {
	return max(t.seconds[len(t.seconds)-1], math.Exp(t.middle+slowest*max(leastSpread, t.spread)))
}

// last returns how much later the end of a rollout may come than all of them taken
// together, as it waits for the very last pod; nothing where a person said them. So much
// of the slowest has the range hold nine of ten ends of recorded rollouts in which no pod
// was late.
func (t *times) last() float64 {
	const part = 0.15
	if t.doubt == 0 {
		return 0
	}
	return part * t.slow()
}

// inTurn takes times one after the other, evenly, in an order that does not repeat.
type inTurn struct {
	times
	taken float64
	luck  float64 // how bad it is with what is late: from -0.5 to 0.5
}

// part returns the next part of a whole, between 0 and 1.
func (t *inTurn) part() float64 {
	const golden = 0.6180339887498949
	t.taken += golden
	if t.taken >= 1 {
		t.taken--
	}
	return t.taken
}

func (t *inTurn) next() float64 { return t.seconds[int(t.part()*float64(len(t.seconds)))] }

// What starts far beyond the others is late: it takes up to so many times as long as the
// slowest of them. See cause.Patience for one that takes longer.
const (
	far     = 2.5 // standard deviations from the middle
	slowest = 2.33
	latest  = 5
)

// beyond takes one of those that are longer than an age. Where none is, it goes on as
// their log-normal distribution does, and far beyond that as what is late does, by all
// that is known: any time is as likely as one twice as long.
func (t *inTurn) beyond(age float64) float64 {
	longer := sort.Search(len(t.seconds), func(i int) bool { return t.seconds[i] > age })
	if rest := t.seconds[longer:]; len(rest) > 0 {
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
	return age * math.Pow(up, min(1, max(0, t.part()+t.luck)))
}

// normal returns the value below which this part of a standard normal distribution is.
func normal(part float64) float64 { return math.Sqrt2 * math.Erfinv(2*part-1) }

// said returns the times that a person named: nothing is doubted, and one alone is that
// of all.
func said(seconds []float64) times {
	mu, sd := moments(seconds)
	return times{seconds: seconds, middle: mu, spread: sd}
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
	return logNormal(mu, sd, sd/math.Sqrt(max(n, sd*sd/(otherwise*otherwise))))
}

// logNormal returns the times of a distribution.
func logNormal(middle, spread, doubt float64) times {
	const quantiles = 19
	t := times{middle: middle, spread: spread, doubt: doubt}
	for i := 1; i <= quantiles; i++ {
		t.seconds = append(t.seconds, math.Exp(middle+spread*normal(float64(i)/(quantiles+1))))
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

// credible returns starts without those that are longer than cause.Patience, where most
// of them are not, or the fresh ones are not: a pod that lost readiness for a while, as
// when its node was not ready, looks as if it had needed days.
func credible(starts, fresh []float64) []float64 {
	patience := cause.Patience.Seconds()
	short := starts[:sort.Search(len(starts), func(i int) bool { return starts[i] > patience })]
	if 2*len(short) > len(starts) || len(fresh) > 0 && fresh[len(fresh)-1] <= patience {
		return short
	}
	return starts
}
