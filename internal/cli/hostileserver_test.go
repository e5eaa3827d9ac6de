package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// server is an API server with the objects of a base, in lists of two pages. It changes the answer
// to one request.
type server struct {
	*httptest.Server
	base    *base
	twisted string // a resource and its page from 0, such as "pods 1"
	twist   func(answer object) []byte
	once    bool // change only the first of these answers
	plain   bool // return whole objects if only metadata is requested

	mu    sync.Mutex
	n     int      // number of changed answers
	asked []string // requested paths
}

var resources = map[string]string{
	"daemonsets": "DaemonSet", "controllerrevisions": "ControllerRevision", "nodes": "Node", "pods": "Pod", "events": "Event", "poddisruptionbudgets": "PodDisruptionBudget",
	"namespaces": "Namespace", "serviceaccounts": "ServiceAccount", "resourcequotas": "ResourceQuota", "limitranges": "LimitRange", "priorityclasses": "PriorityClass",
	"validatingwebhookconfigurations": "ValidatingWebhookConfiguration", "mutatingwebhookconfigurations": "MutatingWebhookConfiguration",
	"validatingadmissionpolicybindings": "ValidatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings": "MutatingAdmissionPolicyBinding",
	"validatingadmissionpolicies": "ValidatingAdmissionPolicy", "leases": "Lease",
}

func newServer(b *base) *server {
	s := &server{base: b}
	s.Server = httptest.NewServer(s)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Date", "Thu, 24 Dec 2026 12:00:00 GMT")
	if r.URL.Path == "/version" {
		fmt.Fprint(w, `{"major":"1","minor":"37","gitVersion":"v1.37.1"}`)
		return
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	namespace, resource, name := "", "", ""
	for i := range parts {
		if parts[i] == "namespaces" && i+2 < len(parts) {
			namespace = parts[i+1]
			continue
		}
		if resources[parts[i]] != "" {
			resource, name = parts[i], strings.Join(parts[i+1:], "/")
			break
		}
	}
	kind := resources[resource]
	var found []any
	version := strings.TrimPrefix(strings.TrimPrefix(strings.Split(r.URL.Path, "/v1/")[0]+"/v1", "/api/"), "/apis/")
	byLabel, _ := labels.Parse(r.URL.Query().Get("labelSelector"))
	byField, _ := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	for _, o := range s.base.objects {
		meta, _ := o["metadata"].(object)
		if o["kind"] != kind || namespace != "" && meta["namespace"] != namespace || name != "" && meta["name"] != name {
			continue
		}
		set := labels.Set{}
		if all, ok := meta["labels"].(object); ok {
			for k, v := range all {
				set[k] = fmt.Sprint(v)
			}
		}
		about, _ := o["involvedObject"].(object)
		of := fields.Set{"metadata.name": fmt.Sprint(meta["name"]), "involvedObject.kind": fmt.Sprint(about["kind"]), "involvedObject.name": fmt.Sprint(about["name"]), "type": "Warning"}
		if spec, _ := o["spec"].(object); kind == "Pod" {
			node, _ := spec["nodeName"].(string)
			of["spec.nodeName"] = node
		}
		if byLabel.Matches(set) && byField.Matches(of) {
			found = append(found, o)
		}
	}
	if name != "" {
		if len(found) == 0 {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write(write(object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404, "message": resource + " not found"}))
			return
		}
		s.answer(w, resource+" one", clone(found[0].(object)))
		return
	}
	half := (len(found) + 1) / 2
	page, meta := 0, object{"resourceVersion": "5"}
	switch {
	case r.URL.Query().Get("continue") != "":
		page, found = 1, found[half:]
	case half < len(found):
		found, meta["continue"] = found[:half], "more"
	}
	items := []any{}
	for _, o := range found {
		item := clone(o.(object))
		delete(item, "kind")
		delete(item, "apiVersion")
		items = append(items, item)
	}
	if !s.plain && strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList;") {
		for i, item := range items {
			items[i] = object{"metadata": item.(object)["metadata"]}
		}
		kind, version = "PartialObjectMetadata", "meta.k8s.io/v1"
	}
	s.answer(w, fmt.Sprint(resource, " ", page), object{"kind": kind + "List", "apiVersion": version, "metadata": meta, "items": items})
}

