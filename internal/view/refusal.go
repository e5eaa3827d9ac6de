package view

import (
	"regexp"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
)

// refusal shortens the API server's words about a pod that it refuses. What
// decides stays: the rules of a policy that are violated, the numbers of a quota
// or of a limit, who calls a webhook and what it says.
func (s Style) refusal(message string, columns int) string {
	message = podInQuestion.ReplaceAllString(message, "")
	message = strings.TrimPrefix(message, "Internal error occurred: ")
	if s.All || screen.Width(message) <= columns {
		return message
	}
	message = webhookURL.ReplaceAllString(message, "$1")
	if strings.Contains(message, "violates PodSecurity") {
		for _, detail := range []*regexp.Regexp{whatToSet, anyDetail} {
			if screen.Width(message) > columns {
				message = detail.ReplaceAllString(message, "")
			}
		}
		return message
	}
	if strings.Contains(message, " quota: ") {
		return message
	}
	return s.brief(message, 3*columns) // words of policies and webhooks: rather long than without what they say
}

// What can be left out of a refusal: the pod's name, which was made up for this
// one request; the address of a webhook but for its host; and of what violates a
// level of PodSecurity, first what to set instead, and then where.
var (
	podInQuestion = regexp.MustCompile(`^(?:pods|Pod) "[^"]*" is (?:forbidden: )?`)
	webhookURL    = regexp.MustCompile(`(?:failed to call webhook: )?Post "?https?://([^/"? ]+)[^": ]*"?`)
	whatToSet     = regexp.MustCompile(` \([^()]* must [^()]*\)`)
	anyDetail     = regexp.MustCompile(` \([^()]*\)`)
)
