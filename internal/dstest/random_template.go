package dstest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Pair holds two templates. Edits were applied to a copy of Old to make New.
type Pair struct {
	Old, New template.Content
	Edits    []string
	Secrets  []string // literal values of variables in both templates; each occurs nowhere else
}

// Templates returns two realistic templates that differ by one to four edits. They have long
// commands, multi-line texts, unusual blanks and invisible characters. The same seed always gives
// the same Pair.
func Templates(seed int64) Pair {
	d := &pairing{Rand: rand.New(rand.NewPCG(uint64(seed), 7))}
	spec := map[string]any{"containers": d.containers("agent", 1+d.IntN(3)), "tolerations": d.tolerations()}
	if d.IntN(2) == 0 {
		spec["initContainers"] = d.containers("init", 1+d.IntN(2))
	}
	if d.IntN(2) == 0 {
		spec["priorityClassName"] = d.word()
	}
	old := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"app": "agent"}, "annotations": map[string]any{"example.com/note": d.text(), "checksum/config": d.digest()}},
		"spec":     spec,
	}
	raw, err := json.Marshal(old)
	if err != nil {
		panic(err)
	}
	p := Pair{Old: d.parsed(raw), New: d.parsed(raw)}
	for range 1 + d.IntN(4) {
		edit := slices.Sorted(maps.Keys(edits))[d.IntN(len(edits))]
		edits[edit](d, p.New)
		p.Edits = append(p.Edits, edit)
	}
	p.Secrets = d.secrets
	return p
}

type pairing struct {
	*rand.Rand
	secrets []string
}

func (d *pairing) parsed(raw []byte) template.Content {
	c, err := template.Parse(json.RawMessage(raw))
	if err != nil {
		panic(err)
	}
	return c
}

func (d *pairing) pick(of ...string) string { return of[d.IntN(len(of))] }

func (d *pairing) word() string {
	return d.pick("agent", "node", "metrics", "level", "path", "bind-address", "config", "kubelet", "storage", "driver", "plugin", "retry", "x", "ünï")
}

func (d *pairing) digest() string {
	return fmt.Sprintf("%016x%016x%016x%016x", d.Uint64(), d.Uint64(), d.Uint64(), d.Uint64())
}

func (d *pairing) secret() string {
	s := fmt.Sprintf("%016x", d.Uint64())
	d.secrets = append(d.secrets, s)
	return s
}

// text returns a text, which may be long or have several lines or unusual blanks.
func (d *pairing) text() string {
	var b strings.Builder
	for range d.IntN(30) {
		b.WriteString(d.word() + d.pick(" ", " ", " ", " ", " ", "  ", "\n", "\t", "\u00a0", ": ", "\u200b", "#", "'", `"`))
	}
	return b.String()
}

func (d *pairing) arg() string {
	switch d.IntN(8) {
	case 0:
		return "-" + d.pick("v", "c", "f")
	case 1:
		return d.text()
	case 2:
		return d.pick("1", "true", "null", "", " ", "0x1F", "1e3", "-")
	}
	value := d.pick("127.0.0.1:9100", "debug", "5", "30s", "/var/lib/"+d.word(), "a=b,c=d", strings.Repeat(d.word()+",", d.IntN(20)), "https://"+d.word()+".example.com:8443/"+d.word()+"?x=1&y=2")
	return "--" + d.word() + "-" + d.word() + d.pick("=", "=", "=", " ") + value
}

func (d *pairing) args() []any {
	var out []any
	for range d.IntN(14) {
		out = append(out, d.arg())
	}
	return append(out, "--last")
}

func (d *pairing) env() []any {
	var out []any
	for i := range d.IntN(5) {
		v := map[string]any{"name": fmt.Sprintf("VAR_%d", i)}
		switch d.IntN(4) {
		case 0:
			v["valueFrom"] = map[string]any{"secretKeyRef": map[string]any{"name": d.word(), "key": "k"}}
		case 1:
			v["value"] = d.secret() + "\n" + d.secret()
		default:
			v["value"] = d.secret()
		}
		out = append(out, v)
	}
	return append(out, map[string]any{"name": "VAR_X", "value": d.secret()})
}