func (s *server) answer(w http.ResponseWriter, what string, answer object) {
	if what != s.twisted || s.twist == nil || s.once && s.n > 0 {
		_, _ = w.Write(write(answer))
		return
	}
	s.n++
	_, _ = w.Write(s.twist(answer))
}

const controlCodes = "with control codes"

// twists are the changes of an answer. An answer may be one page of a list.
var twists = []struct {
	name string
	do   func(answer object, r *rand.Rand) []byte
}{
	{"of another kind", func(a object, r *rand.Rand) []byte {
		a["kind"] = pick(r, []any{"SecretList", "Status", "Table", "", "List", "APIGroupList", "Pod"})
		return write(a)
	}},
	{"of another apiVersion", func(a object, r *rand.Rand) []byte {
		a["apiVersion"] = pick(r, []any{"v2", "apps/v1beta1", "metrics.k8s.io/v1beta1"})
		return write(a)
	}},
	{"nothing that answers", func(_ object, r *rand.Rand) []byte {
		return []byte(pick(r, []string{"{}", "null", "[]", `"text"`, "5", "", " ", "<html>login</html>", "ok", `{"kind":"Status","apiVersion":"v1","status":"Success"}`, "\x1b[2J", "\x00"}))
	}},
	{"without its items", func(a object, r *rand.Rand) []byte {
		if _, list := a["items"]; !list {
			return write(object{"kind": a["kind"], "apiVersion": a["apiVersion"]})
		}
		a["items"] = pick(r, []any{nil, object{}, "text", number("5")})
		if r.IntN(3) == 0 {
			delete(a, "items")
		}
		return write(a)
	}},
	{"with an odd item", func(a object, r *rand.Rand) []byte {
		items, _ := a["items"].([]any)
		if len(items) == 0 {
			delete(a, "metadata")
			return write(a)
		}
		i := r.IntN(len(items))
		item, _ := items[i].(object)
		switch r.IntN(6) {
		case 0:
			items[i] = nil
		case 1:
			items[i] = object{}
		case 2:
			delete(item, "metadata")
		case 3:
			delete(item["metadata"].(object), "name")
		case 4:
			items[i] = "text"
		case 5:
			item["kind"], item["apiVersion"] = "Secret", "v1"
		}
		return write(a)
	}},
	{"with an item twice", func(a object, r *rand.Rand) []byte {
		items, _ := a["items"].([]any)
		if len(items) > 0 {
			a["items"] = append(items, clone(items[r.IntN(len(items))]))
		}
		return write(a)
	}},
	{"cut off", func(a object, r *rand.Rand) []byte {
		raw := write(a)
		return raw[:r.IntN(len(raw))]
	}},
	{"with another type", func(a object, r *rand.Rand) []byte {
		all := slices.DeleteFunc(places(a), func(p place) bool {
			_, simple := p.get().(string)
			return !simple || mayChangeType(object{"kind": "ControllerRevision"}, p.path[max(0, strings.Index(p.path, "].")+2):]) || mayChangeType(object{}, p.path)
		})
		if len(all) > 0 {
			pick(r, all).set([]any{"text"})
		}
		return write(a)
	}},
	{controlCodes, func(a object, r *rand.Rand) []byte {
		payload := pick(r, payloads)
		for _, p := range places(a) {
			if s, ok := p.get().(string); ok && !timeForm.MatchString(s) && !apiWords.MatchString(p.path) && strings.Contains(strings.ToLower(p.path), "message") {
				p.set(s + payload)
			}
		}
		return []byte(rawBytes.Replace(string(write(a))))
	}},
}

