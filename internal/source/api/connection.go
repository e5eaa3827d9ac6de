package api

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"k8s.io/client-go/rest"
)

// UnreachableError says that the API server sent no usable response: no connection, an untrusted certificate, missing
// credentials, a web page, or a timeout.
type UnreachableError struct {
	Server string // address of the server, without credentials
	Proxy  string // address of the proxy, without credentials; empty if there is none
	Err    error

	InstallHint string // from the kubeconfig, for its credential plugin
	Limited     bool   // --request-timeout was given
}

func (e *UnreachableError) Error() string {
	words, _ := e.describe()
	return words
}

// Hint returns a command that shows more, or the flag that is missing.
func (e *UnreachableError) Hint() string {
	_, hint := e.describe()
	return hint
}

// Details returns the lines of the kubeconfig's installHint if its credential plugin is missing, otherwise nil.
func (e *UnreachableError) Details() []string {
	if _, missing := e.plugin(); !missing || e.InstallHint == "" {
		return nil
	}
	return strings.Split(strings.TrimSpace(e.InstallHint), "\n")
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// ShownConfig is a hint: the command that shows the cluster and the user of the kubeconfig.
const ShownConfig = "kubectl config view --minify"

// describe returns the error message and a hint.
func (e *UnreachableError) describe() (words, hint string) {
	var (
		trust  *tls.CertificateVerificationError
		page   *PageError
		remote *net.OpError
		record tls.RecordHeaderError
	)
	plugin, missing := e.plugin()
	plain := "http://" + strings.TrimPrefix(e.Server, "https://")
	switch {
	case errors.As(e.Err, &trust):
		return e.untrusted(trust)
	case errors.As(e.Err, &page) && strings.HasPrefix(page.Status, "5"):
		return fmt.Sprintf("the server at %s answers with a web page, not with the Kubernetes API: %s", e.Server,
				page.which()),
			"kubectl get --raw '/readyz?verbose' (a load balancer or a proxy may stand before the server)"
	case errors.As(e.Err, &page):
		return fmt.Sprintf("the server at %s answers with a web page, not with the Kubernetes API: %s", e.Server,
				page.which()),
			ShownConfig + " (is the address right? a proxy or a login page may stand before the server)"
	case errors.As(e.Err, &remote) && remote.Op == "remote error" &&
		strings.Contains(remote.Err.Error(), "certificate required"):
		return fmt.Sprintf("the server at %s requires a client certificate", e.Server), ShownConfig +
			" (shows what the user has); --client-certificate FILE --client-key FILE"
	case errors.As(e.Err, &remote) && remote.Op == "remote error":
		return fmt.Sprintf("the server at %s rejects the client certificate: %s", e.Server, source.InWords(remote.Err)),
			ShownConfig + " (shows which one the user has)"
	case errors.Is(e.Err, http.ErrSchemeMismatch):
		return fmt.Sprintf("the server at %s answers in HTTP, not in HTTPS", e.Server), "--server " + plain
	case errors.As(e.Err, &record):
		return fmt.Sprintf("the server at %s does not answer in TLS", e.Server), ShownConfig +
			" (are address and port right?)"
	case plugin != "" && missing:
		return fmt.Sprintf("no credentials for the cluster at %s: %s", e.Server, plugin), ShownConfig +
			" (shows the plugin of this user), then install it or choose another user with --user"
	case plugin != "":
		return fmt.Sprintf("no credentials for the cluster at %s: %s", e.Server, plugin),
			"kubectl auth whoami (runs it again)"
	}
	through := ""
	if e.Proxy != "" {
		through = " through the proxy " + e.Proxy
	}
	return fmt.Sprintf("no answer from the cluster at %s%s: %s", e.Server, through, e.why()), e.noAnswerHint()
}

// why returns the cause without the messages of the layers that wrapped it.
func (e *UnreachableError) why() string { return WhyOf(e.Err) }

// WhyOf returns why a request failed, without the messages of the layers that wrapped the error.
func WhyOf(err error) string {
	var (
		answer *AnswerError
		later  LaterError
		name   *net.DNSError
		call   *os.SyscallError
		layer  *url.Error
	)
	switch {
	case errors.As(err, &answer):
		return source.InWords(answer)
	case errors.As(err, &later):
		return source.InWords(later)
	case errors.As(err, &name) && name.IsNotFound:
		return "no such host " + object.OneLine(name.Name)
	case errors.As(err, &call):
		return object.OneLine(call.Err.Error())
	case IsLate(err):
		return "the time for the request is over"
	case lostConnection(err):
		return "the connection was closed"
	case errors.As(err, &layer):
		return WhyOf(layer.Err)
	case notHTTP(err):
		return "the answer is not HTTP"
	}
	return source.InWords(err)
}

func (e *UnreachableError) late() bool { return IsLate(e.Err) }

// noAnswerHint returns the hint for a server that sent no response.
func (e *UnreachableError) noAnswerHint() string {
	name := (*net.DNSError)(nil)
	switch {
	case e.Proxy != "":
		return "kubectl cluster-info (the proxy is that of --proxy-url, of the kubeconfig or of HTTPS_PROXY)"
	case errors.As(e.Err, &name) && name.IsNotFound:
		return ShownConfig + " (is the address right? it may be known in a VPN only)"
	case e.Limited && e.late():
		return "kubectl cluster-info (a longer --request-timeout waits longer)"
	}
	return "kubectl cluster-info"
}

// plugin returns what is wrong with the kubeconfig's credential plugin, or "" if nothing is wrong. It also reports
// whether the plugin is missing.
func (e *UnreachableError) plugin() (words string, missing bool) {
	_, said, found := strings.Cut(e.Err.Error(), "getting credentials: ")
	if !found {
		return "", false
	}
	said, _, _ = strings.Cut(said, "\n")
	said = strings.TrimPrefix(strings.TrimPrefix(said, "exec: "), "executable ")
	name, missing := strings.CutSuffix(said, " not found")
	if path, isPath := strings.CutPrefix(said, "fork/exec "); isPath {
		name, missing = strings.CutSuffix(path, ": no such file or directory")
	}
	switch {
	case missing:
		return "the kubeconfig's credential plugin " + object.OneLine(name) + " is not installed", true
	case strings.HasPrefix(said, "decoding stdout"):
		return "the kubeconfig's credential plugin does not print an ExecCredential", false
	}
	return "the kubeconfig's credential plugin fails: " + object.OneLine(said), false
}

// untrusted returns why the server's certificate is not trusted, and a hint. The hint never disables the check of
// certificates, because an attacker could then read the credentials.
func (e *UnreachableError) untrusted(trust *tls.CertificateVerificationError) (words, hint string) {
	var (
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		other   x509.HostnameError
	)
	of := "the certificate of the server at " + e.Server
	switch {
	case errors.As(trust, &other):
		return e.misnamed(of, other)
	case errors.As(trust, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		whose := of
		if len(trust.UnverifiedCertificates) > 0 && !invalid.Cert.Equal(trust.UnverifiedCertificates[0]) {
			whose = "the authority that signed " + of
		}
		const renew = "check this machine's clock with date; kubeadm certs check-expiration on the control plane " +
			"shows what to renew"
		if strings.Contains(invalid.Detail, " is before ") {
			return fmt.Sprintf("%s is not valid before %s", whose,
				invalid.Cert.NotBefore.UTC().Format(time.RFC3339)), renew
		}
		return fmt.Sprintf("%s has expired: it was valid until %s", whose,
			invalid.Cert.NotAfter.UTC().Format(time.RFC3339)), renew
	case errors.As(trust, &unknown):
		return of + " is not trusted: neither the kubeconfig nor this machine knows the authority that signed it",
			ShownConfig + " (is this the cluster that is meant?), or --certificate-authority FILE with the " +
				"certificate of its authority"
	}
	return fmt.Sprintf("%s is not trusted: %s", of, source.InWords(trust.Err)), ShownConfig
}

// misnamed returns the message and the hint for a certificate that is valid only for other names.
func (e *UnreachableError) misnamed(of string, other x509.HostnameError) (words, hint string) {
	hint = ShownConfig + " (is the address right?)"
	names := other.Certificate.DNSNames
	for _, ip := range other.Certificate.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return fmt.Sprintf("%s names no host, so not %s either", of, object.OneLine(other.Host)), hint
	}
	const most = 3
	list := object.OneLine(strings.Join(names[:min(most, len(names))], ", "))
	if more := len(names) - most; more > 0 {
		list += fmt.Sprintf(" +%d more", more)
	}
	if first := object.OneLine(names[0]); !strings.ContainsAny(first, "* '\"") {
		hint = "--tls-server-name " + first + ", if this is the cluster that is meant"
	}
	return fmt.Sprintf("%s is for %s, not for %s", of, list, object.OneLine(other.Host)), hint
}

// PageError says that the server sent a web page.
type PageError struct {
	title, Status string
	from          string // address of the page, if the server redirected to it
}

func (p *PageError) Error() string { return "the answer is a web page: " + p.which() }

func (p *PageError) which() string {
	s := p.Status
	if p.from != "" {
		s += " from " + p.from
	}
	if p.title != "" {
		s = fmt.Sprintf("%q, %s", p.title, s)
	}
	return s
}

// NoPages is a transport that returns an error for a web page, because no API server sends one. It passes on the
// responses that an outer transport handles: redirects, status 401 and responses with Retry-After.
type NoPages struct{ http.RoundTripper }

func (t NoPages) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if err != nil || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		return resp, err
	}
	redirects := resp.StatusCode >= http.StatusMultipleChoices && resp.StatusCode < http.StatusBadRequest
	if redirects || resp.StatusCode == http.StatusUnauthorized || resp.Header.Get("Retry-After") != "" {
		return resp, nil
	}
	defer resp.Body.Close()
	const head = 1 << 14
	body, _ := io.ReadAll(io.LimitReader(resp.Body, head))
	page := &PageError{title: titleOf(body), Status: resp.Status}
	if req.Response != nil {
		page.from = ServerURL(req.URL.String())
	}
	return nil, page
}

