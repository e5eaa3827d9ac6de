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
	// Start and End rest on the last line of the log about it, which may come late on a busy machine: it began no later
	// than its first act.
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

// The lines of the controller's log that tell it, of k8s.io/kubernetes/pkg/controller/daemon at v1.37 and v1.30.
var (
	logLine  = regexp.MustCompile(`^[IWE](\d{4} \d\d:\d\d:\d\d\.\d{6}) +\d+ daemon_controller\.go:\d+\] (.*)$`)
	logWords = regexp.MustCompile(`^"([^"]*)"(.*)$`)
	logField = regexp.MustCompile(` (\w+)=("[^"]*"|\d+)`)
)

// oldLines are the same lines at v1.24, with the words that they became. They name no namespace but in the last one.
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

// Syncs returns the syncs of a DaemonSet that have ended, oldest first. The stage must have been made with LogSyncs, and
// have no DaemonSet of the same name in another namespace: the log of v1.24 does not tell them apart.
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

// Heard returns when the DaemonSet controller heard of each change of the DaemonSets and of their pods in a namespace,
// by "daemonset/NAME" and "pod/NAME", the oldest first. It knew of a change no later than that. The stage must have been
// made with LogSyncs.
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

// parseHeard reads a log that was written in the year before now.
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

// eachLine calls see with each line that the DaemonSet controller wrote: its time, its message and its fields.
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

// wordsOf returns the message of a line and its fields, "" for a line that tells nothing of what is asked for here.
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

// cutName cuts NAMESPACE/NAME, or NAME where the log names no namespace.
func cutName(text string) (namespace, name string) {
	if namespace, name, ok := strings.Cut(text, "/"); ok {
		return namespace, name
	}
	return "", text
}

// parseSyncs reads a log that was written in the year before now.
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
			if len(next.Acts) > 0 && next.Acts[0].Time.Before(next.Start) { // the line came late
				next.Start = next.Acts[0].Time
			}
			syncs, next = append(syncs, next), Sync{}
		}
		return nil
	})
	return syncs, err
}

// logTime reads a time as klog writes it: local, and without the year.
func logTime(text string, now time.Time) (time.Time, error) {
	at, err := time.ParseInLocation("2006 0102 15:04:05.000000", fmt.Sprint(now.Year(), " ", text), now.Location())
	if err == nil && at.After(now) {
		at = at.AddDate(-1, 0, 0)
	}
	return at, err
}
