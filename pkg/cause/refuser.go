package cause

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// RefusedBy returns what rejected a pod, according to the message of the API server, and its name: that of the quota or
// webhook, or the level and version of Pod Security.
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

// NamedObject returns the kind and name of an object that a pod names and that does not exist according to the API
// server: a ServiceAccount, a PriorityClass or a RuntimeClass. Both are empty if the message is about something else.
func NamedObject(f daemonset.Facts) (kind, name string) {
	for _, of := range namedObjects {
		if m := of.words.FindStringSubmatch(f.Text("message")); m != nil {
			return of.kind, m[1]
		}
	}
	return "", ""
}

// serviceAccount is the only one of these kinds that is namespaced.
const serviceAccount = "ServiceAccount"

var namedObjects = []struct {
	kind  string
	words *regexp.Regexp
}{
	{serviceAccount, regexp.MustCompile(`error looking up service account \S+: serviceaccount "([^"]+)" not found`)},
	{"PriorityClass", regexp.MustCompile(`no PriorityClass with name (\S+) was found`)},
	{"RuntimeClass", regexp.MustCompile(`RuntimeClass "([^"]+)" not found`)},
}

// noneOfSCC is the message of OpenShift's admission about a pod that no SecurityContextConstraints available to its
// ServiceAccount allow.
const noneOfSCC = "unable to validate against any security context constraint"

// SCCWords returns the phrases of OpenShift's admission that indicate a rejection.
func SCCWords() (words []string) {
	for _, v := range sccViolations {
		words = append(words, v.words)
	}
	return append(words, noneOfSCC)
}

// sccViolations are phrases of OpenShift's admission about what a pod requests and SecurityContextConstraints do not
// allow, with the field that would allow it.
var sccViolations = []struct{ words, field string }{
	{"Host network is not allowed to be used", "allowHostNetwork"},
	{"Host PID is not allowed to be used", "allowHostPID"},
	{"Host IPC is not allowed to be used", "allowHostIPC"},
	{"Host ports are not allowed to be used", "allowHostPorts"},
	{"hostPath volumes are not allowed to be used", "allowHostDirVolumePlugin"},
	{"Privileged containers are not allowed", "allowPrivilegedContainer"},
	{"capability may not be added", "allowedCapabilities"},
}

// needsOfSCC returns the fields of SecurityContextConstraints that would allow a pod, according to a message about its
// violations.
func needsOfSCC(message string) (fields []string) {
	for _, v := range sccViolations {
		if strings.Contains(message, v.words) {
			fields = append(fields, v.field)
		}
	}
	return fields
}

// scopesUnmatched is the message of the API server about a pod that needs a quota for its scope, such as its
// PriorityClass, if there is no such quota.
const scopesUnmatched = "insufficient quota to match these scopes"

// scopeClasses returns the PriorityClasses whose pods need a quota, according to a message about scopes.
func scopeClasses(message string) []string {
	_, rest, ok := strings.Cut(message, "{PriorityClass In [")
	if !ok {
		return nil
	}
	list, _, _ := strings.Cut(rest, "]")
	return strings.Fields(list)
}

// QuotaNeeds returns how many pods a quota must allow so that the given number of additional pods can be created. It
// returns 0 if the message is not about a number of pods.
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
