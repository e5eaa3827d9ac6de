package cli_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
)

// resourceNames maps the kinds to the resource names in a collector's layout. Other kinds get files
// of their own.
var resourceNames = map[string]string{
	"apps/v1 DaemonSet": "daemonsets", "apps/v1 ControllerRevision": "controllerrevisions", "v1 Node": "nodes", "v1 Pod": "pods", "v1 Event": "events",
	"policy/v1 PodDisruptionBudget": "poddisruptionbudgets",
}

// named returns the resource, the namespace and the name of an object. ok is false if one of them
// cannot be part of a file name.
func named(o object) (resource, namespace, name string, ok bool) {
	resource = resourceNames[fmt.Sprint(o["apiVersion"], " ", o["kind"])]
	meta, _ := o["metadata"].(object)
	name, ok = meta["name"].(string)
	namespace, _ = meta["namespace"].(string)
	return resource, namespace, name, ok && resource != "" && plainWord(name) && plainWord(namespace)
}

// plainWord reports whether a name is a valid file name.
func plainWord(s string) bool {
	return len(s) < 200 && s != "." && s != ".." && !strings.ContainsFunc(s, func(r rune) bool { return r < '-' || r == '/' || r > 'z' })
}

// grouped groups the objects by namespace and resource. It also returns the other objects.
func (in *input) grouped() (keys [][2]string, groups map[[2]string][]object, rest []any) {
	groups = map[[2]string][]object{}
	for i, o := range in.objects {
		resource, namespace, _, ok := named(o)
		if !ok {
			rest = append(rest, items(in.objects[i:i+1])...)
			continue
		}
		key := [2]string{namespace, resource}
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], o)
	}
	return keys, groups, rest
}

// withoutKind returns the objects without kind and apiVersion.
func withoutKind(objects []object) []any {
	var out []any
	for _, o := range objects {
		item := object{}
		for k, v := range o {
			if k != "kind" && k != "apiVersion" {
				item[k] = v
			}
		}
		out = append(out, item)
	}
	return out
}

func (f *files) part(name string, text []byte) {
	f.parts = append(f.parts, &part{name: name, text: text})
}

// noise adds a file that contains none of the objects.
func (f *files) noise(name string, text []byte) {
	f.parts = append(f.parts, &part{name, text, true})
}

// mustGather uses the layout of OpenShift's collector: one file for each node and pod, lists of the
// other objects, logs, and files without objects.
func (in *input) mustGather(f *files) *files {
	in.sequence = true
	const root = "must-gather.local.5/quay-io-example-sha256-abc/"
	f.from = []string{"must-gather.local.5"}
	keys, groups, rest := in.grouped()
	for _, key := range keys {
		namespace, resource := key[0], key[1]
		where := root + "namespaces/" + namespace + "/"
		if namespace == "" {
			where = root + "cluster-scoped-resources/"
		}
		all := groups[key]
		switch resource {
		case "nodes":
			for i, o := range all {
				_, _, name, _ := named(o)
				f.part(fmt.Sprintf("%score/nodes/%s-%d.yaml", where, name, i), append([]byte("---\n"), inYAML(o)...))
			}
			continue
		case "pods":
			for i, o := range all {
				_, _, name, _ := named(o)
				f.part(fmt.Sprintf("%spods/%s/%s-%d.yaml", where, name, name, i), append([]byte("---\n"), inYAML(o)...))
				f.noise(fmt.Sprintf("%spods/%s/c/c/logs/current.log", where, name), []byte("{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}\n\x1b[31mkind: Node\n"))
			}
		}
		kind := fmt.Sprint(all[0]["kind"], "List")
		f.part(where+"core/"+resource+".yaml", append([]byte("---\n"), inYAML(object{"apiVersion": all[0]["apiVersion"], "kind": kind, "items": withoutKind(all)})...))
	}
	for i, o := range rest {
		f.part(fmt.Sprintf("%scluster-scoped-resources/other/%d.yaml", root, i), inYAML(o))
	}
	f.noise(root+"event-filter.html", []byte("<html>kind: Pod</html>\n"))
	f.noise(root+"timestamp", []byte("2026-11-20 12:00:00\n"))
	f.noise(root+"namespaces/other/core/configmaps.yaml", inYAML(object{"apiVersion": "v1", "kind": "ConfigMapList", "items": []any{object{"metadata": object{"name": "x", "namespace": "other"}, "data": object{"a": "kind: Pod\n"}}}}))
	return f
}

// clusterInfo writes the output of "kubectl cluster-info dump": lists, with logs between them.
func (in *input) clusterInfo(f *files, r *rand.Rand) *files {
	in.sequence = true
	var b bytes.Buffer
	for i, l := range byKind(in.objects) {
		b.Write(indented(l))
		if i > 0 && r.IntN(2) == 0 {
			of := fmt.Sprintf("logs for container c of pod %s/p%d", in.namespace, i)
			fmt.Fprintf(&b, "==== START %s ====\n%s\n==== END %s ====\n", of, pick(r, []string{"", "hello", `{"apiVersion":"v1","kind":"Pod",`, "kind: Node\n---\nitems:", "\x1b[2J\xff", "==== START logs for container x of pod y/z ===="}), of)
		}
	}
	if r.IntN(2) == 0 {
		b.WriteString("Cluster info dumped to standard output\n")
	}
	f.part("cluster-info.txt", b.Bytes())
	return f
}