// titleOf returns the title of a web page, or "" if it has none.
func titleOf(page []byte) string {
	lower := bytes.ToLower(page)
	from, to := bytes.Index(lower, []byte("<title>")), bytes.Index(lower, []byte("</title>"))
	if from < 0 || to < from || len(lower) != len(page) {
		return ""
	}
	const most = 80
	title := object.OneLine(string(page[from+len("<title>") : to]))
	return strings.ToValidUTF8(title[:min(most, len(title))], "")
}

// ProxyOf returns the address of the proxy for the server of config, without credentials. It returns "" if there is
// no proxy.
func ProxyOf(config *rest.Config) string {
	host := config.Host
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	u, err := url.Parse(host)
	if err != nil {
		return ""
	}
	find := http.ProxyFromEnvironment
	if config.Proxy != nil {
		find = config.Proxy
	}
	proxy, err := find(&http.Request{URL: u})
	if err != nil || proxy == nil {
		return ""
	}
	return ServerURL(proxy.String())
}

// Presented describes the credentials that a Cluster sends. It has no secrets.
type Presented struct {
	What  string    // empty if there are no credentials
	Until time.Time // when they expire; zero if that is unknown
}

// Hint returns what to do if the server rejects the credentials.
func (p Presented) Hint() string {
	if p.What == "" {
		return "kubectl config get-users, then --user USER or --token TOKEN"
	}
	return ShownConfig + " (shows the user whose credentials were sent), then log in again"
}

