package dump

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/document"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// This file is the only one that knows how collectors name their files. The name of a file is used
// only if its objects do not state their kind.

// gatherName matches the name of a folder or an archive that is a complete reading of one cluster.
var gatherName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:must-gather|inspect\.local\.|support-?bundle|supportbundle|cilium-sysdump|gather\.|sosreport-|cluster-?info|cluster-dump|\d{12}_sonobuoy|sonobuoy)`)
})

// gatherOf returns the first element of a path if it is a complete reading of one cluster, else "".
func (d *Dump) gatherOf(within string) string {
	first, rest, inFolder := strings.Cut(within, "/")
	if inFolder && rest != "" && gatherName().MatchString(strings.ToLower(first)) || !inFolder &&
		packFormatOf(nil, first) == nil && packedName(first) {
		return first
	}
	return ""
}

// packedName reports whether name has the extension of an archive.
func packedName(name string) bool {
	lower := strings.ToLower(name)
	for _, suffix := range []string{".tar", ".tgz", ".txz", ".zip", ".tar.gz", ".tar.xz", ".tar.zst", ".tar.bz2"} {
		if strings.HasSuffix(lower, suffix) {
			return true
		}
	}
	return false
}

// Gathered describes one of several readings in the input.
type Gathered struct {
	objects int       // objects that matter
	Newest  time.Time // the newest time in the objects
}

// listOf returns the type of the list whose items a file contains, according to the name of the
// file or its folder. Old collectors write arrays of objects without kinds.
func listOf(file string) metav1.TypeMeta {
	file = filepath.ToSlash(file)
	name, _, _ := strings.Cut(path.Base(file), ".")
	for _, name := range []string{name, path.Base(path.Dir(file))} {
		name = strings.ToLower(name)
		if i := strings.LastIndexByte(name, '_'); i >= 0 {
			name = name[i+1:]
		}
		if kind, ok := object.Resources[strings.ReplaceAll(name, "-", "")]; ok {
			return metav1.TypeMeta{APIVersion: kind.APIVersion, Kind: kind.Kind + "List"}
		}
	}
	return metav1.TypeMeta{}
}

// fromRancher reports whether a file belongs to a bundle of Rancher's support-bundle-kit, which
// writes "null" for empty texts.
func fromRancher(file string) bool {
	file = "/" + filepath.ToSlash(file)
	return strings.Contains(file, "/yamls/cluster/") || strings.Contains(file, "/yamls/namespaced/")
}

// logPlace is the place of a log: a file, or a part of a file.
type logPlace struct {
	location
	part bool
}

// logNames returns patterns for the paths of logs, with groups for namespace, pod and container.
var logNames = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		// must-gather
		regexp.MustCompile(`(?:^|/)namespaces/(?P<namespace>[^/]+)/pods/(?P<pod>[^/]+)/(?P<container>[^/]+)/[^/]+/logs/(?:current|(?P<previous>previous))\.log(?:\.gz)?$`),
		// kubectl-gather
		regexp.MustCompile(`(?:^|/)namespaces/(?P<namespace>[^/]+)/pods/(?P<pod>[^/]+)/(?P<container>[^/]+)/(?:current|(?P<previous>previous))\.log$`),
		// troubleshoot
		regexp.MustCompile(`(?:^|/)pods/logs/(?P<namespace>[^/]+)/(?P<pod>[^/]+)/(?P<container>[^/]+?)(?P<previous>-previous)?\.log$`),
		// Sonobuoy
		regexp.MustCompile(`(?:^|/)podlogs/(?P<namespace>[^/]+)/(?P<pod>[^/]+)/logs/(?P<container>[^/]+)\.txt$`),
		// Rancher
		regexp.MustCompile(`(?:^|/)logs/(?P<namespace>[^/]+)/(?P<pod>[^/]+)/(?P<container>[^/]+?)(?P<previous>\.log\.1|-previous\.log)?(?:\.log)?$`),
		// cluster-info dump, with the logs of all containers
		regexp.MustCompile(`(?:^|/)(?P<namespace>[^/]+)/(?P<pod>[^/]+)/logs\.txt$`),
	}
})

// noteName records what the name of a found file shows: that it is the log of a container, or the
// version of the server. It reports whether the file contains nothing else to read.
func (d *Dump) noteName(p location, head []byte) bool {
	if document.DocumentName(p.within) {
		return d.noteVersion(p, head)
	}
	for _, name := range logNames() {
		m := name.FindStringSubmatch(p.within)
		if m == nil {
			continue
		}
		of := document.LogOf{}
		previous := false
		for i, group := range name.SubexpNames() {
			switch group {
			case "namespace":
				of.Namespace = m[i]
			case "pod":
				of.Pod = m[i]
			case "container":
				of.Container = m[i]
			case "previous":
				previous = m[i] != ""
			}
		}
		of.Previous = previous
		d.logs[of] = append(d.logs[of], logPlace{p, false})
		d.logFiles++
		return true
	}
	if strings.HasSuffix(strings.ToLower(document.UnpackedName(p.within)), ".log") {
		d.logFiles++
		return true
	}
	return d.noteVersion(p, head)
}

// noteVersion records the server version that a file states, if any, and reports whether it states
// one.
func (d *Dump) noteVersion(p location, head []byte) bool {
	says := versionIn(path.Base(p.within), head)
	if says != "" {
		d.versions = append(d.versions, statedVersion{version: says, by: p.name})
	}
	return says != ""
}

// statedVersion is a Kubernetes version stated in the input.
type statedVersion struct {
	version    string
	by         string
	controller bool // whether it is the version of kube-controller-manager
}

var (
	versionFile = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:server-?version\.json|cluster_version\.json|k8s-version.*\.txt|kubectl_.*version.*|version\.json|metadata\.yaml)$`)
	})
	gitVersion = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?is)(?:server ?version|"info").{0,200}?(?:gitVersion"?\s*[:=]\s*"?|: )(v\d+\.\d+\.\d+[\w.+-]*)`)
	})
	plainVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^v\d+\.\d+\.\d+[\w.+-]*$`) })
)

