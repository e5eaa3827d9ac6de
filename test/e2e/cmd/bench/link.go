//go:build linux

package main

import (
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// link is a connection between clients and the API server of a stage that counts bytes and can be
// slow.
type link struct {
	kubeconfig string
	received   atomic.Int64 // bytes to the client
	listener   net.Listener
	server     string
	trip       time.Duration // latency in one direction
	rate       int64         // bytes per second in each direction; 0: unlimited
	down, up   pace
}

// pace tracks when the next byte may leave.
type pace struct {
	mu   sync.Mutex
	next time.Time
}

// newLink returns a link with its own kubeconfig.
func newLink(c *stage.Cluster, trip time.Duration, rate int64) (*link, error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	l := &link{server: u.Host, trip: trip, rate: rate}
	if l.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	config, err := os.ReadFile(c.Kubeconfig)
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(c.Dir, "kubeconfig-link-")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	l.kubeconfig = file.Name()
	if _, err := file.WriteString(strings.ReplaceAll(string(config), u.Host, l.listener.Addr().String())); err != nil {
		return nil, err
	}
	go l.serve()
	return l, nil
}

func (l *link) close() { _ = l.listener.Close() }

func (l *link) serve() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer client.Close()
			server, err := net.Dial("tcp", l.server)
			if err != nil {
				return
			}
			defer server.Close()
			go func() {
				l.carry(server, client, &l.up, nil)
				_ = server.(*net.TCPConn).CloseWrite()
			}()
			l.carry(client, server, &l.down, &l.received)
		}()
	}
}

// carry copies from one end to the other.
func (l *link) carry(to io.Writer, from io.Reader, p *pace, count *atomic.Int64) {
	type parcel struct {
		at   time.Time
		what []byte
	}
	under := make(chan parcel, 1<<12)
	go func() {
		defer close(under)
		for {
			buffer := make([]byte, 16<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				if count != nil {
					count.Add(int64(n))
				}
				under <- parcel{p.leave(n, l.rate).Add(l.trip), buffer[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	for one := range under {
		time.Sleep(time.Until(one.at))
		if _, err := to.Write(one.what); err != nil {
			for range under { // so that nobody waits for it
			}
			return
		}
	}
}

// leave waits until a number of bytes can leave and returns the time when they have.
func (p *pace) leave(n int, rate int64) time.Time {
	now := time.Now()
	if rate == 0 {
		return now
	}
	p.mu.Lock()
	p.next = later(p.next, now).Add(time.Duration(n) * time.Second / time.Duration(rate))
	at := p.next
	p.mu.Unlock()
	time.Sleep(time.Until(at))
	return at
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
