package cli

import (
	"cmp"

	"github.com/spf13/pflag"
)

// placeholders are what stands for the value of a flag in the help, the same in
// every command.
var placeholders = map[string]string{
	"add-nodes": "N", "color": "WHEN", "cordon": "NODES", "diff": "A,B", "fail-on": "CONDITIONS", "field-manager": "NAME", "filename": "FILE",
	"from": "FILE", "group-by": "LABEL", "image": "IMAGE", "kubernetes-version": "VERSION", "kustomize": "FOLDER", "label": "NODES:LABEL",
	"like": "NODE", "max-surge": "LIMIT", "max-unavailable": "LIMIT", "min-ready-seconds": "SECONDS", "node": "NODES", "node-down": "NODES",
	"node-selector": "LABEL", "now": "TIME", "output": "FORMAT", "remove-nodes": "NODES", "request-burst": "N", "request-rate": "N",
	"revision": "REVISION", "selector": "LABELS", "start": "DURATION", "strategy": "STRATEGY", "taint": "NODES:TAINT",
	"termination": "DURATION", "timeout": "DURATION", "to-revision": "REVISION", "toleration": "TAINT", "uncordon": "NODES", "undo": "REVISION",

	"as": "USER", "as-group": "GROUP", "as-uid": "UID", "as-user-extra": "KEY=VALUE", "cache-dir": "FOLDER", "certificate-authority": "FILE",
	"client-certificate": "FILE", "client-key": "FILE", "cluster": "CLUSTER", "context": "CONTEXT", "kubeconfig": "FILE",
	"namespace": "NAMESPACE", "proxy-url": "URL", "request-timeout": "DURATION", "server": "URL", "tls-server-name": "NAME",
	"token": "TOKEN", "user": "USER", "v": "LEVEL",
}

// placeholderOf returns what stands for the value of a flag, or "" if it has none.
func placeholderOf(f *pflag.Flag) string {
	if f.Value.Type() == "bool" {
		return ""
	}
	return cmp.Or(placeholders[f.Name], "VALUE")
}