// versionIn returns the server version stated by a collector's file, or "".
func versionIn(name string, head []byte) string {
	if !versionFile().MatchString(name) || len(head) >= headBytes {
		return ""
	}
	var said struct {
		GitVersion        string `json:"gitVersion"`
		KubernetesVersion string `json:"kubernetesVersion"`
		Info              struct {
			GitVersion string `json:"gitVersion"`
		} `json:"info"`
		ServerVersion struct {
			GitVersion string `json:"gitVersion"`
		} `json:"serverVersion"`
	}
	var found []string
	if raw, err := yaml.YAMLToJSON(head); err == nil && json.Unmarshal(raw, &said) == nil {
		found = []string{said.ServerVersion.GitVersion, said.Info.GitVersion, said.KubernetesVersion, said.GitVersion}
	}
	if m := gitVersion().FindSubmatch(head); m != nil {
		found = append(found, string(m[1]))
	}
	found = append(found, strings.TrimSpace(string(head)))
	for _, v := range found {
		if plainVersion().MatchString(v) {
			return v
		}
	}
	return ""
}

// noteOperatorVersion records the version reported by OpenShift's operator of kube-controller-manager.
func (d *Dump) noteOperatorVersion(raw []byte, at document.Position) {
	var o struct {
		Metadata struct{ Name string } `json:"metadata"`
		Status   struct {
			Versions []struct{ Name, Version string } `json:"versions"`
		} `json:"status"`
	}
	if json.Unmarshal(raw, &o) != nil || o.Metadata.Name != "kube-controller-manager" {
		return
	}
	for _, v := range o.Status.Versions {
		if says := "v" + strings.TrimPrefix(v.Version, "v"); v.Name == "kube-controller-manager" &&
			plainVersion().MatchString(says) {
			d.versions = append(d.versions, statedVersion{says, at.String(), true})
		}
	}
}

// decideVersion sets the version to use: the last stated version of the controller, or else of the
// server. If none is stated, it sets the highest kubelet version, which is never newer than the
// control plane.
func (d *Dump) decideVersion() {
	for _, v := range d.versions {
		if d.version.version == "" || v.controller || !d.version.controller {
			d.version = v
		}
	}
	if d.version.version != "" {
		d.notes = append(
			d.notes,
			fmt.Sprintf("Kubernetes %s: %s says it", d.version.version, d.shortName(d.version.by)),
		)
		for _, v := range d.versions {
			if !v.controller && v.version != d.version.version && !d.version.controller {
				d.notes = append(d.notes, fmt.Sprintf("%s says another version of Kubernetes: %s", v.by, v.version))
				break
			}
		}
		return
	}
	var highest *version.Version
	for i := range d.HeldNodes.Items {
		said := d.HeldNodes.Items[i].Status.NodeInfo.KubeletVersion
		if v, err := version.ParseSemantic(said); err == nil && v.Major() == 1 &&
			(highest == nil || highest.LessThan(v)) {
			highest, d.kubelet = v, said
		}
	}
}

