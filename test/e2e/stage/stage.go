package stage

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
)

// Options configures a stage. The zero value is usable.
type Options struct {
	// BinDir holds the programs of test/cluster. If it is empty, they are built if necessary.
	BinDir string
	// Version is the minor version of the API server, the controllers and the scheduler, such as
	// "v1.30", for which test/cluster has a module. If it is empty, $E2E_CLUSTER applies, or else
	// the newest version.
	Version string
	// PluginDir is added to the PATH of Kubectl.
	PluginDir string
	// Controllers are the controllers that kube-controller-manager runs. The default is
	// DefaultControllers.
	Controllers []string
	// ControllerQPS is the request rate of kube-controller-manager's clients, with a burst of 1.5
	// times as many requests. The default is DefaultControllerQPS, so that tests do not wait for
	// it. The program's own default is 20.
	ControllerQPS int
	// NodeMonitorGracePeriod is how long a node may be silent before the node lifecycle controller
	// marks it as unknown. The default is 20 s. Kubelets renew their leases four times in this
	// period, also on a busy machine. Tests that cut the power of nodes wait for it.
	NodeMonitorGracePeriod time.Duration
	// LogSyncs makes the DaemonSet controller log what Syncs reads.
	LogSyncs bool
	// ServiceAccounts enables the admission plugin ServiceAccount, as in every real cluster: pods
	// need an existing ServiceAccount and get its token. Without it, pods can be created as soon as
	// their namespace exists.
	ServiceAccounts bool
	// Bare starts only etcd and the API server, with room for a gigabyte of objects, and audits no
	// bodies. StartProgram starts the other programs.
	Bare bool
	// EtcdData is a folder for etcd's data that is kept when the stage is closed and reused by
	// later stages. If it is empty, the data belongs to the stage.
	EtcdData string
	// APIServerFlags are additional flags of the API server.
	APIServerFlags []string

	planeDir string // of Version
}

// DefaultControllers are the controllers that a DaemonSet's life depends on.
var DefaultControllers = []string{
	"daemonset-controller", "garbage-collector-controller", "namespace-controller", "serviceaccount-controller",
	"resourcequota-controller", "taint-eviction-controller", "node-lifecycle-controller",
	"pod-garbage-collector-controller",
}

// controllersOf returns the names of controllers in kube-controller-manager of a minor version: up
// to v1.27 without "-controller". Up to v1.28 the node lifecycle controller itself deletes pods of
// tainted nodes.
func controllersOf(version string, names []string) []string {
	if version == "" || minorOf(version) >= 29 {
		return names
	}
	names = slices.DeleteFunc(slices.Clone(names),
		func(name string) bool { return name == "taint-eviction-controller" })
	if minorOf(version) == 28 {
		return names
	}
	short := map[string]string{
		"garbage-collector-controller": "garbagecollector", "node-lifecycle-controller": "nodelifecycle",
		"pod-garbage-collector-controller": "podgc",
	}
	for i, name := range names {
		names[i] = cmp.Or(short[name], strings.TrimSuffix(name, "-controller"))
	}
	return names
}

// minorOf returns 30 for "v1.30".
func minorOf(version string) int {
	minor, _ := strconv.Atoi(strings.TrimPrefix(version, "v1."))
	return minor
}

// Cluster is a running control plane with kubelets simulated by kwok.
type Cluster struct {
	// Dir is the folder of the stage: logs, kubeconfigs and etcd's data.
	Dir string
	// BinDir holds the programs of the control plane, including kubectl.
	BinDir string
	// PluginDir, if set, is on the PATH of Kubectl.
	PluginDir string
	// PlaneDir holds the API server, the controllers and the scheduler if they are of an older
	// version.
	PlaneDir string
	// URL is the address of the API server.
	URL string
	// Kubeconfig is the path of Admin's kubeconfig.
	Kubeconfig string
	// Config and Client are Admin's. They are not rate limited.
	Config *rest.Config
	Client kubernetes.Interface

	options Options
	args    map[Program][]string
	http    *http.Client

	mu        sync.Mutex
	processes []*process // in the order of their start
	closed    bool
	keepLogs  bool
	rules     []Rule
	nodeCount int
}

