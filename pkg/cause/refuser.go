package cause

import (
	"strconv"
	"strings"
)

// Refuser is what in the API server refuses a pod.
type Refuser string

const (
	ByQuota       Refuser = "ResourceQuota"
	ByPodSecurity Refuser = "PodSecurity"
	ByWebhook     Refuser = "Webhook"
	ByAPIServer   Refuser = "APIServer" // any other: its message says what
)

// RefusedBy returns what refused a pod, by the message of the API server, and
// its name: the quota's, the level and version of Pod Security, the webhook's.
func RefusedBy(message string) (by Refuser, name string) {
	if _, rest, ok := strings.Cut(message, "exceeded quota: "); ok {
		name, _, _ = strings.Cut(rest, ",")
		return ByQuota, name
	}
	for before, by := range map[string]Refuser{`violates PodSecurity "`: ByPodSecurity, `admission webhook "`: ByWebhook, `failed calling webhook "`: ByWebhook} {
		if _, rest, ok := strings.Cut(message, before); ok {
			name, _, _ = strings.Cut(rest, `"`)
			return by, name
		}
	}
	return ByAPIServer, ""
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
