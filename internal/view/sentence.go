package view

import (
	"strconv"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// known reads facts for a sentence. TestFactKeys checks each key that the sentences of this package read.
type known struct {
	daemonset.Facts
	now time.Time
}

// text is a fact, safe to print; empty where it is absent.
func (f known) text(key string) string { return fact(f.Facts, key) }

// count is a number, or the length of a list; 0 where it is absent.
func (f known) count(key string) int { return number(f.Facts, key) }

// is reports whether a fact is there and has this value.
func (f known) is(key, value string) bool { return f.text(key) == value }

// age is how long it is from a time to now, or a duration in seconds: 14m. It is empty where the fact is absent.
func (f known) age(key string) string {
	at, err := time.Parse(time.RFC3339, f.text(key))
	switch lasts, notDuration := time.ParseDuration(f.text(key)); {
	case f.text(key) == "":
		return ""
	case err == nil:
		return ago(f.now.Sub(at).Abs())
	case notDuration == nil:
		return seconds(lasts.Seconds())
	}
	return ago(time.Duration(f.count(key)) * time.Second)
}

// clock is the time of day of a time; empty where the fact is none.
func (f known) clock(key string) string {
	at, err := time.Parse(time.RFC3339, f.text(key))
	if err != nil {
		return ""
	}
	return clockAt(at, f.now)
}

// clockAt is a time of day, in the zone of now, which is named for UTC.
func clockAt(at, now time.Time) string {
	return at.In(now.Location()).Format(clockTime + either(now.Location() == time.UTC, "Z", ""))
}

// phrase joins the parts of a phrase. It is empty where one of them is: a sentence leaves out what is not known.
func phrase(parts ...string) string {
	text := ""
	for _, part := range parts {
		if part == "" {
			return ""
		}
		text += part
	}
	return text
}

// counted is a number with its words, "1 pod is", "3 pods are"; empty for 0, which a phrase then leaves out.
func counted(n int, one, many string) string {
	if n <= 0 {
		return ""
	}
	return pluralVerb(n, one, many)
}

// podsOf is "3 of 5 pods".
func podsOf(n, of int) string { return strconv.Itoa(n) + " of " + Plural(of, "pod") }

// either is the first of two words for yes, and the second for no.
func either(yes bool, one, other string) string {
	if yes {
		return one
	}
	return other
}