// TestServer checks that the program treats a damaged answer of a server like a damaged file.
func TestServer(t *testing.T) {
	s := settingsOf(t)
	cases := max(40, s.cases/10)
	folder := t.TempDir()
	isolate(t, folder)
	t.Setenv("COLUMNS", "")
	seen := map[string]int{}
	for i := range cases {
		if s.only >= 0 {
			i = s.only
		}
		r := rand.New(rand.NewPCG(s.seed, uint64(i)^0xa51))
		b := bases()[r.IntN(len(bases()))]
		api := newServer(b)
		args := func(command ...string) []string {
			return append(command, "-n", b.namespace, b.name, "--server", api.URL)
		}
		whole := run(args("explain", "-o", "json"), nil)
		if whole.status != 0 {
			t.Fatalf("%s: %s", b.title, whole.errs)
		}
		var sound struct{ Snapshot struct{ Gaps []any } }
		if err := json.Unmarshal([]byte(whole.out), &sound); err != nil || len(sound.Snapshot.Gaps) > 0 {
			t.Fatalf("%s: %v, gaps %v", b.title, err, sound.Snapshot.Gaps)
		}
		twist := pick(r, twists)
		what := pick(r, []string{"daemonsets one", "controllerrevisions 0", "controllerrevisions 1", "nodes 0", "nodes 1", "pods 0", "pods 0", "pods 1", "events 0", "poddisruptionbudgets 0", "daemonsets 0"})
		seed := r.Uint64()
		api.mu.Lock()
		api.twisted, api.once = what, r.IntN(3) == 0
		api.twist = func(a object) []byte { return twist.do(a, rand.New(rand.NewPCG(seed, 1))) }
		api.mu.Unlock()
		damaged := run(args("explain", "-o", "json"), nil)
		faults := judge(damaged, b.secrets)
		if d := different(whole, damaged, nil); d != "" && twist.name != controlCodes { // a template may contain these characters
			faults = append(faults, d)
		}
		for _, command := range [][]string{pick(r, [][]string{{"explain"}, {"plan-rollout"}, {"history"}, {"snapshot"}, {"plan-rollout", "-o", "markdown"}, {"history", "-o", "yaml"}})} {
			faults = append(faults, judge(run(args(command...), nil), b.secrets)...)
		}
		list := run([]string{"explain", "-A", "-o", "yaml", "--server", api.URL}, nil)
		faults = append(faults, judge(list, b.secrets)...)
		api.Close()
		if len(faults) > 0 {
			kind, _, _ := strings.Cut(strings.Split(faults[0], `"`)[0], ":")
			if seen[kind]++; seen[kind] <= 6 {
				t.Errorf("HOSTILE_SEED=%d HOSTILE_ONLY=%d, %s: the answer to %s, %s (once: %t)\n%s", s.seed, i, b.title, what, twist.name, api.once, strings.Join(faults, "\n"))
			}
		}
		if s.only >= 0 {
			t.Logf("%s: the answer to %s, %s: status %d\n%s%s", b.title, what, twist.name, damaged.status, damaged.errs, damaged.out)
			return
		}
	}
}