// New starts a stage for a test and stops it when the test ends. If the test fails, it prints the
// ends of the programs' logs and keeps the logs.
func New(t testing.TB, o Options) *Cluster {
	t.Helper()
	if o.BinDir == "" {
		bin, err := BuildControlPlane(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		o.BinDir = bin
	}
	c, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	stopOnInterrupt(c)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the programs' logs, kept in %s, end with\n%s", c.Dir, c.Logs(15))
			c.keepLogs = true
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// DefaultControllerQPS is the default of Options.ControllerQPS.
const DefaultControllerQPS = 200

// Start starts a stage. When it returns, the API server is ready, the controllers run, and there
// are no nodes. The caller must call Close. On Linux, the programs die with this process.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	if o.Controllers == nil {
		o.Controllers = DefaultControllers
	}
	if o.ControllerQPS == 0 {
		o.ControllerQPS = DefaultControllerQPS
	}
	if o.NodeMonitorGracePeriod == 0 {
		o.NodeMonitorGracePeriod = 20 * time.Second
	}
	if o.BinDir == "" {
		bin, err := BuildControlPlane(ctx)
		if err != nil {
			return nil, err
		}
		o.BinDir = bin
	}
	if o.Version = cmp.Or(o.Version, os.Getenv("E2E_CLUSTER")); o.Version != "" {
		plane, err := BuildPlane(ctx, o.Version)
		if err != nil {
			return nil, err
		}
		o.planeDir = plane
	}
	// A free port may be taken before a program listens on it. Only the start is lost then: try
	// again with other ports.
	for try := 1; ; try++ {
		c, err := startOnce(ctx, o)
		if err == nil {
			return c, nil
		}
		inUse := strings.Contains(c.Logs(40), "address already in use")
		closeErr := c.Close()
		if !inUse || try == 5 {
			return nil, errors.Join(fmt.Errorf("start the control plane: %w", err), closeErr)
		}
	}
}

