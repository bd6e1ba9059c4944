package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// keyed is a service that takes one token, and counts what it carried out.
type keyed struct {
	*httptest.Server
	mu    sync.Mutex
	good  string
	calls int
}

func newKeyed(t *testing.T) *keyed {
	k := &keyed{good: "one"}
	s := echoServer()
	s.AddTool(&mcp.Tool{Name: "count", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.calls++
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "counted"}}}, nil
		})
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	k.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k.mu.Lock()
		good := r.Header.Get("Authorization") == "Bearer "+k.good
		k.mu.Unlock()
		if !good {
			_, _ = io.Copy(io.Discard, r.Body)
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		k.Close()
		for session := range s.Sessions() {
			_ = session.Close()
		}
	})
	return k
}

func (k *keyed) set(token string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.good = token
}

func (w *world) settled(id string) Status {
	w.t.Helper()
	for {
		st, err := w.hub.Settled(w.t.Context(), id)
		if !errors.Is(err, ErrUnknown) {
			return st
		}
		pause10(w.t)
	}
}

// A service that does not take the token any more gets the next one: the request
// that it refused is carried out once. When there is none, a person is asked to
// log in, and nothing is tried again.
func TestSec_A_SEC_07_LoginsAreRenewedOnce(t *testing.T) {
	k := newKeyed(t)
	var mu sync.Mutex
	token, fetched := "one", 0
	w := newWorld(t, nil)
	w.hub.o.Bearer = func(_ context.Context, _ Server, refused string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if refused != "" && refused == token {
			if fetched++; fetched > 1 {
				return "", ErrLogin
			}
			token = "two"
		}
		return token, nil
	}
	w.hub.Configure([]Server{{ID: "s", URL: k.URL, OAuth: true}})
	if st := w.settled("s"); st.State != Ready {
		t.Fatalf("%+v", st)
	}
	k.set("two")
	if res, err := w.call(w.tool("mcp__s__count"), `{}`); err != nil || !strings.Contains(res.Text, "counted") || k.calls != 1 ||
		fetched != 1 {
		t.Fatalf("%q %v, carried out %d times, %d tokens fetched", res.Text, err, k.calls, fetched)
	}
	k.set("three")
	if _, err := w.call(w.tool("mcp__s__count"), `{}`); err == nil {
		t.Error("a call without a login worked")
	}
	for {
		st := w.hub.Status()[0]
		if st.State == Failed && st.Login && strings.Contains(st.Problem, "hearth mcp login s") {
			break
		}
		if st.State == Waiting {
			t.Fatalf("it is tried again: %+v", st)
		}
		pause10(t)
	}
	if k.calls != 1 {
		t.Errorf("carried out %d times", k.calls)
	}
}

// A service that has a key of the owner's gets no token of a login.
func TestLoginIsForThoseThatWantIt(t *testing.T) {
	k := newKeyed(t)
	w := newWorld(t, nil)
	w.hub.o.Bearer = func(context.Context, Server, string) (string, error) { return "two", nil }
	w.hub.Configure([]Server{{ID: "key", URL: k.URL, Headers: map[string]string{"Authorization": "Bearer one"}},
		{ID: "login", URL: k.URL, OAuth: true}})
	if st := w.settled("key"); st.State != Ready {
		t.Errorf("%+v", st)
	}
	if st := w.settled("login"); st.State != Failed || !st.Login || !strings.Contains(st.Problem, "hearth mcp login login") {
		t.Errorf("%+v", st)
	}
}