// Log returns the words of the command that shows the log of a container, or nil if the input has
// no such log. previous selects the log of the previous container instance; if there is none, the
// current log is used.
func (d *Dump) Log(namespace, pod, container string, previous bool) []string {
	for _, of := range []document.LogOf{{Namespace: namespace, Pod: pod, Container: container, Previous: previous},
		{Namespace: namespace, Pod: pod, Container: "", Previous: previous},
		{Namespace: namespace, Pod: pod, Container: container, Previous: false},
		{Namespace: namespace, Pod: pod, Container: "", Previous: false}} {
		for _, at := range d.logs[of] {
			if words := at.command(of); len(words) > 0 {
				return words
			}
		}
	}
	return nil
}

// command returns the words of the command that shows the log, or nil if there is none.
func (l logPlace) command(of document.LogOf) []string {
	switch {
	case l.part && l.depth == 0 && l.layers == 0 && l.name != document.StdinName:
		return []string{fmt.Sprintf("sed -n '/START logs for container %s of pod %s\\/%s /,/END logs for container/p'",
			of.Container, of.Namespace, of.Pod), document.Word(l.name)}
	case !l.part && l.depth == 0:
		return []string{"less", document.Word(l.name)}
	case !l.part && l.depth == 1 && l.unpack != "":
		return []string{l.unpack, document.Word(l.raw)}
	}
	return nil
}

// recordLoss records damage that may matter.
func (d *Dump) recordLoss(x document.Damage) {
	var whats []snapshot.What
	all := len(x.Kinds) == 0
	for _, k := range x.Kinds {
		what, known := LostOf[k.Kind]
		if known && !slices.Contains(whats, what) {
			whats = append(whats, what)
		}
		all = all || !known && (k.Kind == "" || k.Kind == "List" || object.Mistaken(k) != nil)
	}
	if all || len(whats) == 0 {
		whats = slices.Compact(slices.Sorted(maps.Values(LostOf)))
	}
	for _, what := range whats {
		d.Lost[what] = append(d.Lost[what], x.Error())
	}
}

// LostOf maps a kind to the part that is incomplete if an object of that kind is left out.
var LostOf = map[string]snapshot.What{
	"DaemonSet": snapshot.DaemonSets, snapshot.Kind: snapshot.DaemonSets, "ControllerRevision": snapshot.Revisions,
	"Node": snapshot.Nodes, "Pod": snapshot.Pods,
	"Event": snapshot.Events, "PodDisruptionBudget": snapshot.PodDisruptionBudgets,
}

// Partial returns what is missing from the objects of a kind, such as pages or damaged objects, or
// "".
func (d *Dump) Partial(kind string) string {
	if lost := d.Lost[LostOf[kind]]; LostOf[kind] != "" && len(lost) > 0 {
		words := "left out, because it is damaged: " + lost[0]
		if len(lost) > 1 {
			words += fmt.Sprintf(" (and %d more)", len(lost)-1)
		}
		return words
	}
	return d.pages.Partial(kind)
}

// noteUnread adds notes on what was not read.
func (d *Dump) noteUnread() {
	brief := func(names []string) (short []string) {
		for _, name := range names {
			short = append(short, d.shortName(name))
		}
		return short
	}
	some := func(names []string) string { return document.SomeOf(brief(names)) }
	var left []string
	if d.logFiles > 0 {
		left = append(left, plural(d.logFiles, "log", "logs"))
	}
	if d.macOS > 0 {
		left = append(left, plural(d.macOS, "file", "files")+" of macOS (._*)")
	}
	if d.links > 0 {
		left = append(left, plural(d.links, "link", "links")+" in archives")
	}
	if len(left) > 0 {
		d.notes = append(d.notes, "not read: "+strings.Join(left, ", "))
	}
	if len(d.skipped) > 0 {
		d.notes = append(d.notes, "ignored, because they are not Kubernetes objects in YAML or JSON: "+some(d.skipped))
	}
	if len(d.noFinalNewline) > 0 {
		d.notes = append(d.notes, document.RaggedNote(brief(d.noFinalNewline)))
	}
	d.notes = append(d.notes, limited(d.cut, "files may be cut off")...)
	if len(d.outside) > 0 {
		d.notes = append(d.notes, "ignored, because their paths lead out of the archive: "+some(d.outside))
	}
	if len(d.tooDeep) > 0 {
		d.notes = append(d.notes, fmt.Sprintf("ignored, because they are archives in archives, more than %d deep: %s",
			document.MostDeep, some(d.tooDeep)))
	}
	if n := len(d.removedAPIs); n > 0 {
		d.notes = append(d.notes, fmt.Sprintf("ignored: %s of versions that no server since v1.16 has: %s",
			plural(n, "DaemonSet or list of them", "DaemonSets or lists of them"), d.removedAPIs[0].File))
	}
	if len(d.damaged) > 0 {
		d.notes = append(d.notes, fmt.Sprintf("ignored, because it cannot be read and no answer depends on it: %s",
			firstOf(d.damaged)))
	}
}

