package serve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearth-assistant/hearth/gateway/pairing/admission"
)

// late answers chats after a while.
type late struct{ fake }

func (l *late) CallTwice(ctx context.Context, method string, params, first, final any) error {
	select {
	case <-time.After(600 * time.Millisecond):
		return l.fake.CallTwice(ctx, method, params, first, final)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// house is a Handler behind a server with short times, as the gateway's has.
func house(t *testing.T, g Gateway) *httptest.Server {
	life, end := context.WithCancel(t.Context())
	var errands sync.WaitGroup
	h := NewHandler(HTTPOptions{Version: "test", Life: life, Go: errands.Go, Admit: func(r *http.Request) (Visit, error) {
		id := r.Header.Get("Authorization")
		if id == "" {
			return Visit{}, &admission.Refusal{Status: http.StatusUnauthorized, Text: "a token is needed"}
		}
		return Visit{ID: id, Gateway: g, Release: func() {}, Bind: func(ctx context.Context) (context.Context, func()) {
			return context.WithCancel(ctx)
		}}, nil
	}})
	s := httptest.NewUnstartedServer(h)
	s.Config.ReadTimeout, s.Config.WriteTimeout = 200*time.Millisecond, 200*time.Millisecond
	s.Start()
	t.Cleanup(func() {
		end()
		errands.Wait()
		s.Close()
	})
	return s
}

type named struct{ token string }

func (n named) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", n.token)
	return http.DefaultTransport.RoundTrip(r)
}

func dial(t *testing.T, s *httptest.Server, token string) *mcp.ClientSession {
	t.Helper()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: &http.Client{Transport: named{token}}, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// An answer may take longer than the server gives a request or a page.
func TestSlowAnswerOutlivesTheServersTimes(t *testing.T) {
	c := dial(t, house(t, &late{}), "a")
	res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "chat_send", Arguments: map[string]any{"message": "hi"}})
	if err != nil || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, "main heard hi") {
		t.Errorf("%+v %v", res, err)
	}
}

// waiting counts the chats that are under way.
type waiting struct{ began chan struct{} }

func (w *waiting) CallTwice(ctx context.Context, _ string, _, _, _ any) error {
	w.began <- struct{}{}
	<-ctx.Done()
	return context.Cause(ctx)
}

func (w *waiting) Call(context.Context, string, any, any) error { return nil }

// One token with calls without end leaves the others their place.
func TestSec_A_DOS_08_OneTokenDoesNotTakeAll(t *testing.T) {
	g := &waiting{began: make(chan struct{}, 100)}
	s := house(t, g)
	busy := dial(t, s, "busy")
	ctx, stop := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	t.Cleanup(calls.Wait)
	t.Cleanup(stop)
	for range maxRequests {
		calls.Go(func() {
			_, _ = busy.CallTool(ctx, &mcp.CallToolParams{Name: "chat_send", Arguments: map[string]any{"message": "wait"}})
		})
	}
	for range maxRequests - 1 { // a standing stream may take one place
		<-g.began
	}
	var full int
	for range 3 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := named{"busy"}.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusTooManyRequests && resp.Header.Get("Retry-After") != "" {
			full++
		}
	}
	if full == 0 {
		t.Error("one token may have calls without end")
	}
	if _, err := dial(t, s, "other").ListTools(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
