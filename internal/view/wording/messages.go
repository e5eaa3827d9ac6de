package wording

import (
	"regexp"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
)

// Brief shortens a message from the cluster, which can be 4 KB long, to about the given number of columns. It removes
// the middle: the beginning names the action, and the end names the error.
func (s Style) Brief(message string, columns int) string {
	if s.All {
		return message
	}
	return s.shorten(wrappers.ReplaceAllString(message, ""), columns)
}

// shorten removes the middle of a text that has more than the given number of columns.
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

// wrappers matches the phrases that kubelet and container runtimes wrap around an error.
var wrappers = regexp.MustCompile(`rpc error: code = \w+ desc = |Back-off pulling image "[^"]*": |` +
	`failed to pull and unpack image "[^"]*": |failed to resolve reference "[^"]*": |^Failed to create pod sandbox: `)

// Refusal shortens the API server's message about a rejected pod. It keeps the decisive parts: the violated rules of a
// policy, the numbers of a quota or limit, and the name and answer of a webhook.
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
	return s.Brief(message, 3*columns) // keep more of the answers of policies and webhooks
}

// These parts of a rejection can be left out. The pod name is made up for one request. A webhook's URL can be reduced
// to its host. For a violation of PodSecurity, the required settings go first, and then the places.
var (
	podInQuestion = regexp.MustCompile(`^(?:pods|Pod) "[^"]*" is (?:forbidden: )?`)
	webhookURL    = regexp.MustCompile(`(?:failed to call webhook: )?Post "?https?://([^/"? ]+)[^": ]*"?`)
	whatToSet     = regexp.MustCompile(` \([^()]* must [^()]*\)`)
	anyDetail     = regexp.MustCompile(` \([^()]*\)`)
)
