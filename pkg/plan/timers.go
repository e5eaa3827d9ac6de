package plan

// event is a change of a pod that the controller does not cause.
type event struct {
	at   float64 // seconds from the Snapshot
	node int32
	kind eventKind
	pod  string
}

type eventKind uint8

const (
	podGone eventKind = iota
	podReady
	podAvailable
)

// timers is a binary heap of events, ordered by time and then by node.
type timers []event

func (t timers) before(i, j int) bool {
	return t[i].at < t[j].at || t[i].at == t[j].at && t[i].node < t[j].node
}

func (t *timers) add(e event) {
	*t = append(*t, e)
	h := *t
	for i := len(h) - 1; i > 0 && h.before(i, (i-1)/2); i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
}

func (t *timers) pop() event {
	h := *t
	first, last := h[0], len(h)-1
	h[0], h = h[last], h[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if h.before(child, least) {
				least = child
			}
		}
		if least == i {
			break
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
	*t = h
	return first
}

// requests models the rate limit of the controller's client, with its burst.
type requests struct {
	interval float64 // seconds per request
	slack    float64 // seconds that a burst can be ahead of the rate
	next     float64 // time when the bucket is full again
}

func newRequests(rate float64, burst int) requests {
	return requests{interval: 1 / rate, slack: float64(burst-1) / rate}
}

// send returns when a request that is made at a time is sent.
func (r *requests) send(at float64) float64 {
	r.next = max(r.next, at)
	out := max(at, r.next-r.slack)
	r.next += r.interval
	return out
}