// fitObjects are the objects that only checks of fit or admission read.
func fitObjects(namespace string) (all []object) {
	add := func(apiVersion, kind, namespace, name, rest string) {
		meta := object{"name": name, "labels": object{"app": "other"}, "annotations": object{"message": "a message"}}
		if namespace != "" {
			meta["namespace"] = namespace
		}
		o := object{"apiVersion": apiVersion, "kind": kind, "metadata": meta}
		var more object
		read([]byte(rest), &more)
		for k, v := range more {
			o[k] = v
		}
		all = append(all, o)
	}
	const rules = `[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]`
	add("v1", "Namespace", "", namespace, `{"status":{"phase":"Active"}}`)
	for _, name := range []string{"default", "other"} {
		add("v1", "ServiceAccount", namespace, name, `{"imagePullSecrets":[{"name":"pull"}]}`)
		add("v1", "ResourceQuota", namespace, name, `{"spec":{"hard":{"pods":"5"}},"status":{"used":{"pods":"3"}}}`)
		add("v1", "LimitRange", namespace, name, `{"spec":{"limits":[{"type":"Container","max":{"cpu":"2"}}]}}`)
		add("scheduling.k8s.io/v1", "PriorityClass", "", name, `{"value":7,"description":"a message"}`)
		add("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", name, `{"webhooks":[{"name":"hook.example.com","clientConfig":{},"rules":`+rules+`,"sideEffects":"None","admissionReviewVersions":["v1"]}]}`)
		add("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "", name, `{"webhooks":[{"name":"hook.example.com","clientConfig":{},"rules":`+rules+`,"sideEffects":"None","admissionReviewVersions":["v1"]}]}`)
		add("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "", name, `{"spec":{"matchConstraints":{"resourceRules":`+rules+`}}}`)
		add("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "", name, `{"spec":{"policyName":"`+name+`","validationActions":["Deny"]}}`)
		add("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding", "", name, `{"spec":{"policyName":"`+name+`"}}`)
		add("v1", "Pod", "elsewhere", name, `{"spec":{"nodeName":"n","containers":[{"name":"c","image":"i","env":[{"name":"A","value":"b"}],"resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Running"}}`)
		add("policy/v1", "PodDisruptionBudget", "elsewhere", name, `{"spec":{"selector":{"matchLabels":{"app":"other"}}},"status":{"disruptionsAllowed":1}}`)
	}
	return all
}

// TestServerOfOthers checks answers of a server to the requests for fit and admission. A damaged
// part becomes a gap, and the other parts do not change.
func TestServerOfOthers(t *testing.T) {
	s := settingsOf(t)
	folder := t.TempDir()
	isolate(t, folder)
	t.Setenv("COLUMNS", "")
	type part struct {
		What, Why string
	}
	type document struct {
		OtherPods struct{ Pods, Budgets []any }
		Admission map[string]any
		Gaps      []part
	}
	snapshotOf := func(r *result) (d document) {
		if err := json.Unmarshal([]byte(r.out), &d); err != nil {
			t.Fatalf("%v: %s%s", err, r.errs, r.out)
		}
		return d
	}
	gapOf := map[string]string{
		"pods": "otherpods", "poddisruptionbudgets": "otherpoddisruptionbudgets", "namespaces": "namespaces", "serviceaccounts": "serviceaccounts", "resourcequotas": "resourcequotas",
		"limitranges": "limitranges", "priorityclasses": "priorityclasses", "validatingwebhookconfigurations": "webhooks", "mutatingwebhookconfigurations": "webhooks",
		"validatingadmissionpolicybindings": "webhooks", "mutatingadmissionpolicybindings": "webhooks", "validatingadmissionpolicies": "",
	}
	asked := slices.Sorted(maps.Keys(gapOf))
	damaged := 0
	for i := range max(40, s.cases/10) {
		if s.only >= 0 {
			i = s.only
		}
		r := rand.New(rand.NewPCG(s.seed, uint64(i)^0xf17))
		b := *bases()[r.IntN(len(bases()))]
		b.objects = slices.Concat(b.objects, fitObjects(b.namespace))
		api := newServer(&b)
		args := []string{"snapshot", "--fit", "-n", b.namespace, b.name, "--server", api.URL}
		sound := snapshotOf(run(args, nil))
		if len(sound.Gaps) > 0 || len(sound.OtherPods.Pods) < 2 || len(sound.OtherPods.Budgets) != 2 || len(sound.Admission["hooks"].([]any)) != 8 {
			t.Fatalf("%s: %v, %v, hooks %v", b.title, sound.Gaps, sound.OtherPods, sound.Admission["hooks"])
		}
		if without := run(slices.Concat(args[:1], args[2:]), nil); strings.Contains(without.out, `"allNodes":true`) || !strings.Contains(without.out, `"admission":{"namespace":{`) {
			t.Fatalf("%s: without --fit, rows of all nodes, or nothing of admission: %s", b.title, without.out)
		}
		twist, what, seed := pick(r, twists), pick(r, asked), r.Uint64()
		page := fmt.Sprint(r.IntN(2))
		if what == "namespaces" || what == "serviceaccounts" {
			page = "one"
		}
		api.mu.Lock()
		api.twisted = what + " " + page
		api.twist = func(a object) []byte { return twist.do(a, rand.New(rand.NewPCG(seed, 1))) }
		api.mu.Unlock()
		got := run(args, nil)
		api.Close()
		faults := judge(got, b.secrets)
		if got.status == 0 && what != "pods" && what != "poddisruptionbudgets" { // the Snapshot itself needs these
			d := snapshotOf(got)
			for _, g := range d.Gaps {
				if g.What != gapOf[what] {
					faults = append(faults, fmt.Sprintf("a gap in %s, which is sound", g.What))
				}
				damaged++
			}
		}
		if len(faults) > 0 {
			t.Errorf("HOSTILE_SEED=%d HOSTILE_ONLY=%d, %s: the answer to %s %s, %s\n%s", s.seed, i, b.title, what, page, twist.name, strings.Join(faults, "\n"))
		}
		if s.only >= 0 {
			t.Logf("%s %s, %s: status %d\n%s", what, page, twist.name, got.status, got.errs)
			return
		}
	}
	if damaged == 0 {
		t.Error("no answer was a gap")
	}
}
