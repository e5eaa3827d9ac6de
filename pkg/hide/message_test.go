package hide

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestMessages tests what remains of messages of API servers, webhooks,
// kubelets and programs. WORD is a value that is a word and part of names; PASS
// is a word that is not; KEY, LONG, URL and CERT are secrets; ENDPOINT, ADDRESS
// and SIZE look like names and numbers; VERSION occurs in an image.
func TestMessages(t *testing.T) {
	v := ValuesOf([]string{"kube-system", "agent"}, valued(t, `
metadata: {labels: {app: agent}}
spec:
  containers:
  - name: agent
    image: example.com/agent:2.1.0-rc7
    args: [--config=/etc/agent/conf99x.yaml]
    env:
    - {name: WORD, value: longhorn}
    - {name: PASS, value: changeme}
    - {name: KEY, value: s3cret}
    - {name: LONG, value: qzvxkjwpfhgmtrbl}
    - {name: LONGER, value: qzvxkjwpfhgmtrbl-2}
    - {name: URL, value: "postgres://agent:pa55@db:5432/agent"}
    - {name: CERT, value: "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END KEY-----"}
    - {name: QUOTED, value: "a \"s3cr3t\" <b>"}
    - {name: ENDPOINT, value: "unix:///csi/csi.sock"}
    - {name: ADDRESS, value: "10.0.0.1:8080"}
    - {name: SOCKET6, value: "fd00:10:244::1"}
    - {name: SIZE, value: 104857600Gi}
    - {name: VERSION, value: 2.1.0-rc7}
    - {name: CONFIG, value: conf99x.yaml}
    - {name: SECRET_NAME, value: db-creds-x7f9q2}
    - {name: DEBUG, value: "1"}
    - {name: MODE, value: required}
    - {name: SIGN, value: "=>"}
    - {name: NONE, value: ""}
  initContainers: [{name: init, env: [{name: INIT, value: 1n1tial-Secret}]}]
`))
	for _, tt := range []struct{ message, want, why string }{
		// The API server, about names.
		{`namespaces "longhorn-system" not found`, "", "a word that is part of a name"},
		{`namespaces "longhorn" not found`, "", "a word that is a name"},
		{`daemonsets.apps "longhorn" is forbidden: User "longhorn" cannot patch resource "daemonsets" in API group "apps" in the namespace "longhorn"`, "", "a user, and a namespace"},
		{`serviceaccounts "db-creds-x7f9q2" is forbidden: User "dev" cannot get`, "", "a name, however it reads"},
		{`pods "agent-x" is forbidden: error looking up service account kube-system/longhorn: serviceaccount "longhorn" not found`, "", "an account"},
		{`Operation cannot be fulfilled on daemonsets.apps "agent": the object has been modified; please apply your changes to the latest version and try again`, "", "a conflict"},
		{`admission webhook "validate.longhorn.io" denied the request: no`, "", "a webhook's name"},
		{`DaemonSet.apps "Agent_1" is invalid: metadata.name: Invalid value: "Agent_1": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters`, "", "a name that is invalid"},
		{`spec.template.spec.containers[0].name: Required value`, "", "the word of a value within the server's own"},
		{`DaemonSet.apps "agent" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"longhorn"}}: field is immutable`, "", "a selector"},
		{`spec.template.spec.volumes[0].name: Duplicate value: "longhorn"`, "", "a volume's name"},
		{`spec.template.spec.containers[0].imagePullPolicy: Unsupported value: "required": supported values: "Always", "IfNotPresent", "Never"`, "", "another field"},
		{`exceeded quota: longhorn, requested: pods=1, used: pods=5, limited: pods=5`, "", "a quota"},
		{`violates PodSecurity "restricted:latest": hostPath volumes (volume "longhorn"), allowPrivilegeEscalation != false (container "agent" must set it)`, "", "Pod Security"},
		{`Apply failed with 1 conflict: conflict with "longhorn" using apps/v1: .spec.template.spec.containers[name="agent"].env[name="KEY"].value`, "", "a conflict of server-side apply"},

		// The API server, about values.
		{`spec.template.spec.containers[0].env[0].value: Invalid value: "longhorn": no`, `spec.template.spec.containers[0].env[0].value: Invalid value: HIDDEN: no`, "a value that is invalid"},
		{`spec.template.spec.containers[0].env[0].value: Invalid value: 5: no`, `spec.template.spec.containers[0].env[0].value: Invalid value: HIDDEN: no`, "one of another type, which nobody knew"},
		{`spec.template.spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when ` + "`value`" + ` is not empty`, "", "none"},
		{`patch: Invalid value: "map[spec:map[template:map[spec:map[containers:[map[env:[map[name:WORD value:longhorn]] name:agent]]]]]]": strict decoding error: unknown field "spec.x"`, `patch: Invalid value: "HIDDEN": strict decoding error: unknown field "spec.x"`, "a patch, as Go prints it"},
		{`patch: Invalid value: "{\"spec\":{\"value\":\"1234\"}}": quantities must match`, `patch: Invalid value: "HIDDEN": quantities must match`, "a patch, as JSON"},
		{`patch: Invalid value: "{\"spec\":{\"env\":[{\"value\":\"long…`, `patch: Invalid value: "HIDDEN`, "one that was cut"},
		{`map: map[name:WORD value:longhorn] does not contain declared merge key: name`, `map: map[name:WORD value:HIDDEN] does not contain declared merge key: name`, "a merge"},
		{`map: map[value:two words valueFrom:map[]] does not contain`, `map: map[value:HIDDEN valueFrom:map[]] does not contain`, "of a value that nobody knew"},
		{`failed to create typed patch object (kube-system/agent; apps/v1, Kind=DaemonSet): .spec.template.spec.containers[name="agent"].env[name="WORD"].value: expected string, got &value.valueUnstructured{Value:5}`, `failed to create typed patch object (kube-system/agent; apps/v1, Kind=DaemonSet): .spec.template.spec.containers[name="agent"].env[name="WORD"].value: expected string, got &value.valueUnstructured{Value:HIDDEN}`, "a server-side apply"},
		{`v1.EnvVar.Value: ReadString: expects " or n, but found 1, error found in #10 byte of ...|"value":12345},{"nam|..., bigger context ...|"env":[{"name":"PASS","value":12345},{"name":"X"}]|...`, `v1.EnvVar.Value: ReadString: expects " or n, but found 1, error found in #10 byte of ...|HIDDEN|..., bigger context ...|HIDDEN|...`, "a decoder of older servers"},
		{`DaemonSet in version "v1" cannot be handled as a DaemonSet: json: cannot unmarshal number into Go struct field EnvVar.spec.template.spec.containers.env.value of type string`, "", "a decoder of today's"},
		{"pod updates may not change fields other than image:\n  core.PodSpec{Containers: []core.Container{{Env: []core.EnvVar{{Name: \"WORD\", Value: \"longhorn\"}, {Name:\"X\", Value:\"new\"}}}}}", "pod updates may not change fields other than image:\n  core.PodSpec{Containers: []core.Container{{Env: []core.EnvVar{{Name: \"WORD\", Value: HIDDEN}, {Name:\"X\", Value:HIDDEN}}}}}", "a difference of structs"},
		{`container {Name:agent Env:[{Name:WORD Value:longhorn ValueFrom:nil}]} has no limits`, `container {Name:agent Env:[{Name:WORD Value:HIDDEN ValueFrom:nil}]} has no limits`, "a struct"},

		// Webhooks and policies.
		{`admission webhook "v.example.com" denied the request: KEY is "s3cret", a literal`, `admission webhook "v.example.com" denied the request: KEY is "HIDDEN", a literal`, "a secret in somebody's sentence"},
		{`denied: qzvxkjwpfhgmtrbl-2, qzvxkjwpfhgmtrbl`, `denied: HIDDEN, HIDDEN`, "one that begins as another does"},
		{`denied: PASS=changeme, WORD: longhorn and DEBUG=1 are literals`, `denied: PASS=HIDDEN, WORD: HIDDEN and DEBUG=HIDDEN are literals`, "a word behind its name, however short"},
		{`denied: PASS="changeme" and 'WORD' => 'longhorn'`, `denied: PASS="HIDDEN" and 'WORD' => 'HIDDEN'`, "in quotes"},
		{`denied: MY_PASS=changeme WORD=longhorn-system`, "", "another variable, another value"},
		{`denied: MODE is required`, "", "the word of a value within a sentence"},
		{`container <{"env": [{"name": "WORD", "value": "longhorn"}, {"name": "X", "value": "it's \"new\""}], "image": "longhorn"}> has no resource limits`, `container <{"env": [{"name": "WORD", "value": HIDDEN}, {"name": "X", "value": HIDDEN}], "image": "longhorn"}> has no resource limits`, "an object, and a value in it that nobody knew"},
		{`denied: {\"name\":\"X\",\"value\":\"it's \\\"new\\\"\",\"image\":\"longhorn\"}`, `denied: {\"name\":\"X\",\"value\":HIDDEN,\"image\":\"longhorn\"}`, "an object within a string"},
		{"denied:\n- name: WORD\n  value: longhorn\n- name: X\n  value: 'n e w'", "denied:\n- name: WORD\n  value: HIDDEN\n- name: X\n  value: HIDDEN", "YAML"},
		{`denied: [{name: X, value: new}]`, `denied: [{name: X, value: HIDDEN}]`, "in braces"},
		{`validation error: literal secrets are not allowed. rule no-literals failed at path /spec/template/spec/containers/0/env/0/value/`, "", "a path"},
		{`ValidatingAdmissionPolicy 'longhorn' with binding 'longhorn' denied request: failed expression: object.spec.x == 'required'`, "", "an expression"},
		{`denied: "a \"s3cr3t\" <b>"`, `denied: "HIDDEN"`, "as it is quoted"},
		{`denied: {"text":"a \"s3cr3t\" \u003cb\u003e"}`, `denied: {"text":"HIDDEN"}`, "as JSON quotes it"},
		{`denied: -----BEGIN KEY----- MIIEvQIBADANBgkqhkiG9w0 -----END KEY----- is a key`, `denied: HIDDEN is a key`, "lines in one"},
		{`denied: line 2: MIIEvQIBADANBgkqhkiG9w0`, `denied: line 2: HIDDEN`, "one of several lines"},
		{`denied: xqzvxkjwpfhgmtrblx`, `denied: xHIDDENx`, "a long one within a word"},
		{`denied: s3cretary`, "", "a short one within a word"},
		{`denied: qzvxkjwpfhgmtrb…`, `denied: HIDDEN…`, "one that was cut"},

		// The kubelet, the runtime and the scheduler.
		{`MountVolume.SetUp failed for volume "conf" : configmap "longhorn" not found`, "", "a ConfigMap"},
		{`MountVolume.SetUp failed for volume "creds" : secret "db-creds-x7f9q2" not found`, "", "a Secret's name, however it reads"},
		{`the password is in secret "db-creds-x7f9q2"?`, `the password is in secret "HIDDEN"?`, "a value in a sentence about secrets"},
		{`MountVolume.MountDevice failed: kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name longhorn not found in the list of registered CSI drivers`, "", "a driver"},
		{`Back-off pulling image "example.com/agent:2.1.0-rc7": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "example.com/agent:2.1.0-rc7": not found`, "", "an image, which has its version"},
		{`open /etc/agent/conf99x.yaml: no such file or directory`, "", "what the arguments show"},
		{`OCI runtime create failed: runc create failed: unable to start container process: exec: "longhorn": executable file not found in $PATH: unknown`, "", "a command"},
		{`OCI runtime create failed: exec: "--token=s3cret": executable file not found`, `OCI runtime create failed: exec: "--token=HIDDEN": executable file not found`, "an argument that a variable was put into"},
		{`Readiness probe failed: dial unix:///csi/csi.sock: connect: no such file or directory`, "", "a socket"},
		{`Readiness probe failed: Get "http://10.0.0.1:8080/healthz": dial tcp 10.0.0.1:8080: connect: connection refused`, "", "an address"},
		{`Liveness probe failed: {"status":"DOWN","details":{"error":"password s3cret refused"}}`, `Liveness probe failed: {"status":"DOWN","details":{"error":"password HIDDEN refused"}}`, "output of a probe"},
		{`dial tcp [fd00:10:244::1]:443: i/o timeout`, "", "an address of the other family"},
		{`0/12 nodes are available: 1 node(s) had untolerated taint(s) {longhorn: required}. preemption: 0/12`, "", "the scheduler"},

		// Programs.
		{`panic: cannot connect to postgres://agent:pa55@db:5432/agent: refused`, `panic: cannot connect to HIDDEN: refused`, "an address with a password"},
		{`cannot create 104857600Gi`, `cannot create HIDDEN`, "a long number"},
		{`maxUnavailable 0 => 1`, "", "a short one that is no word"},
		{`error: longhorn volume is required, 1 given`, "", "words"},
		{`1n1tial-Secret is of an init container`, `HIDDEN is of an init container`, "of an init container"},
		{``, "", "nothing"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if tt.want == "" {
				tt.want = tt.message
			}
			want := strings.ReplaceAll(tt.want, "HIDDEN", template.Hidden)
			got := v.Hide(tt.message)
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if again := v.Hide(got); again != got {
				t.Errorf("twice: %s", again)
			}
		})
	}
	if got, want := new(Values).Hide(`x: [{"name":"A","value":"s3cret"}]`), `x: [{"name":"A","value":`+template.Hidden+`}]`; got != want {
		t.Errorf("without a template: %s", got)
	}
}

