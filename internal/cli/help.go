package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the maximum width of a line in a help text.
const helpWidth = 80

// Annotations of a command: the table of its exit statuses, and other tables.
const (
	exitTable = "exit"
	moreTable = "more"
)

// exitStatusTable returns a table of exit statuses, with a note below it.
func exitStatusTable(withExitCode, note string, rows ...row) string {
	head := "Exit status"
	if withExitCode != "" {
		head += " (" + withExitCode + " only with --exit-code)"
	}
	rows = append(rows, row{strconv.Itoa(statusInterrupted), "interrupted, for example by Ctrl-C"})
	return strings.TrimRight(head+":\n"+table(rows...)+"\n"+paragraphs(note), "\n")
}

// row is a row of a table: a word and its meaning.
type row [2]string

// table returns the rows as a table with a wrapped right column.
func table(rows ...row) string { return tableWithWidth(widestLeft(rows), rows) }

// widestLeft returns the width that the left column of a table needs.
func widestLeft(rows []row) int {
	widest := 0
	for _, r := range rows {
		if n := len(r[0]); n <= maxLeft {
			widest = max(widest, n)
		}
	}
	return widest
}

// tableWithWidth returns a table whose left column has the given width.
func tableWithWidth(widest int, rows []row) string {
	var b strings.Builder
	for _, r := range rows {
		left := r[0]
		if len(left) > widest {
			fmt.Fprintln(&b, "  "+left)
			left = ""
		}
		for _, line := range wrapText(r[1], helpWidth-widest-4) {
			fmt.Fprintf(&b, "  %-*s  %s\n", widest, left, line)
			left = ""
		}
	}
	return b.String()
}

// maxLeft is the maximum width of the left column of a table. A longer word gets a line of its own.
const maxLeft = 36

