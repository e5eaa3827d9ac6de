package view

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/history"
)

// Histories writes one line per DaemonSet, in the order given: which revision
// is current, how old it is, on how many nodes, how many are on older ones, and
// what it changed.
func Histories(w io.Writer, l *history.List, style Style) error {
	s := &lineScreen{Style: style}
	t := &table{head: []string{"NAMESPACE", "NAME", "REVISION", "AGE", " NODES", " OLDER", "CHANGE"}}
	if style.Wide {
		t.head = []string{"NAMESPACE", "NAME", "REVISION", "HASH", "AGE", " NODES", " OLDER", " KEPT", " LIMIT", "CHANGE"}
	}
	for _, h := range l.Items {
		s.now = h.Snapshot.TakenAt
		revision, hash, since, change := "-", "-", "-", "no revision holds the live template"
		if inferred(h) {
			change = "the revisions could not be read"
		}
		if current := currentRows(h); len(current) > 0 {
			c := current[0]
			revision, hash, since = strconv.FormatInt(c.Revision, 10), orDash(clean(c.Hash)), "-"
			if inferred(h) {
				revision = "hash " + hashWords(c.Hash)
			} else if at := h.CurrentSince; at != nil {
				since = age(s.now, at)
			}
			change = strings.Join(s.changeWords(h, c), "; ")
			if c.ChangeCause != "" {
				change += " (" + s.brief(clean(c.ChangeCause), 60) + ")"
			}
		}
		if h.Next.Cut && !inferred(h) {
			revision, hash, since, change = fmt.Sprintf("(%d)", h.Next.Number), "-", "-", "not cut yet"
			if u := h.Uncut; u != nil && len(u.Change) > 0 {
				change += ": " + strings.Join(fieldStyle{brief: true, cell: true, alone: !severalContainers(h), all: s.All}.changeLines(u.Change), "; ")
			}
		}
		nodes, older := "?", "?"
		if all, on, known := nodeCounts(h); known {
			switch updated := updatedElsewhere(h); {
			case inferred(h) && len(currentRows(h)) == 0: // nothing tells which are older
			case updated > 0 && updated == all-on:
				nodes, older = strconv.Itoa(on), strconv.Itoa(all-on)+" (all updated)"
			case updated > 0:
				nodes, older = strconv.Itoa(on), s.warn(strconv.Itoa(all-on))+fmt.Sprintf(" (%d updated)", updated)
			case all > on:
				nodes, older = strconv.Itoa(on), s.warn(strconv.Itoa(all-on))
			default:
				nodes, older = strconv.Itoa(on), "0"
			}
		}
		cells := []string{clean(h.DaemonSet.Namespace), clean(h.DaemonSet.Name), revision}
		if style.Wide {
			kept := 0
			for _, r := range h.Revisions {
				if r.Name != "" {
					kept++
				}
			}
			cells = append(cells, hash, since, nodes, older, strconv.Itoa(kept), strconv.Itoa(h.Limit), change)
		} else {
			cells = append(cells, since, nodes, older, change)
		}
		t.add(cells...)
	}
	s.rows(t)
	return s.writeTo(w)
}
