package wire

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// An HTTP/2 stream that is reset in the middle keeps its words.
func TestFault_F_PROV_11_http2_reset(t *testing.T) {
	ts := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("got %s", r.Proto)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, data("one ", "two "))
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	ts.EnableHTTP2 = true
	ts.Config.ErrorLog = log.New(io.Discard, "", 0)
	ts.StartTLS()
	defer ts.Close()
	text, _, _, err := run(t, &Service{BaseURL: ts.URL, HTTP: ts.Client()})
	if text != "one two " || model.ClassOf(err) != model.ClassInterrupted {
		t.Errorf("got %q, %v", text, err)
	}
}

// A line that never ends costs a bounded amount of memory.
func TestFault_F_PROV_10_endless_line(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, data("fine ")+"data: ")
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<20)); err != nil {
				return
			}
		}
	})
	text, _, _, err := run(t, s)
	if text != "fine " || model.ClassOf(err) != model.ClassMalformed {
		t.Errorf("got %q, %v", text, err)
	}
}

// A certificate that nobody vouches for: nothing is sent.
func TestFault_F_PROV_22_certificate(t *testing.T) {
	asked := false
	ts := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	ts.Config.ErrorLog = log.New(io.Discard, "", 0)
	ts.StartTLS()
	defer ts.Close()
	tr := &http.Transport{TLSClientConfig: &tls.Config{}}
	defer tr.CloseIdleConnections()
	_, _, _, err := run(t, &Service{BaseURL: ts.URL, HTTP: &http.Client{Transport: tr}})
	var e *model.Error
	if !errors.As(err, &e) || e.Class != model.ClassConnect || !strings.Contains(e.Detail, "certificate") || asked {
		t.Errorf("got %v, asked %v", err, asked)
	}
}

// A proxy that cannot be reached is told from a service that cannot.
func TestFault_F_PROV_09_proxy(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	at, err := url.Parse(closed.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, base := range []string{"http://model.test", "https://model.test"} {
		tr := &http.Transport{Proxy: http.ProxyURL(at)}
		_, _, _, err := run(t, &Service{BaseURL: base, HTTP: &http.Client{Transport: tr}})
		tr.CloseIdleConnections()
		var e *model.Error
		if !errors.As(err, &e) || e.Class != model.ClassConnect || !strings.Contains(e.Detail, "proxy") {
			t.Errorf("%s: got %v", base, err)
		}
	}
}

// Whatever Prepare puts on a request as a secret is repeated by no error.
func TestSec_A_SEC_exchanged_keys_are_not_repeated(t *testing.T) {
	const exchanged = "tid=1234567890abcdef;exp=17"
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":{"message":"bad token `+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+` given"}}`)
	})
	s.Prepare = func(r *http.Request, _ []byte) error {
		r.Header.Set("Authorization", "Bearer "+exchanged)
		return nil
	}
	_, _, _, err := run(t, s)
	var e *model.Error
	if !errors.As(err, &e) || e.Class != model.ClassAuth || strings.Contains(e.Detail, "1234567890") {
		t.Errorf("got %v", err)
	}
	s.Prepare = func(*http.Request, []byte) error {
		return &model.Error{Class: model.ClassAuth, Detail: "no token"}
	}
	if _, _, _, err = run(t, s); model.ClassOf(err) != model.ClassAuth {
		t.Errorf("got %v", err)
	}
}