// CredentialsOf describes the credentials in config.
func CredentialsOf(config *rest.Config) Presented {
	switch {
	case config.BearerToken != "":
		return Presented{"a bearer token", tokenUntil(config.BearerToken)}
	case config.BearerTokenFile != "":
		return Presented{What: "the bearer token of " + config.BearerTokenFile}
	case config.ExecProvider != nil:
		return Presented{What: "those of the credential plugin " + object.OneLine(config.ExecProvider.Command)}
	case config.AuthProvider != nil:
		return Presented{What: "those of the auth provider " + object.OneLine(config.AuthProvider.Name)}
	case config.Username != "":
		return Presented{What: "a user name and a password"}
	case len(config.CertData) > 0, config.CertFile != "":
		data := config.CertData
		if len(data) == 0 {
			data, _ = os.ReadFile(config.CertFile)
		}
		return Presented{"a client certificate", certificateUntil(data)}
	}
	return Presented{}
}

// tokenUntil returns the time at which a JWT expires, or zero if the token does not have it.
func tokenUntil(token string) time.Time {
	parts := strings.Split(token, ".")
	const ofJWT = 3
	if len(parts) != ofJWT {
		return time.Time{}
	}
	var claims struct {
		Until int64 `json:"exp"`
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(body, &claims) != nil || claims.Until <= 0 {
		return time.Time{}
	}
	return time.Unix(claims.Until, 0)
}

// certificateUntil returns the time at which the first certificate in data expires, or zero if there is none.
func certificateUntil(data []byte) time.Time {
	block, _ := pem.Decode(data)
	if block == nil {
		return time.Time{}
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}
	}
	return c.NotAfter
}

// ServerURL returns host without a user name or a password.
func ServerURL(host string) string {
	u, err := url.Parse(host)
	if err != nil || u.Host == "" {
		if i := strings.LastIndex(host, "@"); i >= 0 {
			host = host[i+1:]
		}
		return host
	}
	return u.Scheme + "://" + u.Host + strings.TrimSuffix(u.Path, "/")
}
