package cli

import (
	"slices"
	"sync"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
)

// progressDelay is the time after which a command shows its progress.
const progressDelay = time.Second

// progress shows on a terminal how many nodes and pods have been read. The line appears after
// progressDelay, and disappears when an answer, a note or an error is printed.
type progress struct {
	show  func(line string)
	width func() int
	now   func() time.Time

	mu    sync.Mutex
	began time.Time
	lists []api.Reading // in the order in which they started
}

// progressOn shows the progress of c on standard error, if that is a terminal.
func (in *inputFlags) progressOn(c *cluster.Cluster) {
	notes, safe := in.ErrOut.(*stream)
	tty := terminalOf(in.ErrOut)
	if !safe || tty == nil {
		return
	}
	p := &progress{show: notes.showLine, width: func() int { return tty().width }, now: time.Now, began: time.Now()}
	if answers, safe := in.Out.(*stream); safe {
		answers.beforeWrite = notes.disableLine
	}
	time.AfterFunc(progressDelay, p.draw)
	c.OnReading(p.update)
}

// update records the progress of a list.
func (p *progress) update(r api.Reading) {
	p.mu.Lock()
	if i := slices.IndexFunc(p.lists, func(known api.Reading) bool { return known.List == r.List }); i >= 0 {
		p.lists[i] = r
	} else {
		p.lists = append(p.lists, r)
	}
	p.mu.Unlock()
	p.draw()
}

// draw replaces the progress line.
func (p *progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now().Sub(p.began) >= progressDelay {
		p.show(view.ReadingLine(p.parts(), p.width()-1)) // a line of full width would wrap
	}
}

// parts returns the progress of each kind of object, without kinds that are complete.
func (p *progress) parts() (out []view.Reading) {
	for _, r := range p.lists {
		if slices.ContainsFunc(out, func(known view.Reading) bool { return known.What == r.What }) {
			continue
		}
		sum, known, done := view.Reading{What: r.What}, true, true
		for _, other := range p.lists {
			if other.What == r.What {
				sum.Read, sum.Of = sum.Read+other.Read, sum.Of+other.Of
				known, done = known && (other.Of > 0 || other.Done), done && other.Done
			}
		}
		if !known {
			sum.Of = 0
		}
		if !done {
			out = append(out, sum)
		}
	}
	return out
}
