// Package screen holds the form of every answer: a headline, and below it
// entries with a label each, always the same labels in the same order. A Screen
// is a value. Text writes it for a terminal of some width, Markdown for a comment, and
// a Page of Screens is a file for a browser. It knows nothing of DaemonSets, and decides
// nothing.
//
// All words are plain: no color, no escape of a shell or of Markdown, and they
// may hold whatever a cluster sent. Renderers make them safe, each in its way.
package screen

import "slices"

// Screen is one answer.
type Screen struct {
	Headline Headline
	Notice   string // a sentence right below the headline
	Dense    bool   // no empty line stands between the tables of the answer
	Corner   string // at the right end of the last line; left out where there is no room
	entries  [labels][]Block
	leaves   [labels]bool // only --all shows them
	parts    []part
	open     bool // the last of the parts is
	figures  []Figure
}

// part is an answer's part about one of several problems, with entries of its own.
type part struct {
	title   string
	entries [labels][]Block
}

// Headline is the first line, in which a reader finds what is wrong.
type Headline struct {
	Verdict string // in capitals; may be empty
	Tone    Tone
	Subject string // NAMESPACE/NAME, or of how many the answer is
	Counts  bool   // the latter
	Text    string
	Clock   string // at the right end of the line; empty where the answer is of one moment
}

// Label says what an entry is about. The order of the constants is the order on
// every screen.
type Label int

const (
	Nodes    Label = iota // the map of the nodes; it has no name
	Fault                 // whose fault it is
	Problem               // what is wrong, by its code
	Message               // what the cluster says of it
	Change                // what differs between the revisions, or what was asked for
	Impact                // who is without a working pod, now or then
	Body                  // the tables of the answer; it has no name
	Pod                   // the pod on the one node that was asked for
	Outlook               // how it goes on, if that is open
	Assumed               // what decides a forecast
	parting               // the parts about several problems stand here
	DoNow                 // what to do first
	Check                 // commands that only read
	Then                  // what to do next
	Or                    // what to do in place of it
	Continue              // what to do where nothing is broken
	Compare               // two revisions
	DoNot                 // what looks right and does harm
	Preview               // a plan of a fix
	Follow                // how to watch it
	Note
	Status  // the numbers, as kubectl names them
	Rollout // since when, and how many pods are on which revision
	Limit   // the rule that bounds a rollout, with its arithmetic
	Ways    // ways out of a stall, as a table; it has no name
	Other   // further fixes
	WhatIf  // another limit's course
	Steps   // the course of a rollout, as a table; it has no name
	Rules   // how a node passes the rules of placement, as a table; it has no name
	States  // what the pods are in beside what is wrong, as a table; it has no name
	Rests   // what else a forecast rests on
	Notes   // what decides nothing
	Last    // what the controller did last
	further // what only --all shows
	labels
)

var labelNames = [labels]string{
	Fault: "Fault", Problem: "Problem", Message: "Message", Pod: "Pod", Change: "Change", Impact: "Impact",
	Outlook: "Outlook", DoNow: "Do now", Check: "Check",
	Then: "Then", Or: "Or", DoNot: "Do not", Continue: "Continue", Compare: "Compare", Preview: "Preview",
	Follow: "Follow", Note: "Note", Status: "Status", Rollout: "Rollout",
	Limit: "Limit", Other: "Or", WhatIf: "What if", Assumed: "Assumed", Rests: "Assumed", Notes: "Note", Last: "Last",
	further: "More",
}

// tables reports whether the blocks of a label stand without a name beside them.
func (l Label) tables() bool {
	return l == Nodes || l == Body || l == Ways || l == Steps || l == Rules || l == States
}

func (l Label) String() string { return labelNames[l] }

// Add adds to the entry of a label. Blocks that say nothing are left out, and
// so are an entry without any, and a command that already stands there.
func (s *Screen) Add(l Label, blocks ...Block) {
	to := &s.entries
	if s.open {
		to = &s.parts[len(s.parts)-1].entries
	}
	for _, b := range blocks {
		if b == nil || b.empty() || slices.ContainsFunc(to[l], func(has Block) bool { return sameCommand(has, b) }) {
			continue
		}
		to[l] = append(to[l], b)
	}
}

