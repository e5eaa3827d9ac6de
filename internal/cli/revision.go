package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
)

// parseWhich parses the revision in a flag: a number, a negative number that counts back from the
// latest revision, or "live".
func parseWhich(flag, text string) (*history.Which, error) {
	text = strings.TrimSpace(text)
	if text == "live" {
		return &history.Which{Live: true}, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n == 0 {
		return nil, hinted{fmt.Errorf("%s %q is not a revision: give a number, -1 for the revision before the "+
			"latest, or live", flag, text), flag + " -1"}
	}
	return &history.Which{Number: n}, nil
}

// parseBetween parses the one or two revisions of --diff.
func parseBetween(text string) (*history.Between, error) {
	a, b, two := strings.Cut(text, ",")
	if strings.Contains(b, ",") {
		return nil, hinted{fmt.Errorf("--diff %q names more than two revisions", text), "--diff 7,8"}
	}
	from, err := parseWhich("--diff", a)
	if err != nil {
		return nil, err
	}
	if !two {
		return &history.Between{To: from}, nil
	}
	to, err := parseWhich("--diff", b)
	if err != nil {
		return nil, err
	}
	return &history.Between{From: from, To: to}, nil
}

// parseRollback parses the target revision of --undo or --to-revision: a number, 0 for the revision
// before the current one, or a negative number that counts back from the latest revision.
func parseRollback(flag, text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0, hinted{fmt.Errorf("%s %q is not a revision to go back to: give a number, 0 for the revision before "+
			"the current one, or -1 for the one before the latest", flag, text), flag + " 0"}
	}
	return n, nil
}

// revisionBack returns the number of the revision that is back revisions before the latest one. It
// returns an error if kubectl would choose another revision: kubectl ignores revisions without an
// owner, and of two revisions with the same number it takes the first by name.
func revisionBack(st *daemonset.State, back int64) (int64, error) {
	h, err := history.Make(st, history.Options{})
	if err != nil {
		return 0, err
	}
	row, err := history.Find(h, history.Which{Number: -back})
	if err != nil {
		return 0, err
	}
	switch seen := seenByKubectl(h, row.Revision); {
	case row.Revision < 1:
		return 0, fmt.Errorf("kubectl cannot roll back to controllerrevision %s: its number is %d", row.Name,
			row.Revision)
	case seen != nil && seen.Name != row.Name:
		return 0, fmt.Errorf("two revisions have number %d: kubectl would roll back to controllerrevision %s, "+
			"not to %s", row.Revision, seen.Name, row.Name)
	}
	return row.Revision, nil
}

// seenByKubectl returns the revision that kubectl chooses for a number: the first by name among the
// revisions that the DaemonSet owns. It returns nil if there is none.
func seenByKubectl(h *history.History, number int64) *history.Revision {
	var seen *history.Revision
	for i := range h.Revisions {
		r := &h.Revisions[i]
		if r.Revision == number && r.Claim == daemonset.Owned && (seen == nil || r.Name < seen.Name) {
			seen = r
		}
	}
	return seen
}