// shortName returns the path of an input file. A long path in a folder or an archive is shortened to
// its end.
func (d *Dump) shortName(name string) string {
	const most = 60 // bytes
	within, inside := strings.CutPrefix(filepath.ToSlash(name), filepath.ToSlash(d.path)+"/")
	parts := strings.Split(within, "/")
	if n := len(parts); inside && len(within) > most && n > 3 {
		return "…/" + strings.Join(parts[n-2:], "/")
	}
	return name
}

// firstOf returns the first line and the number of the others.
func firstOf(lines []string) string {
	if more := len(lines) - 1; more > 0 {
		return fmt.Sprintf("%s (and %d more)", lines[0], more)
	}
	return lines[0]
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// severalGathers returns an error if one given path contains several readings of clusters, else
// nil.
func (d *Dump) severalGathers() error {
	for _, given := range slices.Sorted(maps.Keys(d.Gathers)) {
		var names []string
		for name, g := range d.Gathers[given] {
			if name != "" && g.objects > 0 {
				names = append(names, name)
			}
		}
		if len(names) < 2 {
			continue
		}
		slices.SortFunc(names, func(a,
			b string) int {
			return d.Gathers[given][a].Newest.Compare(d.Gathers[given][b].Newest)
		})
		var each []string
		for _, name := range names {
			if newest := d.Gathers[given][name].Newest; !newest.IsZero() {
				name += " (newest object: " + newest.Format(time.RFC3339) + ")"
			}
			each = append(each, name)
		}
		last := names[len(names)-1]
		hint := "--from " + document.Word(path.Join(given, last)) + " (the newest)"
		if !d.folders[given] {
			hint = "unpack it, and --from " + document.Word(last)
		}
		return &source.InputError{File: given, Err: fmt.Errorf("holds %d dumps, of which one can be read at a time: %s",
			len(names), strings.Join(each, ", ")), HintText: hint}
	}
	return nil
}

// severalClusters returns an error if the input contains objects of two clusters, else nil.
func (d *Dump) severalClusters() error {
	for i, b := range d.clusters {
		before := slices.IndexFunc(d.clusters[:i], func(c cluster) bool { return c.kind == b.kind })
		if before < 0 {
			continue
		}
		a, name := d.clusters[before], object.OneOfEach[b.kind]
		return &source.InputError{File: d.path,
			Err: fmt.Errorf("two clusters: the %s is in it twice, with different UIDs, "+
				"in %s and in %s", name, a.at, b.at), HintText: eitherFile(a.at, b.at)}
	}
	if n, all := len(d.otherNodes), len(d.HeldNodes.Items); 10*n >= all && (n > 1 || n == 1 && all == 1) {
		first := d.otherNodes[0]
		return &source.InputError{File: d.path,
			Err: fmt.Errorf("two clusters: %d of %s in it twice, with different UIDs; "+
				"the first is %s, in %s and in %s", n, plural(all, "node is", "nodes are"), first.name, first.from,
				first.at), HintText: eitherFile(first.from, first.at)}
	}
	return nil
}

// eitherFile returns a hint that names the file of b, and that of a as the alternative.
func eitherFile(a, b document.Position) string {
	if a.File == b.File {
		return "--from a dump of one of them"
	}
	return "--from " + document.Word(b.File) + " (or " + document.Word(a.File) + ")"
}

// cluster is an object that exists once in every cluster, with its UID.
type cluster struct {
	kind metav1.TypeMeta
	uid  string
	at   document.Position
}

// otherNode is a node that appears with two UIDs.
type otherNode struct {
	name     string
	from, at document.Position
}
