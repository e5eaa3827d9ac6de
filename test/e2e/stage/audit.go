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

// auditPolicy records requests without bodies and without node leases, which kubelets renew several
// times a second. It keeps the responses to creates of pods and to writes of a DaemonSet's status,
// because the generated name and the resource version are found nowhere else.
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

// auditPolicyOf returns the policy of a stage. That of a bare stage keeps no bodies.
func auditPolicyOf(bare bool) string {
	if bare {
		return strings.ReplaceAll(auditPolicy, "level: RequestResponse", "level: Metadata")
	}
	return auditPolicy
}

// AuditEntry is a line of the API server's audit log: a request at one stage of its handling. A
// watch has two lines, at its start and at its end; every other request has one.
type AuditEntry struct {
	Stage           string
	Received        time.Time // when the request arrived
	Time            time.Time // time of the stage
	User            string
	UserAgent       string
	Verb            string // verb of the API, such as get, list, watch or create
	Group, Resource string // "" for a request that is not about a resource
	Subresource     string
	Namespace, Name string // for a created pod, its generated name
	URI             string
	Code            int    // of the HTTP response
	Version         string // returned for a create of a pod or a write of a DaemonSet's status
}

// AuditLog returns the entries of the API server's audit log, oldest first. It includes every
// request that was answered before the call.
func (c *Cluster) AuditLog(ctx context.Context) ([]AuditEntry, error) {
	// The server writes a line after it has answered. A last request of our own shows that the
	// lines of earlier ones are written.
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

// parseAudit returns the entries up to the one whose URL contains mark, and whether there is one.
func parseAudit(data []byte, mark string) (entries []AuditEntry, seen bool, err error) {
	lines := bufio.NewReader(bytes.NewReader(data))
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return entries, false, nil // the last line may be incomplete
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
