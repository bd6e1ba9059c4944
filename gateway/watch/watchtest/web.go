package watchtest

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/watch"
)

// Site is a server with one page, which a test changes.
type Site struct {
	*httptest.Server
	mu      sync.Mutex
	body    string
	kind    string
	version int
	away    bool
	Asked   int // without having been told that nothing changed
}

// NewSite returns a site, and the way to it.
func NewSite(t *testing.T, kind, body string) (*Site, watch.Fetcher) {
	s := &Site{kind: kind, body: body}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	by, err := egress.Only(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return s, by
}

// ServeHTTP implements http.Handler, with conditional requests.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tag := `"` + strconv.Itoa(s.version) + `"`
	switch {
	case s.away:
		http.Error(w, "away", http.StatusServiceUnavailable)
	case r.Header.Get("If-None-Match") == tag:
		w.WriteHeader(http.StatusNotModified)
	default:
		s.Asked++
		w.Header().Set("ETag", tag)
		w.Header().Set("Content-Type", s.kind)
		_, _ = w.Write([]byte(s.body))
	}
}

// Put changes the page.
func (s *Site) Put(body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.body = body
	s.version++
}

// Away takes the site away, or brings it back.
func (s *Site) Away(_ *testing.T, away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

// Page is the body now.
func (s *Site) Page() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.body
}
