// Command generate writes two files that this program needs from client-go's tables of all API
// groups, so that it does not link them: the kinds of each group, and the schema for server-side
// apply of a DaemonSet.
package main

import (
	"log"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v2"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

//go:generate go run . ../object/kinds.txt ../manifest/daemonset.yaml

func main() {
	schema, err := daemonSetSchema()
	if err == nil {
		err = os.WriteFile(os.Args[1], []byte(kinds()), 0o644)
	}
	if err == nil {
		err = os.WriteFile(os.Args[2], schema, 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// kinds returns one line for each apiVersion: the apiVersion, followed by its kinds.
func kinds() string {
	of := map[string][]string{}
	for k := range scheme.Scheme.AllKnownTypes() {
		if gv := k.GroupVersion().String(); k.Version != "__internal" {
			of[gv] = append(of[gv], k.Kind)
		}
	}
	var lines []string
	for _, gv := range slices.Sorted(maps.Keys(of)) {
		slices.Sort(of[gv])
		lines = append(lines, gv+" "+strings.Join(of[gv], " "))
	}
	return strings.Join(lines, "\n") + "\n"
}

// daemonSetSchema returns the schema of a DaemonSet and of the types it consists of, as YAML.
func daemonSetSchema() ([]byte, error) {
	d := &appsv1.DaemonSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}}
	typed, err := applyconfigurations.NewTypeConverter(scheme.Scheme).ObjectToTyped(d)
	if err != nil {
		return nil, err
	}
	needed := map[string]bool{}
	var need func(schema.TypeRef)
	var read func(schema.Atom)
	need = func(r schema.TypeRef) {
		if r.NamedType == nil {
			read(r.Inlined)
			return
		}
		if needed[*r.NamedType] {
			return
		}
		needed[*r.NamedType] = true
		if t, ok := typed.Schema().FindNamedType(*r.NamedType); ok {
			read(t.Atom)
		}
	}
	read = func(a schema.Atom) {
		if a.List != nil {
			need(a.List.ElementType)
		}
		if a.Map != nil {
			need(a.Map.ElementType)
			for _, f := range a.Map.Fields {
				need(f.Type)
			}
		}
	}
	need(typed.TypeRef())
	var out schema.Schema
	for _, t := range typed.Schema().Types {
		if needed[t.Name] {
			out.Types = append(out.Types, t)
		}
	}
	return yaml.Marshal(&out)
}