func valued(t *testing.T, text string) template.Content {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c, err := template.Parse(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestMessagesTellNoSecret checks that a value of 16 characters that does not
// look like a word is hidden in every message that quotes it, in any form,
// whether it is the value of a variable or of a field that the API's types do
// not list.
func TestMessagesTellNoSecret(t *testing.T) {
	frames := []string{
		"%s", "x %s y", `"%s"`, "'%s'", "(%s)", "a=%s", "https://u:%s@h/", "https://h/%s/x?y", "x-%s-y", "_%s_", "%[1]s%[1]s", "%s.", "%s…", "…%s", `{"a":"%s"}`, `"{\"a\":\"%s\"}"`, "map[a:%s b:c]",
		"{%s}", "[%s]", "\n%s\n", "a:%s", "/%s/", "Value:%s", "value: %s", `Invalid value: "%s": no`, `denied: token "%s" not found`, `secret %s`, "%s%%", "@%s@", "ä%sö",
	}
	alphabets := []string{"abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz0123456789", "0123456789abcdef", "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"}
	for seed := range cases.Of(uint64(1000)) {
		r := rand.New(rand.NewPCG(seed, 3))
		letters := alphabets[r.IntN(len(alphabets))]
		secret := make([]byte, 16)
		for i := range secret {
			secret[i] = letters[r.IntN(len(letters))]
		}
		where := []string{
			`{"spec":{"containers":[{"name":"a","env":[{"name":"A","value":%s}]}]}}`, `{"spec":{"initContainers":[{"name":"a","env":[{"name":"A","value":%s}]}]}}`,
			`{"spec":{"containers":[{"name":"a","env":[{"name":"A","vlaue":%s}]}]}}`, `{"spec":{"containers":[{"name":"a","enviroment":{"A":[%s]}}]}}`,
		}[r.IntN(4)]
		quoted, err := json.Marshal(string(secret))
		if err != nil {
			t.Fatal(err)
		}
		c, err := template.Parse(json.RawMessage(fmt.Appendf(nil, where, quoted)))
		if err != nil {
			t.Fatal(err)
		}
		v := ValuesOf([]string{"kube-system", "agent"}, c)
		for _, frame := range frames {
			message := fmt.Sprintf(frame, secret)
			if got := v.Hide(message); strings.Contains(got, string(secret)) {
				t.Fatalf("seed %d: %q, of %s, became %q", seed, message, inJSON(c), got)
			}
		}
	}
}
