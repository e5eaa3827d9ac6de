package cli

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// selfSigned returns a self-signed certificate for these names, or for 127.0.0.1, and its file for
// --certificate-authority.
func selfSigned(t *testing.T, from, until time.Time, names ...string) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "api"}, NotBefore: from, NotAfter: until, DNSNames: names,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if len(names) == 0 {
		c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// startServer starts a server that always gives the same answer. Without a certificate, it uses
// HTTP. If the answer starts with <HTML>, the server asks the client to retry immediately.
func startServer(t *testing.T, c *tls.Config, status int, contentType, body string) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status == http.StatusFound && r.URL.Path != "/login" {
			http.Redirect(w, r, "/login", status)
			return
		}
		w.Header().Set("Content-Type", contentType)
		if strings.HasPrefix(body, "<HTML>") {
			w.Header().Set("Retry-After", "0")
		}
		if status != http.StatusFound {
			w.WriteHeader(status)
		}
		fmt.Fprint(w, body)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(s.Close)
	if s.TLS = c; c != nil {
		s.StartTLS()
	} else {
		s.Start()
	}
	return s.URL
}

// TestConnection checks that each connection failure gives one clear error with a suitable hint. In
// the table, S is the address of the server, C an address that refuses connections, D the directory
// of the files, and FLAGS the flags on the command line.
func TestConnection(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the credential plugins here are shell scripts, and the system's words are those of Unix")
	}
	dir, day := t.TempDir(), 24*time.Hour
	now := time.Now()
	good, goodCA := selfSigned(t, now.Add(-2*day), now.Add(day))
	old, oldCA := selfSigned(t, now.Add(-2*day), now.Add(-day))
	early, earlyCA := selfSigned(t, now.Add(day), now.Add(2*day))
	other, otherCA := selfSigned(t, now.Add(-2*day), now.Add(day), "other.example", "api.example")
	with := func(c tls.Certificate) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{c}} }
	stamp := func(at time.Time) string { return at.UTC().Truncate(time.Second).Format(time.RFC3339) }

	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const json, page = "application/json", "<html><head><TITLE>Sign\nin</TITLE></head><body>" + "<p>x</p>" + "</body></html>"
	refusal := func(code int, reason, message string) string {
		return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"reason":%q,"code":%d}`, message, reason, code)
	}
	no := refusal(http.StatusUnauthorized, "Unauthorized", "Unauthorized")
	closed, free, err := nobodyListens()
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	closed = "http://" + closed
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it never accepts a connection
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	kubeconfig := func(name, server, user string) string {
		return write(name, `{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: k, cluster: {server: "`+server+`", certificate-authority: "`+goodCA+`"}}], users: [{name: u, user: `+user+`}], contexts: [{name: c, context: {cluster: k, user: u}}]}`, 0o600)
	}
	plugin := func(command string) string {
		return `{exec: {apiVersion: client.authentication.k8s.io/v1, command: "` + command + `", interactiveMode: Never, installHint: "get it at example.com"}}`
	}
	write("fails", "#!/bin/sh\nexit 3\n", 0o700)
	write("prints", "#!/bin/sh\necho hello\n", 0o700)
	trusted := startServer(t, with(good), 200, json, "{}")
	part := func(name, text string) string {
		return write(name, strings.ReplaceAll(`{apiVersion: v1, kind: Config, clusters: [{name: k, cluster: {server: S}}], contexts: [{name: c, context: {cluster: k, user: u}}, {name: lost, context: {cluster: gone, user: u}}]`, "S", trusted)+text+"}", 0o600)
	}
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none"))
	t.Setenv("KUBERNETES_MASTER", "")

	const (
		web       = "the server at S answers with a web page, not with the Kubernetes API: "
		stands    = "kubectl config view --minify (is the address right? a proxy or a login page may stand before the server)"
		plugins   = "no credentials for the cluster at S: the kubeconfig's credential plugin "
		otherFile = "--kubeconfig FILE names another; --from FILE reads a file instead of a cluster"
		logIn     = "kubectl config view --minify (shows the user whose credentials were sent), then log in again"
		clock     = "check this machine's clock with date; kubeadm certs check-expiration on the control plane shows what to renew"
	)
	for _, tt := range []struct {
		server, flags string // an empty server, or a kubeconfig, means that --server is not set
		want, hint    string
		why           string
	}{
		{startServer(t, with(good), 200, json, "{}"), "", "the certificate of the server at S is not trusted: neither the kubeconfig nor this machine knows the authority that signed it",
			"kubectl config view --minify (is this the cluster that is meant?), or --certificate-authority FILE with the certificate of its authority", "an authority that nobody knows"},
		{startServer(t, with(old), 200, json, "{}"), "--certificate-authority " + oldCA, "the certificate of the server at S has expired: it was valid until " + stamp(now.Add(-day)), clock, "an old certificate"},
		{startServer(t, with(early), 200, json, "{}"), "--certificate-authority " + earlyCA, "the certificate of the server at S is not valid before " + stamp(now.Add(day)), clock, "a clock that is late"},
		{startServer(t, with(other), 200, json, "{}"), "--certificate-authority " + otherCA, "the certificate of the server at S is for other.example, api.example, not for 127.0.0.1",
			"--tls-server-name other.example, if this is the cluster that is meant", "another name"},
		{startServer(t, &tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool()}, 200, json, "{}"), "--certificate-authority " + goodCA,
			"the server at S requires a client certificate", "kubectl config view --minify (shows what the user has); --client-certificate FILE --client-key FILE", "who asks must show one"},
		{"https://127.0.0.1:1", "--certificate-authority D/nope", "--certificate-authority D/nope: no such file or directory", "--certificate-authority FILE", "a file that is not there"},
		{"https://127.0.0.1:1", "--client-certificate D/nope --client-key D/nope", "--client-certificate D/nope: no such file or directory", "--client-certificate FILE", "another one"},
		{strings.Replace(startServer(t, nil, 200, json, "{}"), "http:", "https:", 1), "", "the server at S answers in HTTP, not in HTTPS", "--server PLAIN", "the wrong protocol"},
		{strings.Replace(trusted, "https:", "http:", 1), "", "daemonset default/agent: the server at S wants HTTPS", "--server SAFE", "the other way round"},

		{startServer(t, nil, 401, json, no), "", "the cluster at S requires credentials, and none were sent: Unauthorized", "kubectl config get-users, then --user USER or --token TOKEN", "nobody asks"},
		{startServer(t, with(good), 401, json, no), "--token sesame --certificate-authority " + goodCA, "the cluster at S rejects your credentials, a bearer token: Unauthorized", logIn, "a wrong token"},
		{startServer(t, with(good), 401, json, no), "--token e30.eyJleHAiOjE3MDAwMDAwMDB9.x --certificate-authority " + goodCA, "the cluster at S rejects your credentials, a bearer token that expired at 2023-11-14T22:13:20Z: Unauthorized", logIn, "one that has expired"},
		{startServer(t, nil, 403, json, refusal(403, "Forbidden", `User "jane" cannot get resource "daemonsets"`)), "--as jane", `daemonset default/agent: User "jane" cannot get resource "daemonsets"`,
			"kubectl auth can-i get daemonsets.apps -n default --as=jane --server=S", "a right is missing"},
		{startServer(t, nil, 403, json, refusal(403, "Forbidden", `User "me" cannot impersonate resource "users"`)), "--as jane", `daemonset default/agent: User "me" cannot impersonate resource "users"`,
			"leave out --as, or ask for the right to impersonate", "the right to be somebody else"},
		{startServer(t, nil, 429, json, refusal(429, "TooManyRequests", "try again later")), "", "daemonset default/agent: try again later", "run the command again in a minute: the API server limits requests", "too much at once"},
		{startServer(t, nil, 500, json, refusal(500, "InternalError", "no leader")), "", "daemonset default/agent: no leader", "kubectl get --raw '/readyz?verbose' --server=S", "the server is ill"},
		{startServer(t, nil, 404, "text/plain", "404 page not found"), "", "daemonset default/agent: the server at S has no such API: the server could not find the requested resource (get daemonsets.apps agent)",
			"kubectl cluster-info --server=S (is this an API server? its address may lack a path)", "another server"},

		{startServer(t, nil, 200, "text/html; charset=utf-8", page), "", web + `"Sign in", 200 OK`, stands, "a login page"},
		{startServer(t, nil, 302, "text/html", page), "", web + `"Sign in", 200 OK from S/login`, stands, "behind a redirect"},
		{startServer(t, nil, 403, "text/html", "no"), "", web + "403 Forbidden", stands, "a proxy that refuses"},
		{startServer(t, nil, 502, "text/html", "no"), "", web + "502 Bad Gateway", "kubectl get --raw '/readyz?verbose' --server=S (a load balancer or a proxy may stand before the server)", "a gateway"},
		{startServer(t, nil, 502, "text/html", "<HTML>busy</HTML>"), "", web + "502 Bad Gateway", "kubectl get --raw '/readyz?verbose' --server=S (a load balancer or a proxy may stand before the server)", "one that asks to be waited for"},

		{closed, "", "no answer from the cluster at S: connection refused", "kubectl cluster-info --server=S", "nobody listens"},
		{"http://" + silent.Addr().String(), "--request-timeout 200ms", "no answer from the cluster at S: the time for the request is over",
			"kubectl cluster-info --request-timeout=200ms --server=S (a longer --request-timeout waits longer)", "nobody answers in time"},
		{"https://nosuch.invalid:6443", "", "no answer from the cluster at S: no such host nosuch.invalid", "kubectl config view --minify (is the address right? it may be known in a VPN only)", "a name that nobody knows"},
		{"https://10.0.0.1:6443", "--proxy-url C", "no answer from the cluster at S through the proxy C: connection refused",
			"kubectl cluster-info --proxy-url=C --server=S (the proxy is that of --proxy-url, of the kubeconfig or of HTTPS_PROXY)", "the proxy is away"},

		{"", "--kubeconfig " + kubeconfig("k1", trusted, plugin("no-such-plugin")), "error: " + strings.Replace(plugins, "S", trusted, 1) + "no-such-plugin is not installed\n  get it at example.com",
			"kubectl config view --minify FLAGS (shows the plugin of this user), then install it or choose another user with --user", "a plugin that is missing"},
		{"", "--kubeconfig " + kubeconfig("k2", trusted, plugin(dir+"/nope")), "error: " + strings.Replace(plugins, "S", trusted, 1) + "D/nope is not installed\n  get it at example.com",
			"kubectl config view --minify FLAGS (shows the plugin of this user), then install it or choose another user with --user", "by its path"},
		{"", "--kubeconfig " + kubeconfig("k3", trusted, plugin(dir+"/fails")), strings.Replace(plugins, "S", trusted, 1) + "fails: D/fails failed with exit code 3", "kubectl auth whoami FLAGS (runs it again)", "one that fails"},
		{"", "--kubeconfig " + kubeconfig("k4", trusted, plugin(dir+"/prints")), strings.Replace(plugins, "S", trusted, 1) + "does not print an ExecCredential", "kubectl auth whoami FLAGS (runs it again)", "one that prints something else"},

		{"", "--context lost --kubeconfig " + part("c1", ""), `the kubeconfig has no cluster "gone", which its context "lost" names`, "kubectl config get-contexts --kubeconfig=D/c1", "the cluster of a context"},
		{"", "--context c --kubeconfig " + part("c2", ""), `the kubeconfig has no user "u", which its context "c" names`, "kubectl config get-users --kubeconfig=D/c2", "its user"},
		{"", "--kubeconfig " + part("c3", ", current-context: prod"), `the kubeconfig has no context "prod", which is its current context`, "kubectl config get-contexts --kubeconfig=D/c3", "the context itself"},
		{"", "--kubeconfig " + part("c4", ""), "no cluster to ask: the kubeconfig has no current context",
			"kubectl config get-contexts --kubeconfig=D/c4, then kubectl config use-context CONTEXT or --context CONTEXT; or read a file instead of a cluster: --from FILE", "none was chosen"},
		{"", "", "no cluster to ask: no kubeconfig found at D/none", "--kubeconfig FILE names one; --from FILE reads a file instead of a cluster", "no file"},
		{"", "--kubeconfig D/none", "the kubeconfig cannot be read: D/none: no such file or directory", otherFile, "a name without a file"},
		{"", "--kubeconfig D", "the kubeconfig cannot be read: D: is a directory", otherFile, "a directory"},
		{"", "--kubeconfig " + write("c5", "a: [", 0o600), "the kubeconfig cannot be read: D/c5: yaml: line 1: did not find expected node content", otherFile, "damage"},
		{"", "--kubeconfig " + write("c6", "{kind: Pod, apiVersion: v1}", 0o600), "D/c6 is not a kubeconfig", otherFile, "another object"},
		{"", "--kubeconfig " + write("c7", "[]", 0o600), "D/c7 is not a kubeconfig", otherFile, "no object"},
		{"", "--kubeconfig " + write("c8", "", 0o600), "no cluster to ask: the kubeconfig D/c8 has no cluster", "--kubeconfig FILE names one; --from FILE reads a file instead of a cluster", "an empty one"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			fill := strings.NewReplacer("PLAIN", strings.Replace(tt.server, "https:", "http:", 1), "SAFE", strings.Replace(tt.server, "http:", "https:", 1),
				"at S", "at "+tt.server, "from S", "from "+tt.server, "=S", "="+tt.server, "proxy C", "proxy "+closed, "-url C", "-url "+closed, "-url=C", "-url="+closed,
				" D", " "+dir, "=D", "="+dir, "FLAGS", strings.Replace(tt.flags, " ", "=", 1))
			flags := strings.Fields(fill.Replace(tt.flags))
			if tt.server != "" {
				flags = append(flags, "--server", tt.server)
			}
			var out, errs bytes.Buffer
			status := Main(append([]string{"kubectl-ds", "explain", "agent"}, flags...), nil, &out, &errs)
			want := strings.TrimPrefix(fill.Replace(" "+strings.TrimPrefix(tt.want, "error: ")), " ")
			if want = "error: " + want + "\nhint: " + fill.Replace(tt.hint) + "\n"; errs.String() != want || status != 1 || out.Len() > 0 {
				t.Errorf("status %d, %s\n got %s\nwant %s", status, &out, &errs, want)
			}
			if strings.Contains(errs.String(), "insecure") || strings.Contains(errs.String(), "sesame") {
				t.Errorf("a secret, or no check of certificates at all: %s", &errs)
			}
		})
	}
}
