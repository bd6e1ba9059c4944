// Package transcriptiontest is a strict server of OpenAI's /v1/audio/transcriptions
// for tests: it refuses what services refuse, in their words.
package transcriptiontest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Request is one that was taken.
type Request struct {
	Model, Language, Prompt, Name, MIME string
	Size                                int
}

// Server knows one key, and answers with Words.
type Server struct {
	URL string // with /v1

	mu      sync.Mutex
	key     string
	words   string
	usage   map[string]any
	fail    int    // a status, 0: none
	raw     string // an answer as it is, "" for none
	max     int
	taken   []Request
	refused []string
	hold    chan struct{} // nil: it answers at once
}

// endings are those of the kinds that OpenAI takes.
var endings = []string{".flac", ".m4a", ".mp3", ".mp4", ".mpeg", ".mpga", ".oga", ".ogg", ".wav", ".webm"}

// New starts a server, which ends with the test.
func New(t testing.TB, key, words string) *Server {
	t.Helper()
	s := &Server{key: key, words: words, max: 25 << 20}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.URL = srv.URL + "/v1"
	return s
}

// Say changes the words, and Fail lets it refuse with a status (0: not), Answer
// gives it an answer as it is, and Bill what it says of its use.
func (s *Server) Say(words string)          { s.set(func() { s.words = words }) }
func (s *Server) Fail(status int)           { s.set(func() { s.fail = status }) }
func (s *Server) Answer(raw string)         { s.set(func() { s.raw = raw }) }
func (s *Server) Bill(usage map[string]any) { s.set(func() { s.usage = usage }) }

// Hold keeps all requests until release is called.
func (s *Server) Hold() (release func()) {
	c := make(chan struct{})
	s.set(func() { s.hold = c })
	return sync.OnceFunc(func() {
		s.set(func() { s.hold = nil })
		close(c)
	})
}

func (s *Server) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Taken are the requests that were good, and Refused says what was wrong with the
// others.
func (s *Server) Taken() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.taken)
}

// Refused says what was wrong with requests.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, why, req := s.judge(r)
	s.mu.Lock()
	if status != http.StatusOK {
		s.refused = append(s.refused, why)
	} else {
		s.taken = append(s.taken, req)
	}
	words, usage, fail, raw, hold := s.words, s.usage, s.fail, s.raw, s.hold
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	if status == http.StatusOK && fail != 0 {
		status, why = fail, "The server had an error while processing your request."
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	switch {
	case status != http.StatusOK:
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": why, "type": "invalid_request_error"}})
	case raw != "":
		_, _ = io.WriteString(w, raw)
	default:
		a := map[string]any{"text": words}
		if usage != nil {
			a["usage"] = usage
		}
		_ = json.NewEncoder(w).Encode(a)
	}
}

// judge refuses what OpenAI's server refuses.
func (s *Server) judge(r *http.Request) (status int, why string, req Request) {
	switch {
	case r.URL.Path != "/v1/audio/transcriptions":
		return http.StatusNotFound, "Invalid URL (" + r.Method + " " + r.URL.Path + ")", req
	case r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "Not allowed to " + r.Method + " on /v1/audio/transcriptions", req
	case s.key != "" && r.Header.Get("Authorization") != "Bearer "+s.key:
		return http.StatusUnauthorized, "Incorrect API key provided: " + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), req
	}
	if err := r.ParseMultipartForm(32 << 20); err != nil {
		return http.StatusBadRequest, "Could not parse multipart form: " + err.Error(), req
	}
	for field := range r.MultipartForm.Value {
		if !slices.Contains([]string{"model", "response_format", "language", "prompt", "temperature"}, field) {
			return http.StatusBadRequest, "Unrecognized request argument supplied: " + field, req
		}
	}
	req = Request{Model: r.FormValue("model"), Language: r.FormValue("language"), Prompt: r.FormValue("prompt")}
	f, head, err := r.FormFile("file")
	if err != nil {
		return http.StatusBadRequest, "you must provide a file", req
	}
	defer f.Close()
	data, _ := io.ReadAll(f)
	req.Name, req.MIME, req.Size = head.Filename, head.Header.Get("Content-Type"), len(data)
	at := strings.LastIndexByte(req.Name, '.')
	switch {
	case req.Model == "":
		return http.StatusBadRequest, "you must provide a model parameter", req
	case r.FormValue("response_format") != "json":
		return http.StatusBadRequest, "response_format is not compatible with model", req
	case req.Language != "" && len(req.Language) != 2:
		return http.StatusBadRequest, fmt.Sprintf("Invalid language '%s'. Language parameter must be specified in ISO-639-1 format.",
			req.Language), req
	case at < 0 || !slices.Contains(endings, req.Name[at:]):
		return http.StatusBadRequest, "Invalid file format. Supported formats: " + strings.Join(endings, " "), req
	case len(data) > s.max:
		return http.StatusRequestEntityTooLarge, "Maximum content size limit exceeded", req
	}
	return http.StatusOK, "", req
}
