package source_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
)

// mostMemory is the maximum memory of a process in MB, for any response of a server.
const mostMemory = 512

// TestEndlessAnswers checks that a response without an end, or of gigabytes, is a gap or an error, and that the
// reading process needs little memory. Each case runs this program again; see TestMain.
func TestEndlessAnswers(t *testing.T) {
	const json, protobuf = runtime.ContentTypeJSON, runtime.ContentTypeProtobuf
	const nodes, pods = `{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[`, `{"kind":"PodList","apiVersion":"v1","metadata":{"continue":"N"},"items":[`
	type writer = func(w io.Writer, page int) error
	forever := func(head, again string) writer { // N is replaced by a counter
		return func(w io.Writer, _ int) error {
			_, err := io.WriteString(w, head)
			var b bytes.Buffer
			before, after, numbered := strings.Cut(again, "N")
			for n := 0; err == nil; n++ {
				if b.WriteString(before); numbered {
					b.Write(strconv.AppendInt(b.AvailableBuffer(), int64(n), 10))
					b.WriteString(after)
				}
				if b.Len() > 1<<16 {
					_, err = b.WriteTo(w)
				}
			}
			return err
		}
	}
	// A list of nodes in protobuf with 30 bytes per node. Its length says that it has a terabyte.
	inProtobuf := func(item string) writer {
		head := append([]byte("k8s\x00\x0a\x0e\x0a\x02v1\x12\x08NodeList\x12"), binary.AppendUvarint(nil, 1<<40)...)
		return forever(string(head)+"\x0a\x00", item)
	}
	page := func(objects int) writer {
		return func(w io.Writer, page int) error {
			var b bytes.Buffer
			b.WriteString(strings.Replace(pods, "N", strconv.Itoa(page), 1))
			for i := range objects {
				fmt.Fprintf(&b, `%s{"metadata":{"name":"p%d-%d","namespace":"kube-system"}}`, map[bool]string{true: ","}[i > 0], page, i)
			}
			b.WriteString("]}")
			_, err := b.WriteTo(w)
			return err
		}
	}
	large := strings.Repeat("x", 1<<20)
	unusable := func(what, why string) string { return "gap " + what + ": unusable answer: " + why }
	const tooLarge = "larger than 8Mi, which no API server stores"
	tooMany := func(what string, n int) string {
		return fmt.Sprintf("gap %s: more than %d objects, and no more are held: --max-input 4Gi holds twice as many", what, n)
	}
	ofNodes, ofPods := api.MostOf[corev1.Node](plenty), api.MostOf[corev1.Pod](plenty)
	for _, tt := range []struct {
		why    string
		asked  string // the requests that get this response; empty for all
		status int
		form   string
		answer writer
		want   string // text that the process prints
	}{
		{"a text without an end", "nodes", 200, json, forever(`{"kind":"`, large), unusable("nodes", tooLarge)},
		{"an object without an end", "nodes", 200, json, forever(nodes+`{"metadata":{"name":"a","annotations":{"a":"b"`, `,"N":"`+large+`"`), unusable("nodes", "items[0]: "+tooLarge)},
		{"white space", "nodes", 200, json, forever(``, strings.Repeat(" ", 1<<16)), unusable("nodes", tooLarge)},
		{"lists in lists", "nodes", 200, json, forever(``, `[`), unusable("nodes", "it has no kind, but a NodeList was requested")},
		{"lists in lists in an object", "nodes", 200, json, forever(nodes+`{"metadata":`, `[`), unusable("nodes", "items[0]: it is not JSON")},
		{"fields without an end", "nodes", 200, json, forever(`{"kind":"NodeList"`, `,"N":{}`), unusable("nodes", tooLarge)},
		{"small objects", "nodes", 200, json, forever(nodes+`{"metadata":{"name":"a"}}`, `,{"metadata":{"name":"N"}}`), tooMany("nodes", ofNodes)},
		{"small objects in protobuf", "nodes", 200, protobuf, inProtobuf("\x12\x05\x0a\x03\x0a\x01a"), tooMany("nodes", ofNodes)},
		{"a large object in protobuf", "nodes", 200, protobuf, inProtobuf("\x12\xff\xff\xff\xff\x0f" + large), unusable("nodes", "items[0]: "+tooLarge)},
		{"large objects that nobody keeps", "controllerrevisions", 200, json, forever(`{"kind":"ControllerRevisionList","apiVersion":"apps/v1","metadata":{},"items":[{"metadata":{"name":"a","namespace":"x"}}`, `,{"metadata":{"name":"N","namespace":"x"},"data":{"a":"`+large+`"}}`),
			"error controllerrevisions: the answers of the server have more than 64Mi, which is the most that is read; --max-input 128Mi"},
		{"tokens without an end", "pods", 200, json, page(500), tooMany("pods", ofPods)},
		{"empty pages without an end", "pods", 200, json, page(0), "gap pods: the server's pages do not end: there are more than 10000"},
		{"a DaemonSet without an end", "daemonset", 200, json, forever(`{"kind":"DaemonSet","x":"`, large), "error daemonset kube-system/agent: unusable answer: " + tooLarge + "; kubectl get --raw '/readyz?verbose' (a load balancer or a proxy may stand before the server)"},
		{"a version without an end", "version", 200, json, forever(`{"gitVersion":"`, large), unusable("version", tooLarge)},
		{"a refusal without an end", "nodes", 500, "text/plain", forever(``, "no "), "gap nodes: an error on the server ("},
		{"a Status without an end", "nodes", 503, json, forever(`{"kind":"Status","message":"`, large), "gap nodes: the server is currently unable to handle the request"},
		{"a web page without an end", "nodes", 200, "text/html", forever(`<html><title>Sign in</title>`, "no "), `gap nodes: the answer is a web page: "Sign in", 200 OK`},
		{"everything without an end", "", 200, json, forever(`{"kind":"`, large), "error daemonset kube-system/agent: unusable answer: " + tooLarge},
		{"everything but the DaemonSet", "*", 200, json, forever(`{"kind":"`, large), unusable("nodes", tooLarge)},
		{"an object that is large in memory", "daemonset", 200, json, func(w io.Writer, _ int) error {
			_, err := fmt.Fprintf(w, `{"kind":"DaemonSet","apiVersion":"apps/v1","metadata":{"name":"agent","namespace":"kube-system"},"spec":{"template":{"spec":{"containers":[{}%s]}}}}`, strings.Repeat(",{}", 2<<20))
			return err
		}, "error daemonset kube-system/agent: unusable answer: more than 250000 fields and members of lists"},
		{"an object that is large in memory, in protobuf", "nodes", 200, protobuf, func(w io.Writer, _ int) error {
			item := delimit(2, delimit(3, strings.Repeat("\x22\x00", 3<<20))) // conditions
			_, err := io.WriteString(w, "k8s\x00\x0a\x0e\x0a\x02v1\x12\x08NodeList"+delimit(2, "\x0a\x00"+item))
			return err
		}, unusable("nodes", "items[0]: more than 250000 fields and members of lists")},
	} {
		for _, zipped := range []bool{false, true} {
			if zipped && !strings.Contains(tt.want, tooLarge) {
				continue // compression does not make it smaller
			}
			t.Run(tt.why+map[bool]string{true: ", in gzip"}[zipped], func(t *testing.T) {
				t.Parallel()
				s := newAPIServer(t, parseWorld(t, small))
				s.answer = func(s *apiServer, w http.ResponseWriter, asked string, n int) bool {
					if asked != tt.asked && tt.asked != "" && (tt.asked != "*" || asked == "daemonset") {
						return false
					}
					s.mu.Unlock() // the response may take long
					defer s.mu.Lock()
					w.Header().Set("Content-Type", tt.form)
					to := io.Writer(w)
					if zipped {
						w.Header().Set("Content-Encoding", "gzip")
						z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
						defer z.Close()
						to = z
					}
					w.WriteHeader(tt.status)
					_ = tt.answer(to, n)
					return true
				}
				said, megabytes := readEndless(t, s.URL, strings.Contains(tt.want, "64Mi"))
				t.Logf("%d MB: %.200s", megabytes, said)
				if !strings.Contains(said, tt.want) {
					t.Errorf("it says\n%s\nwant %s", said, tt.want)
				}
				if megabytes > mostMemory {
					t.Errorf("it takes %d MB, at most %d are allowed", megabytes, mostMemory)
				}
			})
		}
	}
}