// startOnce returns a Cluster that must be closed even if it returns an error.
func startOnce(ctx context.Context, o Options) (*Cluster, error) {
	c := &Cluster{BinDir: o.BinDir, PluginDir: o.PluginDir, PlaneDir: o.planeDir, options: o}
	var err error
	if c.Dir, err = os.MkdirTemp("", "kubectl-ds-stage-"); err != nil {
		return c, err
	}
	ports, err := freePorts(2)
	if err != nil {
		return c, err
	}
	if err := c.prepare(ports[0], ports[1]); err != nil {
		return c, err
	}
	for _, step := range []struct {
		program Program
		what    string
		ready   func(context.Context) (bool, error)
	}{
		{Etcd, "etcd to be healthy", func(ctx context.Context) (bool, error) {
			return c.answersOK(ctx, fmt.Sprintf("http://127.0.0.1:%d/health", ports[0])), nil
		}},
		{APIServer, "the API server to be ready", func(ctx context.Context) (bool, error) {
			return c.answersOK(ctx, c.URL+"/readyz"), nil
		}},
		{ControllerManager, "", nil},
		{Scheduler, "", nil},
		{Kwok, "", nil},
	} {
		if o.Bare && step.program != Etcd && step.program != APIServer {
			continue
		}
		if err := c.StartProgram(ctx, step.program); err != nil {
			return c, err
		}
		if step.ready != nil {
			if err := c.WaitFor(ctx, step.what, step.ready); err != nil {
				return c, err
			}
		}
	}
	if err := c.isOf(o.Version); err != nil {
		return c, err
	}
	// In reused data the users already have their rights.
	if err := c.setUpUsers(ctx); err != nil && (o.EtcdData == "" || !apierrors.IsAlreadyExists(err)) {
		return c, err
	}
	if o.Bare || !slices.Contains(o.Controllers, "serviceaccount-controller") {
		return c, nil
	}
	// The first object that the controllers create shows that they run.
	return c, c.WaitFor(ctx, "the controllers to run", func(ctx context.Context) (bool, error) {
		_, err := c.Client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// isOf returns an error unless the API server is of the minor version.
func (c *Cluster) isOf(version string) error {
	is, err := c.Client.Discovery().ServerVersion()
	if err == nil && version != "" && !strings.HasPrefix(is.GitVersion, version+".") {
		err = fmt.Errorf("the API server is of %s, not %s", is.GitVersion, version)
	}
	return err
}

// prepare writes the files that the programs read, creates the clients, and sets the programs'
// arguments.
func (c *Cluster) prepare(etcdPort, apiPort int) error {
	c.URL = fmt.Sprintf("https://127.0.0.1:%d", apiPort)
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		return err
	}
	accountKey, err := newKey()
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"apiserver.crt": certificate, "apiserver.key": key, "sa.key": accountKey,
		"audit.yaml": []byte(auditPolicyOf(c.options.Bare)),
	} {
		if err := os.WriteFile(c.path(name), data, 0o600); err != nil {
			return err
		}
	}
	if err := os.Mkdir(c.path("home"), 0o755); err != nil {
		return err
	}
	if err := c.writeUsers(certificate); err != nil {
		return err
	}
	if err := c.writeStages(); err != nil {
		return err
	}

	c.Kubeconfig = c.KubeconfigFor(Admin)
	c.Config = &rest.Config{
		Host:            c.URL,
		BearerToken:     token(Admin),
		TLSClientConfig: rest.TLSClientConfig{CAData: certificate},
		UserAgent:       "stage",
		WarningHandler:  rest.NoWarnings{}, // about the tests' own requests
		QPS:             -1,
	}
	if c.Client, err = kubernetes.NewForConfig(c.Config); err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	c.http = &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true},
	}

	etcdURL := fmt.Sprintf("http://127.0.0.1:%d", etcdPort)
	grace := c.options.NodeMonitorGracePeriod
	c.args = map[Program][]string{
		Etcd: {
			"--data-dir=" + cmp.Or(c.options.EtcdData, c.path("etcd")),
			"--unsafe-no-fsync",
			"--quota-backend-bytes=8589934592", // for the objects of a bare stage
			"--listen-client-urls=" + etcdURL,
			"--advertise-client-urls=" + etcdURL,
			"--listen-peer-urls=http://127.0.0.1:0", // it has no peers
		},
		APIServer: {
			"--etcd-servers=" + etcdURL,
			"--secure-port=" + fmt.Sprint(apiPort),
			"--bind-address=127.0.0.1",
			"--advertise-address=127.0.0.1",
			"--endpoint-reconciler-type=none", // the others reject a loopback address
			"--tls-cert-file=" + c.path("apiserver.crt"),
			"--tls-private-key-file=" + c.path("apiserver.key"),
			"--cert-dir=" + c.path("certs"),
			"--service-account-key-file=" + c.path("sa.key"),
			"--service-account-signing-key-file=" + c.path("sa.key"),
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-cluster-ip-range=10.0.0.0/24",
			"--token-auth-file=" + c.path("tokens.csv"),
			"--authorization-mode=RBAC",
			"--allow-privileged=true",
			"--audit-policy-file=" + c.path("audit.yaml"),
			"--audit-log-path=" + c.path("audit.log"),
			"--shutdown-delay-duration=0s",
		},
		ControllerManager: {
			"--kubeconfig=" + c.Kubeconfig,
			"--leader-elect=false",
			"--secure-port=0",
			"--controllers=" + strings.Join(controllersOf(c.options.Version, c.options.Controllers), ","),
			"--use-service-account-credentials=false",
			fmt.Sprintf("--kube-api-qps=%d", c.options.ControllerQPS),
			fmt.Sprintf("--kube-api-burst=%d", c.options.ControllerQPS*3/2),
			"--node-monitor-period=1s",
			"--node-monitor-grace-period=" + grace.String(),
			"--node-startup-grace-period=1m0s",
			// By default one node in ten seconds gets its NoExecute taint, to protect workloads.
			"--node-eviction-rate=50",
			"--secondary-node-eviction-rate=50",
			"--large-cluster-size-threshold=1",
		},
		Scheduler: {
			"--kubeconfig=" + c.Kubeconfig,
			"--leader-elect=false",
			"--secure-port=0",
		},
		Kwok: {
			"--kubeconfig=" + c.Kubeconfig,
			"--config=" + c.path("stages.yaml"),
			"--v=WARN", // otherwise it logs each lease
			"--manage-all-nodes=false",
			"--manage-nodes-with-label-selector=" + DeadLabel + "!=true",
			fmt.Sprintf("--node-lease-duration-seconds=%d", max(1, int(grace.Seconds()))),
		},
	}
	if !c.options.ServiceAccounts {
		c.args[APIServer] = append(c.args[APIServer], "--disable-admission-plugins=ServiceAccount")
	}
	c.args[APIServer] = append(c.args[APIServer], c.options.APIServerFlags...)
	if c.options.LogSyncs {
		c.args[ControllerManager] = append(c.args[ControllerManager], "--vmodule=daemon_controller=4")
	}
	return nil
}

// StartProgram starts a program that is not running.
func (c *Cluster) StartProgram(ctx context.Context, name Program) error {
	if name == Kwok && c.find(APIServer) != nil {
		if err := c.releaseLeases(ctx); err != nil {
			return err
		}
	}
	binary := string(name)
	if name == Etcd {
		binary = "server" // go build names it after its import path
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errors.New("the stage is closed")
	}
	for _, p := range c.processes {
		if p.name == name {
			return fmt.Errorf("%s runs already", name)
		}
	}
	dir := c.BinDir
	if c.PlaneDir != "" && slices.Contains([]Program{APIServer, ControllerManager, Scheduler}, name) {
		dir = c.PlaneDir
	}
	p, err := startProcess(name, c.Dir, filepath.Join(dir, binary), c.args[name])
	if err != nil {
		return err
	}
	c.processes = append(c.processes, p)
	return nil
}

