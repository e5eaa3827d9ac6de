package redact

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// names are the words of one kind that Snapshots hold, and what stands in for them.
//
// A stand-in is the word of its kind and the rank of the name among the names of the
// kind. So equal names have equal stand-ins, and two of a kind stand in the order of
// their names. Words that stay are among them, and have an order with the others: where
// the rank alone does not place a stand-in between two words that stay, a letter before
// it does.
type names struct {
	of    kind
	words map[string]bool
	// of all words, once Snapshots have been read; of those that are fixed before, from the start
	standIns map[string]string
}

// kind is a kind of name.
type kind struct {
	name string

	// form returns the stand-in of the word with a rank, of as many digits as the highest rank has
	form func(word string, rank, digits int) string

	stays func(word string) bool // the word is of Kubernetes, and stands for itself; nil: none is

	// begins returns the beginning of a word that a rule reads, which the stand-in has, too; nil: no rule does
	begins func(word string) string

	unordered bool // no rule compares two of them
	part      bool // it is no name by itself

	joint string // between the letter that places a stand-in and its form; empty where only letters may
}

func newNames(k kind) *names {
	if k.form == nil {
		k.form = func(_ string, rank, digits int) string { return fmt.Sprintf("%s-%0*d", k.name, digits, rank) }
	}
	return &names{of: k, words: map[string]bool{}, standIns: map[string]string{}}
}

// fix makes something else than a rank stand in for a word.
func (n *names) fix(word, standIn string) { n.words[word], n.standIns[word] = true, standIn }

// assign gives all words their stand-ins.
func (n *names) assign() {
	words := slices.Sorted(maps.Keys(n.words))
	ranked := map[string]int{}
	for _, w := range words {
		if _, fixed := n.standIns[w]; !fixed && (n.of.stays == nil || !n.of.stays(w)) {
			ranked[w] = len(ranked) + 1
		}
	}
	digits := len(fmt.Sprint(len(ranked)))
	form := func(w string) string { return n.of.form(w, ranked[w], digits) }
	for _, w := range words {
		begins := ""
		if n.of.begins != nil {
			begins = n.of.begins(w)
		}
		switch _, fixed := n.standIns[w]; {
		case fixed:
		case ranked[w] == 0:
			n.standIns[w] = w
		case begins != "":
			n.standIns[w] = begins + form(w)
		}
	}
	for i := 0; i < len(words); {
		run := words[i:]
		if end := slices.IndexFunc(run, func(w string) bool { return n.standIns[w] != "" }); end >= 0 {
			run = run[:end]
		}
		if len(run) == 0 {
			i++
			continue
		}
		above, below := "", ""
		if i > 0 {
			above = n.standIns[words[i-1]]
		}
		if i += len(run); i < len(words) {
			below = n.standIns[words[i]]
		}
		letter := ""
		if !n.of.unordered {
			letter = between(above, below, form(run[0]), form(run[len(run)-1]), n.of.joint)
		}
		for _, w := range run {
			n.standIns[w] = letter + form(w)
		}
	}
}

// between returns the shortest text that, before first and last, places both between
// two words: nothing, if it can, or else a letter, after as much of one of the two words
// as it takes. An empty word is no bound.
func between(above, below, first, last, joint string) string {
	// no name begins with the last two, but what is none may
	letters := strings.Split("abcdefghijklmnopqrstuvwxyz0123456789-!", "")
	// a digit would be read as a part of a number
	if joint == "" {
		letters = letters[:26]
	}
	places := func(text string) bool {
		return (above == "" || above < text+first) && (below == "" || text+last < below)
	}
	if places("") {
		return ""
	}
	for n := 0; n <= max(len(above), len(below)); n++ {
		for _, of := range []string{above, below} {
			if n > len(of) || !endsWhole(of[:n]) {
				continue
			}
			for _, letter := range letters {
				if text := of[:n] + letter + joint; places(text) {
					return text
				}
			}
			if text := of[:n] + joint; n > 0 && places(text) {
				return text
			}
		}
	}
	return "" // no name stands between the two
}

// endsWhole reports whether a text does not end within a letter of several bytes.
func endsWhole(text string) bool { return strings.ToValidUTF8(text, "") == text }

// inLetters returns a rank in letters, of the same length and in the same order for all
// ranks of so many digits.
func inLetters(rank, digits int) string {
	letters := []byte{}
	for range digits {
		letters = append(letters, byte('a'+rank%10))
		rank /= 10
	}
	slices.Reverse(letters)
	return "w" + string(letters)
}
