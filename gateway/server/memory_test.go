package server

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// memoryListener is a loopback listener without a network, so that a test can
// run under fake time. Its pipes have no buffer: a peer that does not read is
// felt at once.
type memoryListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

type memoryConn struct{ net.Conn }

func (memoryConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9} }

func newMemoryListener() *memoryListener {
	return &memoryListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error { l.once.Do(func() { close(l.done) }); return nil }

func (l *memoryListener) Addr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 18789}
}

func (l *memoryListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- memoryConn{theirs}:
		return ours, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// startMemory runs a gateway without a network.
func startMemory(t testing.TB, change func(*Options)) *gateway {
	t.Helper()
	ln := newMemoryListener()
	g := startOn(t, ln, change)
	g.http = &http.Client{Transport: &http.Transport{DialContext: ln.dial}}
	return g
}

// pass lets fake time go by.
func pass(d time.Duration) { <-time.After(d) }