func sameCommand(a, b Block) bool {
	one, is := a.(Command)
	other, too := b.(Command)
	return is && too && slices.Equal(one, other)
}

// Move adds so many blocks of a label's entry to that of another, the first ones, and leaves the first label none; 0
// moves all.
func (s *Screen) Move(from, to Label, most int) {
	blocks := s.entries[from]
	s.entries[from] = nil
	if most > 0 {
		blocks = blocks[:min(most, len(blocks))]
	}
	s.Add(to, blocks...)
}

// Part begins a part with a title: what is added from now on stands there, before
// the whole answer's DoNow. An empty title ends the last one.
func (s *Screen) Part(title string) {
	if s.open = title != ""; s.open {
		s.parts = append(s.parts, part{title: title})
	}
}

// Keep leaves the first so many blocks of a label's entry, and of those in parts; 0
// leaves none.
func (s *Screen) Keep(l Label, most int) {
	keep := func(e *[labels][]Block) { e[l] = e[l][:min(most, len(e[l]))] }
	keep(&s.entries)
	for i := range s.parts {
		keep(&s.parts[i].entries)
	}
}

// KeepParts leaves so many parts, rather those with an entry of a label than the
// others, and rather the first ones.
func (s *Screen) KeepParts(most int, l Label) {
	for n := len(s.parts); n > most; n-- {
		drop := n - 1
		for i := range s.parts {
			if len(s.parts[i].entries[l]) == 0 {
				drop = i
			}
		}
		s.parts = slices.Delete(s.parts, drop, drop+1)
	}
}

// Further leaves entries out unless all is asked for. A last line then says how many lines that are, and what is in
// them.
func (s *Screen) Further(all ...Label) {
	for _, l := range all {
		s.leaves[l] = true
	}
}

// Has reports whether an entry of a label says something, also in a part.
func (s *Screen) Has(l Label) bool {
	return len(s.entries[l]) > 0 || slices.ContainsFunc(s.parts, func(p part) bool { return len(p.entries[l]) > 0 })
}

// Block is a part of an entry: Text, Words, Names, Command, Lines, Rows, Group, Indent
// or a *Table.
type Block interface{ empty() bool }

// Text is a paragraph.
type Text string

// Words is a paragraph of parts that are not broken.
type Words []string

// Names is a paragraph around a list of names. Of a long list it shows as many
// as three lines hold, or two where it is Short, and how many more there are.
type Names struct {
	Before string
	Names  []string
	After  string
	Short  bool
}

// Command is one that can be pasted into a shell: one with a name that holds what
// no terminal shows says nothing. A Word stays on one line, with its blanks.
type Command []Word

// Lines are shown as they are: a manifest, a map.
type Lines []Line

// Line is one of Lines.
type Line struct {
	Text string
	Tone Tone
}

// Rows are Lines of several parts, each in a colour of its own.
type Rows []Lines

// Group is blocks that stand together, all or none: a command, and what it does besides.
type Group []Block

// Indent sets its blocks in.
type Indent []Block

func (t Text) empty() bool    { return t == "" }
func (w Words) empty() bool   { return len(w) == 0 }
func (n Names) empty() bool   { return len(n.Names) == 0 && n.Before == "" && n.After == "" }
func (c Command) empty() bool { return len(c) == 0 || Clean(c.String()) != c.String() }
func (l Lines) empty() bool   { return len(l) == 0 }
func (r Rows) empty() bool    { return len(r) == 0 }
func (i Indent) empty() bool  { return len(i) == 0 }

func (g Group) empty() bool {
	return !slices.ContainsFunc(g, func(b Block) bool { return b != nil && !b.empty() })
}

// Tone is what a color repeats of the words.
type Tone int

const (
	Plain Tone = iota
	Bad
	Warn
	Good
	Title
	Added
	Removed
)