func (d *pairing) image() string {
	return d.pick("quay.io", "registry.example.com:5000", "localhost:5000", "ghcr.io/acme/team") + "/" + d.word() + "/agent" + d.pick(":1.2.3", ":v2", "", ":1.2.3@sha256:"+d.digest(), "@sha256:"+d.digest())
}

func (d *pairing) containers(name string, n int) []any {
	var out []any
	for i := range n {
		out = append(out, map[string]any{
			"name": fmt.Sprintf("%s-%d", name, i), "image": d.image(), "args": d.args(), "command": []any{"/bin/sh", "-c", d.text()}, "env": d.env(),
			"ports":         []any{map[string]any{"containerPort": 80, "name": "http"}, map[string]any{"containerPort": 9100}},
			"livenessProbe": map[string]any{"httpGet": map[string]any{"path": "/" + d.word(), "port": 80}},
			"resources":     map[string]any{"limits": map[string]any{"cpu": "1", "memory": "128Mi"}},
		})
	}
	return out
}

func (d *pairing) tolerations() []any {
	out := []any{map[string]any{"operator": "Exists"}}
	for range d.IntN(6) {
		out = append(out, map[string]any{"key": d.word() + ".example.com/" + d.word(), "operator": d.pick("Exists", "Equal"), "effect": d.pick("NoSchedule", "NoExecute")})
	}
	return out
}

func specOf(c template.Content) map[string]any { return c["spec"].(map[string]any) }

func (d *pairing) container(c template.Content) map[string]any {
	list := specOf(c)["containers"].([]any)
	return list[d.IntN(len(list))].(map[string]any)
}

// nearly returns a text with a difference from s that is easily overlooked.
func (d *pairing) nearly(s string) string {
	at := 0
	for i := range s { // at some character
		if d.IntN(len(s)) == 0 {
			at = i
		}
	}
	switch d.IntN(9) {
	case 0:
		return s + " "
	case 1:
		return " " + s
	case 2:
		return s + "\n"
	case 3:
		return s[:at] + "\u200b" + s[at:]
	case 4:
		return strings.Replace(s+" ", " ", "\u00a0", 1)
	case 5:
		return s[:at] + "  " + s[at:]
	case 6:
		return s[:at] + "\t" + s[at:]
	case 7:
		return s[:at] + `\u200b` + s[at:]
	}
	return s[:at] + "z" + s[at:]
}

// changed makes one change to a list.
func (d *pairing) changed(list []any, fresh func() any) []any {
	if len(list) == 0 {
		return append(list, fresh())
	}
	i := d.IntN(len(list))
	switch d.IntN(5) {
	case 0:
		return slices.Delete(slices.Clone(list), i, i+1)
	case 1:
		j := d.IntN(len(list))
		list[i], list[j] = list[j], list[i]
	case 2:
		return slices.Insert(slices.Clone(list), i, fresh())
	case 3:
		if s, ok := list[i].(string); ok {
			list[i] = d.nearly(s)
		}
	default:
		list[i] = fresh()
	}
	return list
}

