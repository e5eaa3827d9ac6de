package cause

import (
	"strconv"
	"strings"
)

// RefusedBy returns what refused a pod, by the message of the API server, and
// its name: the quota's, the level and version of Pod Security, the webhook's.
func RefusedBy(message string) (by OriginKind, name string) {
	if _, rest, ok := strings.Cut(message, "exceeded quota: "); ok {
		name, _, _ = strings.Cut(rest, ",")
		return OriginQuota, name
	}
	for _, sign := range []struct {
		before string
		by     OriginKind
	}{{`violates PodSecurity "`, OriginPolicy}, {`admission webhook "`, OriginWebhook}, {`failed calling webhook "`, OriginWebhook}} {
		if _, rest, ok := strings.Cut(message, sign.before); ok {
			name, _, _ = strings.Cut(rest, `"`)
			return sign.by, name
		}
	}
	return OriginAPIServer, ""
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