// arrays uses the layout of old support bundles: arrays of objects without a kind, in files named
// after their kind.
func (in *input) arrays(f *files) *files {
	in.sequence = true
	f.from = []string{"bundle"}
	keys, groups, rest := in.grouped()
	for _, key := range keys {
		name := "bundle/cluster-resources/" + key[1] + ".json"
		if key[0] != "" {
			name = "bundle/cluster-resources/" + key[1] + "/" + key[0] + ".json"
		}
		f.part(name, indented(withoutKind(groups[key])))
	}
	for i, o := range rest {
		f.part(fmt.Sprintf("bundle/other/%d.json", i), indented(o))
	}
	f.noise("bundle/cluster-resources/pod-disruption-budgets-errors.json", []byte("[\"forbidden\"]\n"))
	return f
}

// rancher uses the format of Rancher's collector: lists with the text "null" for each empty value.
func (in *input) rancher(f *files) *files {
	in.sequence = true
	f.from = []string{"supportbundle_5"}
	keys, groups, rest := in.grouped()
	for _, key := range keys {
		all := groups[key]
		name := "supportbundle_5/yamls/cluster/kubernetes/v1/" + key[1] + ".yaml"
		if key[0] != "" {
			name = "supportbundle_5/yamls/namespaced/" + key[0] + "/kubernetes/v1/" + key[1] + ".yaml"
		}
		f.part(name, inYAML(nulls(object{"apiVersion": all[0]["apiVersion"], "kind": fmt.Sprint(all[0]["kind"], "List"), "items": withoutKind(all), "metadata": object{"resourceVersion": ""}})))
	}
	for i, o := range rest {
		f.part(fmt.Sprintf("supportbundle_5/yamls/cluster/other/%d.yaml", i), inYAML(nulls(o)))
	}
	return f
}

// nulls replaces null and empty texts by the text "null".
func nulls(v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for k, e := range v {
			out[k] = nulls(e)
		}
		return out
	case []object:
		return each(v, func(e object) any { return nulls(e) })
	case []any:
		return each(v, nulls)
	case nil:
		return "null"
	case string:
		if v == "" {
			return "null"
		}
	}
	return v
}

func each[T any](all []T, do func(T) any) []any {
	out := make([]any, 0, len(all))
	for _, e := range all {
		out = append(out, do(e))
	}
	return out
}

// packers create archives of files.
var packers = map[string]func(io.Writer, []*part){
	"tar": toTar,
	"tar.gz": func(w io.Writer, parts []*part) {
		z := gzip.NewWriter(w)
		toTar(z, parts)
		_ = z.Close()
	},
	"gzip": func(w io.Writer, parts []*part) {
		z := gzip.NewWriter(w)
		_, _ = z.Write(parts[0].text)
		_ = z.Close()
	},
	"zip": func(w io.Writer, parts []*part) {
		z := zip.NewWriter(w)
		for _, p := range parts {
			to, err := z.Create(p.name)
			if err != nil {
				panic(err)
			}
			_, _ = to.Write(p.text)
		}
		_ = z.Close()
	},
}

func toTar(w io.Writer, parts []*part) {
	t := tar.NewWriter(w)
	_ = t.WriteHeader(&tar.Header{Name: "link", Linkname: "../x", Typeflag: tar.TypeSymlink})
	for _, p := range parts {
		name := strings.ToValidUTF8(strings.ReplaceAll(p.name, "\x00", ""), "?")
		if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(p.text))}); err != nil {
			panic(fmt.Sprintf("%q: %v", name, err))
		}
		_, _ = t.Write(p.text)
	}
	_ = t.Close()
}

// packed puts the files into archives. Sometimes it cuts or splices the last archive.
func (f *files) packed(r *rand.Rand) {
	if len(f.pack) == 0 {
		return
	}
	for _, archive := range f.pack {
		var b bytes.Buffer
		packers[archive](&b, f.parts)
		f.parts = []*part{{name: "dump." + archive, text: b.Bytes()}}
	}
	p := f.parts[0]
	if len(f.did) > 0 && r.IntN(6) > 0 || r.IntN(3) > 0 {
		return
	}
	switch r.IntN(4) {
	case 0, 1:
		p.text = p.text[:1+r.IntN(len(p.text)-1)]
		f.note("%s: cut off", p.name)

	case 2:
		p.text = append(p.text, pick(r, []string{"\x00", "x", string(p.text[:len(p.text)/2]), strings.Repeat("\x00", 1024)})...)
		f.note("%s: something after", p.name)
	case 3:
		p.text = slices.Clone(p.text)
		i := r.IntN(len(p.text))
		p.text[i] ^= 1 << r.IntN(8)
		f.note("%s: a bit of byte %d", p.name, i)
		f.value = f.value || f.pack[len(f.pack)-1] == "tar" // a tar archive has no checksum of its contents
	}
}