// edits are changes to a template by name.
var edits = map[string]func(*pairing, template.Content){
	"an argument": func(d *pairing, c template.Content) {
		of := d.container(c)
		of["args"] = d.changed(of["args"].([]any), func() any { return d.arg() })
	},
	"an argument's value": func(d *pairing, c template.Content) {
		args := d.container(c)["args"].([]any)
		if len(args) == 0 {
			return
		}
		i := d.IntN(len(args))
		if name, _, found := strings.Cut(args[i].(string), "="); found {
			args[i] = name + "=" + d.pick("0.0.0.0:9100", "info", "6", "/run/"+d.word())
		}
	},
	"a word of the command": func(d *pairing, c template.Content) {
		command := d.container(c)["command"].([]any)
		command[2] = d.nearly(command[2].(string))
	},
	"an image": func(d *pairing, c template.Content) { d.container(c)["image"] = d.image() },
	"nearly the same image": func(d *pairing, c template.Content) {
		of := d.container(c)
		image := of["image"].(string)
		switch d.IntN(5) {
		case 0:
			of["image"] = image[:len(image)-1] + d.pick("0", "1", "a", "f")
		case 1:
			of["image"] = strings.Replace(image, ":5000", ":5001", 1)
		case 2:
			of["image"] = strings.Replace(image, "quay.io", "ghcr.io", 1)
		default:
			of["image"] = d.nearly(image)
		}
	},
	"a variable": func(d *pairing, c template.Content) {
		of, n := d.container(c), d.IntN(5)
		env := of["env"].([]any)
		if n == 4 || len(env) == 0 {
			of["env"] = append([]any{map[string]any{"name": "VAR_NEW", "value": d.secret()}}, slices.DeleteFunc(env, func(v any) bool { return v.(map[string]any)["name"] == "VAR_NEW" })...)
			return
		}
		i := d.IntN(len(env))
		switch n {
		case 0:
			of["env"] = slices.Delete(slices.Clone(env), i, i+1)
		case 1:
			d.Shuffle(len(env), func(i, j int) { env[i], env[j] = env[j], env[i] })
		case 2:
			env[i] = map[string]any{"name": env[i].(map[string]any)["name"], "value": d.secret()}
		case 3:
			env[i] = map[string]any{"name": env[i].(map[string]any)["name"], "valueFrom": map[string]any{"fieldRef": map[string]any{"fieldPath": "spec.nodeName"}}}
		}
	},
	"a field that no type has": func(d *pairing, c template.Content) {
		of := d.container(c)
		switch d.IntN(3) {
		case 0:
			of["future"] = d.secret()
		case 1:
			of["env"] = append(of["env"].([]any), map[string]any{"name": fmt.Sprintf("ODD_%d", d.IntN(1e6)), "valeu": d.secret()})
		case 2:
			specOf(c)["future"] = map[string]any{d.secret(): []any{d.secret()}}
		}
	},
	"the type of a port": func(d *pairing, c template.Content) {
		get := d.container(c)["livenessProbe"].(map[string]any)["httpGet"].(map[string]any)
		if get["port"] == "80" {
			get["port"] = json.Number("80")
		} else {
			get["port"] = "80"
		}
	},
	"the order of containers or ports": func(d *pairing, c template.Content) {
		if list := specOf(c)["containers"].([]any); len(list) > 1 && d.IntN(2) == 0 {
			list[0], list[1] = list[1], list[0]
			return
		}
		slices.Reverse(d.container(c)["ports"].([]any))
	},
	"a toleration": func(d *pairing, c template.Content) {
		list := specOf(c)["tolerations"].([]any)
		specOf(c)["tolerations"] = d.changed(list, func() any {
			return map[string]any{"key": d.word(), "operator": "Equal", "value": d.pick("", "1", "true"), "effect": d.pick("NoSchedule", "")}
		})
	},
	"an annotation": func(d *pairing, c template.Content) {
		all := c["metadata"].(map[string]any)["annotations"].(map[string]any)
		switch d.IntN(3) {
		case 0:
			all["example.com/note"] = d.nearly(all["example.com/note"].(string))
		case 1:
			all["checksum/config"] = d.digest()
		case 2:
			all["example.com/new"] = d.text()
		}
	},
	"a limit": func(d *pairing, c template.Content) {
		d.container(c)["resources"].(map[string]any)["limits"].(map[string]any)["memory"] = d.pick("256Mi", "128Mi ", "134217728", "0.125Gi")
	},
	"a class": func(d *pairing, c template.Content) {
		if class, ok := specOf(c)["priorityClassName"].(string); ok {
			specOf(c)["priorityClassName"] = d.nearly(class)
			return
		}
		specOf(c)["priorityClassName"] = d.word()
	},
	"a container": func(d *pairing, c template.Content) {
		list := specOf(c)["containers"].([]any)
		if len(list) > 1 {
			specOf(c)["containers"] = list[1:]
			return
		}
		specOf(c)["containers"] = append(list, d.containers(fmt.Sprintf("more-%d", d.IntN(1e6)), 1)...)
	},
}