// StopProgram ends a program. Without kube-controller-manager, nothing new is decided. Without
// kwok, the kubelets are silent, and after the grace period the node lifecycle controller, if it
// runs, marks every node as dead. To hold a state, use Freeze.
func (c *Cluster) StopProgram(name Program) error {
	p := c.find(name)
	if p == nil {
		return fmt.Errorf("%s does not run", name)
	}
	if err := p.stop(5 * time.Second); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.processes = slices.DeleteFunc(c.processes, func(other *process) bool { return other == p })
	return nil
}

// Freeze stops everything that acts by itself. The API server keeps answering, and nothing changes
// until Thaw.
func (c *Cluster) Freeze() error {
	// The controllers first, so that they do not see silent kubelets.
	for _, name := range []Program{ControllerManager, Scheduler, Kwok} {
		if err := c.StopProgram(name); err != nil {
			return err
		}
	}
	return nil
}

// Thaw reverts Freeze. The kubelets report again before the controllers run.
func (c *Cluster) Thaw(ctx context.Context) error {
	if err := c.StartProgram(ctx, Kwok); err != nil {
		return err
	}
	if err := c.waitForLeases(ctx); err != nil {
		return err
	}
	for _, name := range []Program{Scheduler, ControllerManager} {
		if err := c.StartProgram(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Close stops all programs and removes the stage's folder. Further calls have no effect.
func (c *Cluster) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	processes := slices.Clone(c.processes)
	c.mu.Unlock()

	var errs []error
	// In reverse order of their start. The data need not survive, so it does not wait long; the API
	// server would otherwise drain for up to a minute.
	for _, p := range slices.Backward(processes) {
		errs = append(errs, p.stop(time.Second))
	}
	errs = append(errs, c.clean())
	return errors.Join(errs...)
}

// kill ends every program immediately.
func (c *Cluster) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, p := range c.processes {
		p.signal(syscall.SIGKILL)
	}
	for _, p := range c.processes {
		<-p.done
	}
	_ = c.clean()
}

// Logs returns the last lines of each program's log.
func (c *Cluster) Logs(lines int) string {
	var b strings.Builder
	for _, name := range []Program{Etcd, APIServer, ControllerManager, Scheduler, Kwok} {
		fmt.Fprintf(&b, "--- %s\n%s\n", name, tail(c.path(string(name)+".log"), lines))
	}
	return b.String()
}

// clean removes the stage's folder, or everything in it except the logs.
func (c *Cluster) clean() error {
	if !c.keepLogs {
		return os.RemoveAll(c.Dir)
	}
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".log" {
			errs = append(errs, os.RemoveAll(c.path(entry.Name())))
		}
	}
	return errors.Join(errs...)
}

func (c *Cluster) path(name string) string { return filepath.Join(c.Dir, name) }

func (c *Cluster) find(name Program) *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.processes {
		if p.name == name {
			return p
		}
	}
	return nil
}

// Processes returns the process ids of the running programs. Each leads its own process group.
func (c *Cluster) Processes() map[Program]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := map[Program]int{}
	for _, p := range c.processes {
		ids[p.name] = p.cmd.Process.Pid
	}
	return ids
}

// failure returns an error if a program has ended without being asked to.
func (c *Cluster) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.processes {
		if err := p.failure(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) answersOK(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	request.Header.Set("Authorization", "Bearer "+token(Admin))
	response, err := c.http.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode == http.StatusOK
}

// freePorts returns ports that nobody listens on. It holds all of them until the last is found, so
// that they differ.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// newKey returns a private key with which the API server signs service account tokens.
func newKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

var interrupted struct {
	once     sync.Once
	mu       sync.Mutex
	clusters []*Cluster
}

// stopOnInterrupt makes Ctrl-C end the stage as well as the test, because a test's cleanups do not
// run then.
func stopOnInterrupt(c *Cluster) {
	interrupted.mu.Lock()
	interrupted.clusters = append(interrupted.clusters, c)
	interrupted.mu.Unlock()
	interrupted.once.Do(func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
		go func() {
			<-signals
			interrupted.mu.Lock()
			for _, c := range interrupted.clusters {
				c.kill()
			}
			os.Exit(130)
		}()
	})
}
