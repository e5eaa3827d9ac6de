package stage

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Sync is one pass of the DaemonSet controller over a DaemonSet. Of one DaemonSet there is one at a time.
type Sync struct {
	Start, End time.Time
	// Acts are what it decided: first the manage part's, then the rolling update's, which is left out while the
	// controller waits to see what manage did. There are none when it waits to see what an earlier sync did.
	Acts []Act
}

// Act is one list of pods to create and to delete, an empty one too. Its requests come after Time, and those of the
// next act after they were answered.
type Act struct {
	Time             time.Time
	Creates, Deletes int // how many the controller means to, before any of them can fail
}

// The lines of the controller's log that tell it, of k8s.io/kubernetes/pkg/controller/daemon at v1.37.
var (
	logLine  = regexp.MustCompile(`^[IWE](\d{4} \d\d:\d\d:\d\d\.\d{6}) +\d+ daemon_controller\.go:\d+\] "([^"]*)"(.*)$`)
	logField = regexp.MustCompile(` (\w+)=("[^"]*"|\d+)`)
)

// Syncs returns the syncs of a DaemonSet that have ended, oldest first. The stage must have been made with LogSyncs.
func (c *Cluster) Syncs(namespace, name string) ([]Sync, error) {
	data, err := os.ReadFile(c.path(string(ControllerManager) + ".log"))
	if err != nil {
		return nil, err
	}
	syncs, err := parseSyncs(string(data), namespace+"/"+name, time.Now())
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", ControllerManager, err)
	}
	return syncs, nil
}

// parseSyncs reads a log that was written in the year before now.
func parseSyncs(log, daemonSet string, now time.Time) ([]Sync, error) {
	var syncs []Sync
	var next Sync
	for line := range strings.Lines(log) {
		m := logLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		fields := map[string]string{}
		for _, f := range logField.FindAllStringSubmatch(m[3], -1) {
			fields[f[1]] = strings.Trim(f[2], `"`)
		}
		if fields["daemonset"] != daemonSet {
			continue
		}
		at, err := logTime(m[1], now)
		if err != nil {
			return nil, err
		}
		switch m[2] {
		case "Nodes needing daemon pods for daemon set, creating":
			n, err := strconv.Atoi(fields["createCount"])
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			next.Acts = append(next.Acts, Act{Time: at, Creates: n})
		case "Pods to delete for daemon set, deleting":
			n, err := strconv.Atoi(fields["deleteCount"])
			if err == nil && len(next.Acts) == 0 {
				err = errors.New("it stands alone")
			}
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			next.Acts[len(next.Acts)-1].Deletes = n
		case "Finished syncing daemon set":
			took, err := time.ParseDuration(fields["time"])
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			next.Start, next.End = at.Add(-took), at
			syncs, next = append(syncs, next), Sync{}
		}
	}
	return syncs, nil
}

// logTime reads a time as klog writes it: local, and without the year.
func logTime(text string, now time.Time) (time.Time, error) {
	at, err := time.ParseInLocation("2006 0102 15:04:05.000000", fmt.Sprint(now.Year(), " ", text), now.Location())
	if err == nil && at.After(now) {
		at = at.AddDate(-1, 0, 0)
	}
	return at, err
}
