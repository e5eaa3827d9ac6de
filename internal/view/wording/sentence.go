package wording

import (
	"fmt"
	"strconv"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// Known reads facts for a sentence. TestFactKeys checks every key that this package reads.
type Known struct {
	daemonset.Facts
	Now time.Time
}

// Text returns a fact that is safe to print, or "" if it is absent.
func (f Known) Text(key string) string { return Fact(f.Facts, key) }

// Count returns a number, or the length of a list. It returns 0 if the fact is absent.
func (f Known) Count(key string) int { return Number(f.Facts, key) }

// Is reports whether the fact is present and has this value.
func (f Known) Is(key, value string) bool { return f.Text(key) == value }

// Age returns the time between a timestamp and now, such as 14m. It also accepts a duration or a number of seconds. It
// returns "" if the fact is absent.
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

// Clock returns the time of day of a timestamp, or "" if the fact is not a timestamp.
func (f Known) Clock(key string) string {
	at, err := time.Parse(time.RFC3339, f.Text(key))
	if err != nil {
		return ""
	}
	return ClockAt(at, f.Now)
}

// ClockAt returns a time of day in the time zone of now. It appends Z for UTC.
func ClockAt(at, now time.Time) string {
	return at.In(now.Location()).Format(ClockTime + Either(now.Location() == time.UTC, "Z", ""))
}

// Phrase joins the parts of a phrase. It returns "" if any part is empty, so that a sentence leaves out unknown values.
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

// Counted returns a number with its words, such as "1 pod is" or "3 pods are". It returns "" for 0, which Phrase then
// leaves out.
func Counted(n int, one, many string) string {
	if n <= 0 {
		return ""
	}
	return PluralVerb(n, one, many)
}

// PodsOf returns a phrase such as "3 of 5 pods".
func PodsOf(n, of int) string { return strconv.Itoa(n) + " of " + Plural(of, "pod") }

// Either returns one if yes is true, and other otherwise.
func Either(yes bool, one, other string) string {
	if yes {
		return one
	}
	return other
}

// ClockTime is the format of the time at the beginning of a log line.
const ClockTime = "15:04:05"

// RangeWords returns a range such as "19m to 44m", or "" if d is nil.
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

// Seconds formats a number of seconds, rounded to the precision of a forecast.
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
