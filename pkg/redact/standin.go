package redact

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// names are the words of one kind in the Snapshots, with their stand-ins.
//
// A stand-in is the word for the kind followed by the rank of the name among
// the names of the kind. Equal names therefore have equal stand-ins, and
// stand-ins have the order of their names. Words that are kept take part in
// that order: if the rank alone does not put a stand-in between two of them, a
// letter before it does.
type names struct {
	of    kind
	words map[string]bool
	// of all words after the first visit; before that, only the fixed ones
	standIns map[string]string
}

// kind is a kind of name.
type kind struct {
	name string

	// form returns the stand-in of the word with a rank, given the number of
	// digits of the highest rank
	form func(word string, rank, digits int) string

	stays func(word string) bool // whether the word belongs to Kubernetes and is kept; nil: none is

	// begins returns the beginning of a word that rules read, which the
	// stand-in keeps; nil if none do
	begins func(word string) string

	unordered bool // no rule compares two of them
	part      bool // not a name by itself

	separator string // between the letter that orders a stand-in and its form; empty if only letters may precede it
}

func newNames(k kind) *names {
	if k.form == nil {
		k.form = func(_ string, rank, digits int) string { return fmt.Sprintf("%s-%0*d", k.name, digits, rank) }
	}
	return &names{of: k, words: map[string]bool{}, standIns: map[string]string{}}
}

// fix sets the stand-in of a word to something other than its rank.
func (n *names) fix(word, standIn string) { n.words[word], n.standIns[word] = true, standIn }

// assign assigns stand-ins to all words.
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
			letter = between(above, below, form(run[0]), form(run[len(run)-1]), n.of.separator)
		}
		for _, w := range run {
			n.standIns[w] = letter + form(w)
		}
	}
}

// between returns the shortest prefix that, before first and last, orders both
// between two words: "" if possible, otherwise a letter, preceded by as much of
// one of the words as needed. An empty word is no bound.
func between(above, below, first, last, joint string) string {
	// no valid name begins with the last two, but an invalid one may
	letters := strings.Split("abcdefghijklmnopqrstuvwxyz0123456789-!", "")
	// a digit would become part of a number
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
	return "" // no prefix fits between the two
}

// endsWhole reports whether a text does not end within a multi-byte character.
func endsWhole(text string) bool { return strings.ToValidUTF8(text, "") == text }

// inLetters encodes a rank in letters. All ranks with the given number of
// digits have the same length, and their order is kept.
func inLetters(rank, digits int) string {
	letters := []byte{}
	for range digits {
		letters = append(letters, byte('a'+rank%10))
		rank /= 10
	}
	slices.Reverse(letters)
	return "w" + string(letters)
}
