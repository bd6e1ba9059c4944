package provider_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
)

// pipes is a network in memory, so that waiting costs no real time.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// inMemory runs f with a scripted server inside a bubble of fake time.
func inMemory(t *testing.T, f func(t *testing.T, s *server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		h := scripted.New()
		srv := &http.Server{Handler: h}
		served := make(chan struct{})
		go func() { defer close(served); srv.Serve(p) }()
		tr := &http.Transport{DialContext: p.dial}
		f(t, &server{Handler: h, http: &http.Client{Transport: tr}, url: "http://memory"})
		tr.CloseIdleConnections()
		srv.Close()
		<-served
	})
}

func TestFault_F_PROV_12_silence(t *testing.T) {
	const first, idle = 30 * time.Second, 45 * time.Second // the documented defaults
	tests := []struct {
		model, text   string
		after, ollama time.Duration
	}{
		{"fault-slowfirst-60000", "", first, first},
		// Ollama's dialect has no record that only opens the answer.
		{"fault-hang", "", idle, first},
		{"fault-keepalive", "", idle, first},
		{"fault-hang-mid", "one two", idle, idle},
	}
	for _, name := range []string{"openai", "anthropic", "ollama"} {
		for _, tt := range tests {
			t.Run(name+"/"+tt.model, func(t *testing.T) {
				inMemory(t, func(t *testing.T, s *server) {
					p := s.dialects(noLimits)[name]
					start := time.Now()
					o := collect(t, t.Context(), p, ask(tt.model, "hello"))
					if o.class() != model.ClassTimeout || o.text != tt.text {
						t.Errorf("got %q, %v", o.text, o.err)
					}
					after := tt.after
					if name == "ollama" {
						after = tt.ollama
					}
					if took := time.Since(start); took != after {
						t.Errorf("took %v, want %v", took, after)
					}
				})
			})
		}
	}
}

// A consumer that works long on an event is not silence of the service, and a
// limit for whole requests would cut every long answer.
func TestSlowConsumerIsNotSilence(t *testing.T) {
	inMemory(t, func(t *testing.T, s *server) {
		s.http.Timeout = time.Minute
		for ev, err := range s.dialects(noLimits)["openai"].Stream(t.Context(), ask("stream-3-10", "x")) {
			if err != nil {
				t.Fatal(err)
			}
			if ev.Kind == model.EventText {
				wait(2 * time.Minute)
			}
		}
	})
}

// wait lets fake time pass.
func wait(d time.Duration) { <-time.After(d) }

func TestCancel(t *testing.T) {
	for _, name := range []string{"openai", "anthropic", "ollama"} {
		for _, id := range []string{"fault-slowfirst-60000", "fault-hang", "fault-hang-mid", "stream-1000-100"} {
			t.Run(name+"/"+id, func(t *testing.T) {
				inMemory(t, func(t *testing.T, s *server) {
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(time.Second, cancel)
					start := time.Now()
					o := collect(t, ctx, s.dialects(noLimits)[name], ask(id, "x"))
					if !errors.Is(o.err, context.Canceled) {
						t.Errorf("got %v", o.err)
					}
					if took := time.Since(start); took > 1250*time.Millisecond {
						t.Errorf("took %v after the cancel", took-time.Second)
					}
					synctest.Wait()
					if n := s.Snapshot().InFlight; n != 0 {
						t.Errorf("%d requests still run at the service", n)
					}
				})
			})
		}
	}
}

// Breaking out of the loop closes the connection, too.
func TestBreak(t *testing.T) {
	for _, name := range []string{"openai", "anthropic", "ollama"} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, s *server) {
				for range s.dialects(noLimits)[name].Stream(t.Context(), ask("stream-1000-100", "x")) {
					break
				}
				synctest.Wait()
				if n := s.Snapshot().InFlight; n != 0 {
					t.Errorf("%d requests still run at the service", n)
				}
			})
		})
	}
}
