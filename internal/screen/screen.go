// Package screen defines the form of every answer: a headline and labeled entries, in the same
// order on every screen. It takes a Screen, which is a value, and writes it as text for a terminal,
// as Markdown, or, in a Page, as HTML. It knows nothing about DaemonSets and decides nothing.
//
// Texts in a Screen are plain: they contain no colors or markup, but may contain any bytes that a
// cluster sent. The renderers escape them.
package screen

import "slices"

// Screen is one answer.
type Screen struct {
	Headline Headline
	Notice   string // a sentence below the headline
	Dense    bool   // omit the empty lines between tables
	Corner   string // text at the right end of the last line; omitted if it does not fit
	entries  [labels][]Block
	leaves   [labels]bool // labels that are shown only with --all
	parts    []part
	open     bool // whether Add adds to the last part
	figures  []Figure
}

// part is the part of an answer about one of several problems. It has its own entries.
type part struct {
	title   string
	entries [labels][]Block
}

// Headline is the first line of a Screen.
type Headline struct {
	Verdict string // in capitals; may be empty
	Tone    Tone
	Subject string // NAMESPACE/NAME, or a number of DaemonSets
	Counts  bool   // whether Subject is a number
	Text    string
	Clock   string // text at the right end of the line; empty unless the screen is live
}

// Label says what an entry is about. Screens show entries in the order of the constants.
type Label int

const (
	Nodes    Label = iota // the map of the nodes; unnamed
	Fault                 // whose fault it is
	Problem               // what is wrong, by its code
	Message               // what the cluster reports about it
	Change                // what differs between the revisions, or what was asked for
	Impact                // who has no working pod, now or later
	Body                  // the tables of the answer; unnamed
	Pod                   // the pod on the only node that was asked for
	Outlook               // how it continues, if that is open
	Assumed               // what decides a forecast
	parting               // position of the parts
	DoNow                 // what to do first
	Check                 // read-only commands
	Then                  // what to do next
	Or                    // what to do instead
	Continue              // what to do if nothing is broken
	Compare               // two revisions
	DoNot                 // what seems right but does harm
	Preview               // a plan of a fix
	Follow                // how to watch it
	Note
	Status  // the numbers, named as in kubectl
	Rollout // since when, and how many pods are on each revision
	Limit   // the rule that limits a rollout, with its arithmetic
	Ways    // ways out of a stall, as a table; unnamed
	Other   // other fixes
	WhatIf  // the course with another limit
	Steps   // the course of a rollout, as a table; unnamed
	Rules   // how a node passes the placement rules, as a table; unnamed
	States  // the other states of pods, as a table; unnamed
	Rests   // other assumptions of a forecast
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

// tables reports whether the entry of a label is shown without its name.
func (l Label) tables() bool {
	return l == Nodes || l == Body || l == Ways || l == Steps || l == Rules || l == States
}

func (l Label) String() string { return labelNames[l] }

// Add appends blocks to the entry of a label. It ignores empty blocks and commands that the entry
// already contains.
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

// Move moves the first most blocks of one label to another and discards the rest. If most is 0, it
// moves all.
func (s *Screen) Move(from, to Label, most int) {
	blocks := s.entries[from]
	s.entries[from] = nil
	if most > 0 {
		blocks = blocks[:min(most, len(blocks))]
	}
	s.Add(to, blocks...)
}

// Part begins a part with a title. Until the next call, Add adds to this part. Parts are shown
// before DoNow. An empty title ends the last part.
func (s *Screen) Part(title string) {
	if s.open = title != ""; s.open {
		s.parts = append(s.parts, part{title: title})
	}
}

// Keep discards all but the first most blocks of a label, also in parts.
func (s *Screen) Keep(l Label, most int) {
	keep := func(e *[labels][]Block) { e[l] = e[l][:min(most, len(e[l]))] }
	keep(&s.entries)
	for i := range s.parts {
		keep(&s.parts[i].entries)
	}
}

// KeepParts discards parts until most are left: first those without an entry for l, then the last
// ones.
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

// Further shows the entries of the labels only with --all. Without it, a last line says what is
// missing and how many lines it has.
func (s *Screen) Further(all ...Label) {
	for _, l := range all {
		s.leaves[l] = true
	}
}

// Has reports whether a label has an entry, also in parts.
func (s *Screen) Has(l Label) bool {
	return len(s.entries[l]) > 0 || slices.ContainsFunc(s.parts, func(p part) bool { return len(p.entries[l]) > 0 })
}

// Block is an element of an entry: Text, Words, Names, Command, Lines, Rows, Group, Indent or
// *Table.
type Block interface{ empty() bool }

// Text is a paragraph.
type Text string

// Words is a paragraph of phrases that are not broken across lines.
type Words []string

// Names is a paragraph with a list of names. It shows the names that fit in three lines, or two if
// Short is set, and the number of the others.
type Names struct {
	Before string
	Names  []string
	After  string
	Short  bool
}

// Command is a command for a shell. It is omitted if it contains characters that a terminal does
// not show.
type Command []Word

// Lines are shown unchanged, such as a manifest.
type Lines []Line

// Line is an element of Lines.
type Line struct {
	Text string
	Tone Tone
}

// Rows are lines that consist of several parts, each with its own tone.
type Rows []Lines

// Group is a sequence of blocks that is shown as a whole or not at all.
type Group []Block

// Indent is a sequence of indented blocks.
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

// Tone selects a color. The color only repeats what the text says.
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
