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

// Sync is one sync of a DaemonSet by the DaemonSet controller. Syncs of one DaemonSet do not
// overlap.
type Sync struct {
	// Start and End are from the last log line about the sync, which may be late on a busy machine.
	// Start is not later than the first act.
	Start, End time.Time
	// Acts are the decisions: that of manage, and then that of the rolling update, which is missing
	// while the controller waits to observe what manage did. There are none if the sync waits to
	// observe what an earlier one did.
	Acts []Act
}

// Act is a list of pods to create and to delete, which may be empty. Its requests come after Time,
// and those of the next act after they were answered.
type Act struct {
	Time             time.Time
	Creates, Deletes int // intended numbers, before any request can fail
}

// Log lines of k8s.io/kubernetes/pkg/controller/daemon at v1.37 and v1.30.
var (
	logLine  = regexp.MustCompile(`^[IWE](\d{4} \d\d:\d\d:\d\d\.\d{6}) +\d+ daemon_controller\.go:\d+\] (.*)$`)
	logWords = regexp.MustCompile(`^"([^"]*)"(.*)$`)
	logField = regexp.MustCompile(` (\w+)=("[^"]*"|\d+)`)
)

// oldLines maps the same lines at v1.24 to the newer words. Only the last one names a namespace.
var oldLines = []struct {
	words string
	line  *regexp.Regexp
}{
	{"Adding daemon set", regexp.MustCompile(`^Adding daemon set (?P<daemonset>\S+)$`)},
	{"Updating daemon set", regexp.MustCompile(`^Updating daemon set (?P<daemonset>\S+)$`)},
	{"Deleting daemon set", regexp.MustCompile(`^Deleting daemon set (?P<daemonset>\S+)$`)},
	{"Pod added", regexp.MustCompile(`^Pod (?P<pod>\S+) added\.$`)},
	{"Pod updated", regexp.MustCompile(`^Pod (?P<pod>\S+) updated\.$`)},
	{"Pod deleted", regexp.MustCompile(`^Pod (?P<pod>\S+) deleted\.$`)},
	{"Nodes needing daemon pods for daemon set, creating", regexp.MustCompile(`^Nodes needing daemon pods for daemon set (?P<daemonset>\S+): .*, creating (?P<createCount>\d+)$`)},
	{"Pods to delete for daemon set, deleting", regexp.MustCompile(`^Pods to delete for daemon set (?P<daemonset>\S+): .*, deleting (?P<deleteCount>\d+)$`)},
	{"Finished syncing daemon set", regexp.MustCompile(`^Finished syncing daemon set "(?P<daemonset>[^"]*)" \((?P<time>.*)\)$`)},
}

// Syncs returns the completed syncs of a DaemonSet, oldest first. The stage needs LogSyncs, and no
// DaemonSet of the same name may exist in another namespace, because the log of v1.24 does not
// distinguish them.
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

// Heard returns, by "daemonset/NAME" and "pod/NAME", the times at which the DaemonSet controller
// was notified of each change in a namespace, at the latest, oldest first. The stage needs
// LogSyncs.
func (c *Cluster) Heard(namespace string) (map[string][]time.Time, error) {
	data, err := os.ReadFile(c.path(string(ControllerManager) + ".log"))
	if err != nil {
		return nil, err
	}
	heard, err := parseHeard(string(data), namespace, time.Now())
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", ControllerManager, err)
	}
	return heard, nil
}

// parseHeard parses a log written in the year before now.
func parseHeard(log, namespace string, now time.Time) (map[string][]time.Time, error) {
	heard := map[string][]time.Time{}
	err := eachLine(log, now, func(at time.Time, message string, fields map[string]string) error {
		kind := map[string]string{
			"Adding daemon set": "daemonset", "Updating daemon set": "daemonset", "Deleting daemon set": "daemonset",
			"Pod added": "pod", "Pod updated": "pod", "Pod deleted": "pod",
		}[message]
		if in, name := cutName(fields[kind]); kind != "" && (in == namespace || in == "") {
			heard[kind+"/"+name] = append(heard[kind+"/"+name], at)
		}
		return nil
	})
	return heard, err
}

// eachLine calls see with the time, message and fields of each line of the DaemonSet controller.
func eachLine(log string, now time.Time, see func(at time.Time, message string, fields map[string]string) error) error {
	for line := range strings.Lines(log) {
		m := logLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		message, fields := wordsOf(m[2])
		at, err := logTime(m[1], now)
		if err == nil {
			err = see(at, message, fields)
		}
		if err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
	}
	return nil
}

// wordsOf returns the message of a line and its fields, or "" for an irrelevant line.
func wordsOf(line string) (message string, fields map[string]string) {
	fields = map[string]string{}
	if m := logWords.FindStringSubmatch(line); m != nil {
		for _, f := range logField.FindAllStringSubmatch(m[2], -1) {
			fields[f[1]] = strings.Trim(f[2], `"`)
		}
		return m[1], fields
	}
	for _, old := range oldLines {
		if m := old.line.FindStringSubmatch(line); m != nil {
			for i, name := range old.line.SubexpNames()[1:] {
				fields[name] = m[i+1]
			}
			return old.words, fields
		}
	}
	return "", fields
}

// cutName cuts NAMESPACE/NAME, or NAME if the log has no namespace.
func cutName(text string) (namespace, name string) {
	if namespace, name, ok := strings.Cut(text, "/"); ok {
		return namespace, name
	}
	return "", text
}

// parseSyncs parses a log written in the year before now.
func parseSyncs(log, daemonSet string, now time.Time) ([]Sync, error) {
	var syncs []Sync
	var next Sync
	err := eachLine(log, now, func(at time.Time, message string, fields map[string]string) error {
		in, name := cutName(daemonSet)
		if of, ds := cutName(fields["daemonset"]); ds != name || of != in && of != "" {
			return nil
		}
		switch message {
		case "Nodes needing daemon pods for daemon set, creating":
			n, err := strconv.Atoi(fields["createCount"])
			if err != nil {
				return err
			}
			next.Acts = append(next.Acts, Act{Time: at, Creates: n})
		case "Pods to delete for daemon set, deleting":
			n, err := strconv.Atoi(fields["deleteCount"])
			if err == nil && len(next.Acts) == 0 {
				err = errors.New("it stands alone")
			}
			if err != nil {
				return err
			}
			next.Acts[len(next.Acts)-1].Deletes = n
		case "Finished syncing daemon set":
			took, err := time.ParseDuration(fields["time"])
			if err != nil {
				return err
			}
			next.Start, next.End = at.Add(-took), at
			if len(next.Acts) > 0 && next.Acts[0].Time.Before(next.Start) { // the line was late
				next.Start = next.Acts[0].Time
			}
			syncs, next = append(syncs, next), Sync{}
		}
		return nil
	})
	return syncs, err
}

// logTime parses a time as klog writes it: local, and without the year.
func logTime(text string, now time.Time) (time.Time, error) {
	at, err := time.ParseInLocation("2006 0102 15:04:05.000000", fmt.Sprint(now.Year(), " ", text), now.Location())
	if err == nil && at.After(now) {
		at = at.AddDate(-1, 0, 0)
	}
	return at, err
}
