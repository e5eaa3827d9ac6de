// Command floor shows the minimum cost of an answer: it sends requests, given as paths of the API
// server, with client-go's clients in protobuf and compressed, reads each list to its end, decodes
// every object, and discards it.
//
//	floor '/api/v1/nodes?limit=500' '/apis/apps/v1/namespaces/agents-0/daemonsets/agent-00'
//
// The server is that of $KUBECONFIG. The requests are concurrent. It prints the number of decoded
// objects.
package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, paths []string) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	var objects atomic.Int64
	var failed error
	var once sync.Once
	var all sync.WaitGroup
	for _, path := range paths {
		all.Go(func() {
			n, err := read(ctx, client, path)
			if objects.Add(int64(n)); err != nil {
				once.Do(func() { failed = fmt.Errorf("%s: %w", path, err) })
			}
		})
	}
	all.Wait()
	fmt.Println(objects.Load(), "objects")
	return failed
}

// read requests a path, all pages of a list, and returns the number of objects.
func read(ctx context.Context, client *kubernetes.Clientset, path string) (n int, err error) {
	for {
		request := client.CoreV1().RESTClient().Get().RequestURI(path)
		if path == "/version" {
			_, err := request.DoRaw(ctx)
			return 1, err
		}
		o, err := request.Do(ctx).Get()
		if apierrors.IsNotFound(err) { // that is an answer, too
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if !meta.IsListType(o) {
			return n + 1, nil
		}
		n += meta.LenList(o)
		list, err := meta.ListAccessor(o)
		if err != nil || list.GetContinue() == "" {
			return n, err
		}
		u, err := url.Parse(path)
		if err != nil {
			return n, err
		}
		q := u.Query()
		q.Set("continue", list.GetContinue())
		q.Del("resourceVersion")
		q.Del("resourceVersionMatch")
		u.RawQuery = q.Encode()
		path = u.String()
	}
}
