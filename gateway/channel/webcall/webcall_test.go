package webcall_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

var errJudged = errors.New("judged")

// files is a service with files: "long" has ten bytes of which it says how many they
// are, "longer" ten of which it does not, "page" is a page to log in, "slow" never ends.
func files(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/long":
		_, _ = io.WriteString(w, "0123456789")
	case "/longer":
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, "0123456789")
	case "/page":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<p>log in")
	case "/slow":
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	default:
		http.Error(w, strings.Repeat("no", 100_000), http.StatusNotFound)
	}
}

func TestDownload(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(files))
	defer srv.Close()
	for name, tc := range map[string]struct {
		path  string
		most  int64
		want  string
		fails error // on the way
	}{
		"a file":                   {"/long", 10, "0123456789", nil},
		"any length":               {"/longer", 0, "0123456789", nil},
		"too long, as it says":     {"/long", 9, "", channel.ErrRefused},
		"too long, without saying": {"/longer", 9, "012345678", channel.ErrRefused},
		"a page in its place":      {"/page", 0, "", errJudged},
		"not there":                {"/nowhere", 0, "", errJudged},
		"for ever":                 {"/slow", 0, "", context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			within := time.Minute
			if tc.path == "/slow" {
				within = 50 * time.Millisecond
			}
			d := webcall.Download{Network: "Pigeon Post", Within: within, Most: tc.most, Judge: func(a webcall.Answer) error {
				if a.Status == http.StatusNotFound && len(a.Body) != 64<<10 {
					t.Errorf("%d bytes of the answer were there", len(a.Body))
				}
				return errJudged
			}, IsFile: func(h http.Header) bool { return h.Get("Content-Type") != "text/html" }}
			req, err := http.NewRequest(http.MethodGet, srv.URL+tc.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			c := webcall.Client()
			defer c.CloseIdleConnections()
			body, err := d.Open(t.Context(), c, req)
			var got []byte
			if err == nil {
				got, err = io.ReadAll(body)
				if end := body.Close(); end != nil {
					t.Error(end)
				}
			}
			if string(got) != tc.want || !errors.Is(err, tc.fails) {
				t.Errorf("got %q, %v; want %q, %v", got, err, tc.want, tc.fails)
			}
		})
	}
}

// TestRead: an answer that cannot be read to what must not be done twice is uncertain.
func TestRead(t *testing.T) {
	var got struct{ A int }
	if err := (webcall.Answer{Body: []byte(`{"a":7}`)}).Read(&got, "Pigeon Post", "a request", true); err != nil || got.A != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	broken := webcall.Answer{Body: []byte(`<html>`)}
	if err := broken.Read(&got, "Pigeon Post", "a request", false); err == nil || errors.Is(err, channel.ErrUncertain) {
		t.Errorf("what may be done again: %v", err)
	}
	if err := broken.Read(&got, "Pigeon Post", "a request", true); !errors.Is(err, channel.ErrUncertain) {
		t.Errorf("what must not be done twice: %v", err)
	}
}

func TestWords(t *testing.T) {
	for said, want := range map[string]string{
		"":                                 "Not Found",
		" \u202e\n.":                       "Not Found",
		"Invalid or expired session.":      "Invalid or expired session",
		"No such\nthing":                   "No such thing",
		"and so on...":                     "and so on...",
		strings.Repeat("word ", 80):        strings.Repeat("word ", 59) + "word…",
		"the id\x00 was \u2066no\u2069 id": "the id was no id",
	} {
		if got := webcall.Words(said, "Not Found"); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// A service that is not there is said without names of system calls.
func TestNobodyListens(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	address := gone.URL
	gone.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	const whole = "Chat could not be reached for the list: nothing listens at its address"
	_, err = webcall.Do(t.Context(), webcall.Client(), req, 1<<10)
	if err == nil || !strings.HasSuffix(webcall.Again(err, "Chat", "the list").Error(), whole) {
		t.Errorf("a service that is not there: %v", err)
	}
}