// delimit returns a protobuf field that holds a nested message.
func delimit(number protowire.Number, inner string) string {
	return string(protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), inner))
}

// readEndless runs another process that reads the DaemonSet of a server. It returns the output of the process and its
// peak memory. little sets a low limit for the input instead of the default.
func readEndless(t *testing.T, address string, little bool) (said string, megabytes int) {
	t.Helper()
	endless <- struct{}{}
	defer func() { <-endless }()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "ENDLESS_CLUSTER="+address, fmt.Sprintf("ENDLESS_LITTLE=%t", little))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if kB := peakSize.FindSubmatch(out); kB != nil { // only Linux reports it
		n, _ := strconv.Atoi(string(kB[1]))
		megabytes = n / 1024
	}
	return string(out), megabytes
}

// endless limits how many of these processes run at once, because each may take 512 MB.
var endless = make(chan struct{}, 2)

// sayEndless is the main function of that process.
func sayEndless(address string) {
	debug.SetGCPercent(100) // as in the program; tests have another value
	c, err := cluster.NewCluster(&rest.Config{Host: address, QPS: -1}, time.Now)
	if err != nil {
		fmt.Println(err)
		return
	}
	if os.Getenv("ENDLESS_LITTLE") == "true" {
		c.AtMost(64 << 20)
	}
	s, err := c.Read(background, agent)
	if err != nil {
		fmt.Printf("error %v; %s\n", err, err.(interface{ Hint() string }).Hint())
	} else {
		for _, g := range s.Gaps {
			fmt.Printf("gap %s: %s\n", g.What, g.Message)
		}
	}
	status, _ := os.ReadFile("/proc/self/status")
	fmt.Printf("%s\n", peakSize.Find(status))
}
