package wording

import (
	"regexp"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
)

// Brief shortens a message of the cluster, which can be 4 KB: the beginning
// says what was tried and the end what failed, so the middle goes.
func (s Style) Brief(message string, columns int) string {
	if s.All {
		return message
	}
	return s.shorten(wrappers.ReplaceAllString(message, ""), columns)
}

// shorten cuts the middle out of a text that is too long.
func (s Style) shorten(text string, columns int) string {
	r := []rune(text)
	if s.All || len(r) <= columns {
		return text
	}
	head, tail := string(r[:columns*2/5]), string(r[len(r)-columns*3/5+3:])
	if i := strings.LastIndexByte(head, ' '); i > len(head)/2 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, ' '); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	}
	return head + " … " + tail
}

// wrappers are the words that kubelet and container runtimes put around what
// happened.
var wrappers = regexp.MustCompile(`rpc error: code = \w+ desc = |Back-off pulling image "[^"]*": |failed to pull and unpack image "[^"]*": |failed to resolve reference "[^"]*": |^Failed to create pod sandbox: `)

// Refusal shortens the API server's words about a pod that it refuses. What
// decides stays: the rules of a policy that are violated, the numbers of a quota
// or of a limit, who calls a webhook and what it says.
func (s Style) Refusal(message string, columns int) string {
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
	return s.Brief(message, 3*columns) // words of policies and webhooks: rather long than without what they say
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
