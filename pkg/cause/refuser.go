package cause

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// RefusedBy returns what refused a pod, by the message of the API server, and
// its name: the quota's, the level and version of Pod Security, the webhook's.
func RefusedBy(message string) (by SubjectKind, name string) {
	if _, rest, ok := strings.Cut(message, "exceeded quota: "); ok {
		name, _, _ = strings.Cut(rest, ",")
		return SubjectQuota, name
	}
	if strings.Contains(message, scopesUnmatched) {
		return SubjectQuota, ""
	}
	if strings.Contains(message, noneOfSCC) {
		return SubjectSCC, ""
	}
	if strings.Contains(message, "PodSecurityPolicy: ") {
		return SubjectPodSecurityPolicy, ""
	}
	for _, sign := range []struct {
		before string
		by     SubjectKind
	}{{`violates PodSecurity "`, SubjectPolicy}, {`admission webhook "`, SubjectWebhook},
		{`failed calling webhook "`, SubjectWebhook}} {
		if _, rest, ok := strings.Cut(message, sign.before); ok {
			name, _, _ = strings.Cut(rest, `"`)
			return sign.by, name
		}
	}
	return SubjectAPIServer, ""
}

// NamedObject returns the object that a pod names, and that the API server says does not exist: a
// ServiceAccount, a PriorityClass or a RuntimeClass; empty where it says nothing of that.
func NamedObject(f daemonset.Facts) (kind, name string) {
	for _, of := range named {
		if m := of.words.FindStringSubmatch(f.Text("message")); m != nil {
			return of.kind, m[1]
		}
	}
	return "", ""
}

// serviceAccount is the one kind of them that is in a namespace.
const serviceAccount = "ServiceAccount"

var named = []struct {
	kind  string
	words *regexp.Regexp
}{
	{serviceAccount, regexp.MustCompile(`error looking up service account \S+: serviceaccount "([^"]+)" not found`)},
	{"PriorityClass", regexp.MustCompile(`no PriorityClass with name (\S+) was found`)},
	{"RuntimeClass", regexp.MustCompile(`RuntimeClass "([^"]+)" not found`)},
}

// noneOfSCC are words of OpenShift's admission for a pod that none of the
// SecurityContextConstraints allows which its ServiceAccount may use.
const noneOfSCC = "unable to validate against any security context constraint"

// SCCWords returns words of OpenShift's admission from which a rejection is read.
func SCCWords() (words []string) {
	for _, v := range violations {
		words = append(words, v.words)
	}
	return append(words, noneOfSCC)
}

// violations are words of OpenShift's admission for what a pod asks for and
// SecurityContextConstraints do not allow, with the field of theirs that would.
var violations = []struct{ words, field string }{
	{"Host network is not allowed to be used", "allowHostNetwork"},
	{"Host PID is not allowed to be used", "allowHostPID"},
	{"Host IPC is not allowed to be used", "allowHostIPC"},
	{"Host ports are not allowed to be used", "allowHostPorts"},
	{"hostPath volumes are not allowed to be used", "allowHostDirVolumePlugin"},
	{"Privileged containers are not allowed", "allowPrivilegedContainer"},
	{"capability may not be added", "allowedCapabilities"},
}

// needsOfSCC returns the fields of SecurityContextConstraints that would allow a pod, by the message
// that names what it violates.
func needsOfSCC(message string) (fields []string) {
	for _, v := range violations {
		if strings.Contains(message, v.words) {
			fields = append(fields, v.field)
		}
	}
	return fields
}

// scopesUnmatched are words of the API server for a pod that needs a quota of its scope, such as
// its PriorityClass, where there is none.
const scopesUnmatched = "insufficient quota to match these scopes"

// scopeClasses returns the PriorityClasses whose pods need a quota, by a message about scopes.
func scopeClasses(message string) []string {
	_, rest, ok := strings.Cut(message, "{PriorityClass In [")
	if !ok {
		return nil
	}
	list, _, _ := strings.Cut(rest, "]")
	return strings.Fields(list)
}

// QuotaNeeds returns how many pods a quota has to allow so that some more are
// created; 0 if its message is not of a number of pods.
func QuotaNeeds(message string, further int) int {
	_, rest, ok := strings.Cut(message, "used: pods=")
	if !ok || further == 0 {
		return 0
	}
	digits, _, _ := strings.Cut(rest, ",")
	used, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return used + further
}
