package stage

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// auditPolicy records who asked for what, without bodies. Node leases are left out: they are the kubelets' heartbeats,
// several a second, and nobody asks about them. Only what is answered to the creation of a pod and to the write of a
// status of a DaemonSet is kept: the name that the API server gave the one, and the version that it gave the other, stand
// nowhere else.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: None
  resources: [{group: coordination.k8s.io, resources: [leases]}]
- level: RequestResponse
  verbs: [create]
  resources: [{group: "", resources: [pods]}]
- level: RequestResponse
  verbs: [update]
  resources: [{group: apps, resources: [daemonsets/status]}]
- level: Metadata
`

// auditPolicyOf returns the policy of a stage; that of a bare one keeps no bodies.
func auditPolicyOf(bare bool) string {
	if bare {
		return strings.ReplaceAll(auditPolicy, "level: RequestResponse", "level: Metadata")
	}
	return auditPolicy
}

// AuditEntry is one line of the API server's audit log: one request at one stage of its handling. A watch has two
// lines, when it starts and when it ends; every other request has one.
type AuditEntry struct {
	Stage           string
	Received        time.Time // when the request came in
	Time            time.Time // of the stage
	User            string
	UserAgent       string
	Verb            string // of the API: get, list, watch, create, …
	Group, Resource string // "" for a request that is about no resource
	Subresource     string
	Namespace, Name string // of a created pod: the name that it got
	URI             string
	Code            int    // of the HTTP response
	Version         string // of what the API server answered to a creation of a pod or a write of a DaemonSet's status
}

// AuditLog returns the entries of the API server's audit log so far, oldest first. Every request that was answered
// before the call is in it.
func (c *Cluster) AuditLog(ctx context.Context) ([]AuditEntry, error) {
	// The server answers a request before it writes the line. A request of our own, made last, is the sign that
	// the lines of earlier ones are written.
	mark := fmt.Sprintf("audit-mark-%d", time.Now().UnixNano())
	if err := c.Client.Discovery().RESTClient().Get().AbsPath("/version").Param("mark", mark).Do(ctx).Error(); err != nil {
		return nil, err
	}
	var entries []AuditEntry
	err := c.WaitFor(ctx, "the audit log", func(context.Context) (bool, error) {
		data, err := os.ReadFile(c.path("audit.log"))
		if err != nil {
			return false, err
		}
		var seen bool
		entries, seen, err = parseAudit(data, mark)
		return seen, err
	})
	return entries, err
}

// parseAudit reads entries up to the one whose address holds mark, and says whether it was there.
func parseAudit(data []byte, mark string) (entries []AuditEntry, seen bool, err error) {
	lines := bufio.NewReader(bytes.NewReader(data))
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return entries, false, nil // the last line may be half written
		}
		var e struct {
			Stage                    string
			Verb                     string
			RequestURI               string
			UserAgent                string
			RequestReceivedTimestamp time.Time
			StageTimestamp           time.Time
			User                     struct{ Username string }
			ObjectRef                struct{ APIGroup, Resource, Subresource, Namespace, Name string }
			ResponseStatus           struct{ Code int }
			ResponseObject           struct {
				Metadata struct{ Name, ResourceVersion string }
			}
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, false, fmt.Errorf("audit log: %w", err)
		}
		if strings.Contains(e.RequestURI, mark) {
			return entries, true, nil
		}
		entries = append(entries, AuditEntry{
			Stage: e.Stage, Received: e.RequestReceivedTimestamp, Time: e.StageTimestamp,
			User: e.User.Username, UserAgent: e.UserAgent,
			Verb: e.Verb, Group: e.ObjectRef.APIGroup, Resource: e.ObjectRef.Resource, Subresource: e.ObjectRef.Subresource,
			Namespace: e.ObjectRef.Namespace, Name: cmp.Or(e.ObjectRef.Name, e.ResponseObject.Metadata.Name),
			URI: e.RequestURI, Code: e.ResponseStatus.Code, Version: e.ResponseObject.Metadata.ResourceVersion,
		})
	}
}
