package wording

import (
	"fmt"
	"strconv"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// Known reads facts for a sentence. TestFactKeys checks each key that the sentences of this package read.
type Known struct {
	daemonset.Facts
	Now time.Time
}

// Text is a fact, safe to print; empty where it is absent.
func (f Known) Text(key string) string { return Fact(f.Facts, key) }

// Count is a number, or the length of a list; 0 where it is absent.
func (f Known) Count(key string) int { return Number(f.Facts, key) }

// Is reports whether a fact is there and has this value.
func (f Known) Is(key, value string) bool { return f.Text(key) == value }

// Age is how long it is from a time to now, or a duration in seconds: 14m. It is empty where the fact is absent.
func (f Known) Age(key string) string {
	at, err := time.Parse(time.RFC3339, f.Text(key))
	switch lasts, notDuration := time.ParseDuration(f.Text(key)); {
	case f.Text(key) == "":
		return ""
	case err == nil:
		return Ago(f.Now.Sub(at).Abs())
	case notDuration == nil:
		return Seconds(lasts.Seconds())
	}
	return Ago(time.Duration(f.Count(key)) * time.Second)
}

// Clock is the time of day of a time; empty where the fact is none.
func (f Known) Clock(key string) string {
	at, err := time.Parse(time.RFC3339, f.Text(key))
	if err != nil {
		return ""
	}
	return ClockAt(at, f.Now)
}

// ClockAt is a time of day, in the zone of now, which is named for UTC.
func ClockAt(at, now time.Time) string {
	return at.In(now.Location()).Format(ClockTime + Either(now.Location() == time.UTC, "Z", ""))
}

// Phrase joins the parts of a phrase. It is empty where one of them is: a sentence leaves out what is not known.
func Phrase(parts ...string) string {
	text := ""
	for _, part := range parts {
		if part == "" {
			return ""
		}
		text += part
	}
	return text
}

// Counted is a number with its words, "1 pod is", "3 pods are"; empty for 0, which a phrase then leaves out.
func Counted(n int, one, many string) string {
	if n <= 0 {
		return ""
	}
	return PluralVerb(n, one, many)
}

// PodsOf is "3 of 5 pods".
func PodsOf(n, of int) string { return strconv.Itoa(n) + " of " + Plural(of, "pod") }

// Either is the first of two words for yes, and the second for no.
func Either(yes bool, one, other string) string {
	if yes {
		return one
	}
	return other
}

// ClockTime is how a line of what happened begins.
const ClockTime = "15:04:05"

// RangeWords is "19m to 44m"; empty where it is not known.
func RangeWords(d *plan.Duration) string {
	if d == nil {
		return ""
	}
	low, high := Seconds(d.Optimistic), Seconds(d.Pessimistic)
	if low == high {
		return low
	}
	return low + " to " + high
}

// Seconds writes a span of time with no more digits than a forecast has.
func Seconds(n float64) string {
	d := time.Duration(n * float64(time.Second))
	switch {
	case d > 0 && d < time.Second:
		d = time.Second
	case d < 2*time.Minute:
		d = d.Round(time.Second)
	case d.Round(time.Minute) < time.Hour:
		d = d.Round(time.Minute)
	case d < 10*time.Hour:
		d = d.Round(5 * time.Minute)
		if m := d % time.Hour; m > 0 {
			return fmt.Sprintf("%dh%dm", d/time.Hour, m/time.Minute)
		}
	default:
		d = d.Round(time.Hour)
	}
	return Ago(d)
}
