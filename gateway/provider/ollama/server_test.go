package ollama_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/provider/ollama"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
)

func newServer(t *testing.T, h http.Handler) ollama.Server {
	t.Helper()
	ts := httptest.NewServer(h)
	t.Cleanup(ts.Close)
	return ollama.Server{BaseURL: ts.URL + "/v1", HTTP: ts.Client()}
}

func TestServer(t *testing.T) {
	s := newServer(t, scripted.New())
	info, err := s.Show(t.Context(), "echo")
	if can, known := info.Can("tools"); err != nil || !can || !known || info.ContextLength != 32768 {
		t.Errorf("got %+v, %v", info, err)
	}
	if can, known := info.Can("vision"); can || !known {
		t.Error("it sees")
	}
	if _, known := (ollama.Info{}).Can("tools"); known {
		t.Error("an old server said something")
	}
	loaded, err := s.Loaded(t.Context())
	if err != nil || len(loaded) != 1 || loaded[0].ContextLength != 4096 {
		t.Errorf("got %+v, %v", loaded, err)
	}
}

func pull(t *testing.T, s ollama.Server, model string) (steps []string, err error) {
	t.Helper()
	for p, e := range s.Pull(t.Context(), model) {
		if err != nil {
			t.Fatal("a step after the end")
		}
		if err = e; e == nil {
			steps = append(steps, fmt.Sprintf("%s %d/%d", p.Status, p.Completed, p.Total))
		}
	}
	return steps, err
}

func TestPull(t *testing.T) {
	s := newServer(t, scripted.New())
	steps, err := pull(t, s, "qwen3:8b")
	want := "pulling manifest 0/0, pulling 8eeb52dfb3bb 0/2000, pulling 8eeb52dfb3bb 1500/2000, pulling 8eeb52dfb3bb 2000/2000, verifying " +
		"sha256 digest 0/0, success 0/0"
	if got := strings.Join(steps, ", "); err != nil || got != want {
		t.Errorf("got %s, %v", got, err)
	}
	var refused *ollama.Error
	if _, err := pull(t, s, "missing"); !errors.As(err, &refused) || refused.Detail != "pull model manifest: file does not exist" {
		t.Errorf("got %v", err)
	}
	if steps, err := pull(t, s, "cut"); !errors.Is(err, ollama.ErrBrokeOff) || len(steps) != 3 {
		t.Errorf("got %v, %v", steps, err)
	}
	for p, err := range s.Pull(t.Context(), "left") { // leaving stops it
		if err != nil || p.Done() {
			t.Error(p, err)
		}
		break
	}
}

// What is no Ollama is told in words, with nothing dangerous in them.
func TestFault_F_PROV_14_no_ollama(t *testing.T) {
	for body, want := range map[string]string{
		"<html>hi</html>": "no progress", `{"error":"bad\u001b[31m name"}`: "bad[31m name", "": "broke off", `{"status":"x`: "broke off",
	} {
		s := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(body)) }))
		if _, err := pull(t, s, "m"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", body, err)
		}
		if _, err := s.Show(t.Context(), "m"); strings.HasPrefix(body, "<") && err == nil {
			t.Error("a page was taken for a model")
		}
	}
	s := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(404)
		w.Write([]byte(`{"error":"model 'm' not found"}`))
	}))
	var refused *ollama.Error
	if _, err := s.Show(t.Context(), "m"); !errors.As(err, &refused) || refused.Status != 404 {
		t.Errorf("got %v", err)
	}
}

func FuzzPull(f *testing.F) {
	f.Add(`{"status":"success"}`)
	f.Add(`{"status":"x","total":-5,"completed":9}`)
	f.Fuzz(func(t *testing.T, body string) {
		s := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(body)) }))
		ends := 0
		for p, err := range s.Pull(t.Context(), "m") {
			if ends > 0 || p.Completed < 0 || p.Completed > p.Total {
				t.Fatal(p, err)
			}
			if err != nil || p.Done() {
				ends++
			}
		}
		if ends != 1 {
			t.Fatal("no end")
		}
	})
}