// wrapText splits a text into lines of at most width bytes. It does not break words that are
// longer.
func wrapText(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// paragraphs removes the indentation of a text and wraps each paragraph.
func paragraphs(text string) string {
	var out []string
	for _, p := range strings.Split(strings.ReplaceAll(strings.TrimSpace(text), "\t", ""), "\n\n") {
		out = append(out, strings.Join(wrapText(p, helpWidth), "\n"))
	}
	return strings.Join(out, "\n\n")
}

// help returns the help of a command: summary, examples, usage, details, exit statuses and flags.
func help(cmd *cobra.Command) string {
	parts := []string{cmd.Short + "."}
	if cmd.HasExample() {
		parts = append(parts, "Examples:\n"+cmd.Example)
	}
	parts = append(parts, "Usage:\n  "+strings.Join(usages(cmd), "\n  "))
	if cmd.Long != "" {
		parts = append(parts, strings.TrimSpace(cmd.Long))
	}
	parts = append(parts, commands(cmd)...)
	if rows := cmd.Annotations[moreTable]; rows != "" {
		parts = append(parts, rows)
	}
	if rows := cmd.Annotations[exitTable]; rows != "" {
		parts = append(parts, rows)
	}
	parts = append(parts, flagTables(cmd.LocalNonPersistentFlags())...)
	parts = append(parts, "Every command takes kubectl's own flags, such as -n and --context; see\n"+
		strconv.Quote(cmd.Root().CommandPath()+" options")+".")
	for i := range parts {
		parts[i] = strings.TrimRight(parts[i], "\n")
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// usages returns the usage lines of a command.
func usages(cmd *cobra.Command) []string {
	if cmd.HasAvailableSubCommands() {
		return []string{cmd.CommandPath() + " [flags]", cmd.CommandPath() + " COMMAND"}
	}
	return []string{cmd.UseLine()}
}

// commands returns the tables of subcommands, one for each group.
func commands(cmd *cobra.Command) []string {
	var out []string
	for _, group := range append(cmd.Groups(), &cobra.Group{Title: "Commands:"}) {
		var rows []row
		for _, c := range cmd.Commands() {
			if c.GroupID == group.ID && (c.IsAvailableCommand() || c.Name() == "help") {
				rows = append(rows, row{c.Name(), c.Short})
			}
		}
		if len(rows) > 0 {
			out = append(out, group.Title+"\n"+table(rows...))
		}
	}
	return out
}

// flagGroups groups the flags by purpose, in the order of the help.
var flagGroups = []struct {
	title string
	flags []string
}{
	{"the DaemonSets to show", []string{"all-namespaces", "selector"}},
	{"a manifest and how it is applied", []string{"filename", "kustomize", "allow-remote-bases", "server-side",
		"force-conflicts", "field-manager", "server-dry-run"}},
	{"a change to the DaemonSet", daemonSetFlagNames},
	{"a change to the nodes", append(slices.Clone(nodeFlagNames), "like")},
	{"the forecast", []string{"fit", "start", "termination", "request-rate", "request-burst"}},
	{"the revisions to show", []string{"revision", "diff", "unified", "undo"}},
	{"the input", []string{"from", "keep-going", "max-input", "chunk-size", "now", "kubernetes-version"}},
	{"the output", []string{"output", "all", "node", "group-by", "show-values", "redact", "redact-map", "color", "help",
		"version"}},
	{"--watch", []string{"watch", "timeout"}},
	{"exit status", []string{"exit-code", "fail-on"}},

	{"the cluster", []string{"kubeconfig", "context", "cluster", "server", "namespace", "proxy-url"}},
	{"the user", []string{"user", "token", "client-certificate", "client-key", "as", "as-group", "as-uid",
		"as-user-extra"}},
	{"the server's certificate", []string{"certificate-authority", "tls-server-name", "insecure-skip-tls-verify"}},
	{"the requests", []string{"request-timeout", "disable-compression", "v"}},
}

// flagGroup is a group of flags with its title. Title is empty if a command has only one group.
type flagGroup struct {
	Title string
	rows  []row
}

// groupsOf groups the flags of a set by purpose. A set with few flags is a single group.
func groupsOf(set *pflag.FlagSet) []flagGroup {
	var groups []flagGroup
	seen := map[string]bool{}
	for _, g := range flagGroups {
		of := flagGroup{Title: "Flags for " + g.title}
		for _, name := range g.flags {
			if f := set.Lookup(name); f != nil && !f.Hidden {
				seen[name] = true
				of.rows = append(of.rows, flagRow(f))
			}
		}
		if len(of.rows) > 0 {
			groups = append(groups, of)
		}
	}
	var others []row
	set.VisitAll(func(f *pflag.Flag) {
		if !seen[f.Name] && !f.Hidden {
			others = append(others, flagRow(f))
		}
	})
	if len(others) > 0 {
		groups = append(groups, flagGroup{"Other flags", others})
	}
	all := []row{}
	for _, g := range groups {
		all = append(all, g.rows...)
	}
	const few = 8
	if n := len(all); n > 0 && n <= few {
		return []flagGroup{{"", all}}
	}
	return groups
}

// flagTables returns a table with a title for each group of flags.
func flagTables(set *pflag.FlagSet) []string {
	groups := groupsOf(set)
	widest := 0
	for _, g := range groups {
		widest = max(widest, widestLeft(g.rows))
	}
	var out []string
	for _, g := range groups {
		out = append(out, strings.TrimRight(cmp.Or(g.Title, "Flags")+":\n"+tableWithWidth(widest, g.rows), "\n"))
	}
	return out
}

// flagRow returns the table row of a flag, with the placeholder of its value.
func flagRow(f *pflag.Flag) row {
	left := "    --" + f.Name
	if f.Shorthand != "" {
		left = "-" + f.Shorthand + ", --" + f.Name
	}
	if f.Name == "v" {
		left = "-v"
	}
	text := f.Usage
	if f.Value.Type() == "string" && f.DefValue != "" && !strings.Contains(text, "default") {
		text += " (default " + f.DefValue + ")"
	}
	return row{strings.TrimRight(left+" "+placeholderOf(f), " "), text}
}

// placeholders maps each flag to the placeholder of its value in the help. All commands share this
// map.
var placeholders = map[string]string{
	"add-nodes": "N", "chunk-size": "N", "color": "WHEN", "cordon": "NODES", "diff": "A,B", "fail-on": "CONDITIONS",
	"field-manager": "NAME", "filename": "FILE",
	"from": "FILE", "max-input": "SIZE", "group-by": "LABEL", "image": "IMAGE", "kubernetes-version": "VERSION",
	"kustomize": "DIRECTORY", "label": "NODES:LABEL",
	"like": "NODE", "max-surge": "LIMIT", "max-unavailable": "LIMIT", "min-ready-seconds": "SECONDS", "node": "NODES",
	"node-down":     "NODES",
	"node-selector": "LABEL", "now": "TIME", "output": "FORMAT", "redact-map": "FILE", "remove-nodes": "NODES",
	"request-burst": "N", "request-rate": "N",
	"revision": "REVISION", "selector": "LABELS", "start": "DURATION", "strategy": "STRATEGY", "taint": "NODES:TAINT",
	"termination": "DURATION", "timeout": "DURATION", "to-revision": "REVISION", "toleration": "TAINT",
	"uncordon": "NODES", "undo": "REVISION",

	"as": "USER", "as-group": "GROUP", "as-uid": "UID", "as-user-extra": "KEY=VALUE", "cache-dir": "DIRECTORY",
	"certificate-authority": "FILE",
	"client-certificate":    "FILE", "client-key": "FILE", "cluster": "CLUSTER", "context": "CONTEXT",
	"kubeconfig": "FILE",
	"namespace":  "NAMESPACE", "proxy-url": "URL", "request-timeout": "DURATION", "server": "URL",
	"tls-server-name": "NAME",
	"token":           "TOKEN", "user": "USER", "v": "LEVEL",
}

// placeholderOf returns the placeholder of a flag's value, or "" for a flag without a value.
func placeholderOf(f *pflag.Flag) string {
	if f.Value.Type() == "bool" {
		return ""
	}
	return cmp.Or(placeholders[f.Name], "VALUE")
}

// kubectlFlagUsages maps each flag of kubectl to its description, in the style of this program's
// help.
var kubectlFlagUsages = map[string]string{
	"as": "user to impersonate", "as-group": "group to impersonate; repeatable", "as-uid": "UID to impersonate",
	"as-user-extra": "extra field of the user to impersonate; repeatable", "cache-dir": "directory of the cache",
	"certificate-authority": "certificate file of the certificate authority",
	"client-certificate":    "client certificate file for TLS",
	"client-key":            "client key file for TLS", "cluster": "cluster of the kubeconfig to use",
	"context":                  "context of the kubeconfig to use",
	"disable-compression":      "do not ask the server for compressed answers",
	"insecure-skip-tls-verify": "do not check the server's certificate (insecure)",
	"kubeconfig":               "kubeconfig file to use", "namespace": "namespace of the DaemonSets",
	"proxy-url":       "URL of the proxy for requests to the API server",
	"request-timeout": "longest wait for one server request; 0 waits without limit",
	"server":          "address and port of the API server",
	"tls-server-name": "server name to expect in the server's certificate", "token": "bearer token for the API server",
	"user": "user of the kubeconfig to use", "v": "verbosity of the client's logs",
}
