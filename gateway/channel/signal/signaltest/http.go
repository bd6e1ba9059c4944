package signaltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// refusal is an error of signal-cli.
type refusal struct {
	code  int
	words string
	data  any
}

func (r *refusal) Error() string { return r.words }

// Codes of errors.
const (
	userError   = -1
	rateError   = -5
	badRequest  = -32600
	noMethod    = -32601
	badParams   = -32602
	unspecified = -32603
)

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/v1/rpc", s.rpc)
	mux.HandleFunc("/api/v1/events", s.stream)
	return mux
}

func (s *Server) rpc(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		w.WriteHeader(http.StatusUnsupportedMediaType)
		return
	}
	body, err := io.ReadAll(r.Body)
	var q struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  map[string]any  `json:"params"`
	}
	if err != nil || json.Unmarshal(body, &q) != nil || strings.Contains(strings.TrimSpace(string(body)), "\n") {
		answer(w, nil, nil, &refusal{code: badRequest, words: "unreadable"})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[q.Method]++
	kind := q.Method
	if q.Params["editTimestamp"] != nil {
		kind = "edit"
	}
	var f Fault
	if list := s.faults[kind]; len(list) > 0 {
		f, s.faults[kind] = list[0], list[1:]
	}
	if f.CutBefore {
		panic(http.ErrAbortHandler)
	}
	if f.Status != 0 {
		http.Error(w, "<html>", f.Status)
		return
	}
	result, refused := s.run(q.Version, q.ID, q.Method, q.Params, f)
	if f.CutAfter {
		panic(http.ErrAbortHandler)
	}
	answer(w, q.ID, result, refused)
}

// run judges a request and does it.
func (s *Server) run(version string, id json.RawMessage, method string, params map[string]any, f Fault) (any, *refusal) {
	do, ok := map[string]func(map[string]any) (any, *refusal){
		"send": s.send, "sendReaction": s.react, "remoteDelete": s.remove, "sendTyping": s.typing, "sendReceipt": s.receipt,
		"getAttachment": s.attachment, "getUserStatus": s.status,
		"version": func(map[string]any) (any, *refusal) { return map[string]any{"version": "0.14.1"}, nil },
	}[method]
	switch {
	case version != "2.0" || len(id) == 0:
		return nil, &refusal{code: badRequest, words: "jsonrpc and id must be set"}
	case !ok:
		return nil, &refusal{code: noMethod, words: "Method not implemented"}
	case params["account"] != Number:
		return nil, &refusal{code: badParams, words: "Specified account does not exist"}
	case f.Result != "":
		result := map[string]any{"recipientAddress": map[string]any{"uuid": Self}, "type": f.Result}
		code := userError
		if f.After > 0 {
			result["retryAfterSeconds"] = f.After
		}
		if f.Result == "RATE_LIMIT_FAILURE" {
			code = rateError
		}
		return nil, &refusal{code, "Failed to send message", map[string]any{"response": map[string]any{"timestamp": s.tick(),
			"results": []any{result}}}}
	case f.Code != 0:
		return nil, &refusal{code: f.Code, words: f.Words}
	case s.gone && method != "version":
		return nil, &refusal{code: unspecified, words: "Failed to send message: [403] Authorization failed! (AuthorizationFailedException)"}
	}
	delete(params, "account")
	return do(params)
}

func answer(w http.ResponseWriter, id json.RawMessage, result any, refused *refusal) {
	a := map[string]any{"jsonrpc": "2.0", "id": id}
	if refused != nil {
		a["error"] = map[string]any{"code": refused.code, "message": refused.words, "data": refused.data}
	} else {
		a["result"] = result
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a)
}

// stream sends events as they come.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if r.URL.Query().Get("account") != Number {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	s.mu.Lock()
	last := r.Header.Get("Last-Event-ID")
	s.asked = append(s.asked, last)
	next := len(s.events)
	if !s.noIDs && last != "" {
		next = slices.IndexFunc(s.events, func(k kept) bool { return k.id == last }) + 1
		next = max(next, len(s.events)-mostKept, 0)
	}
	s.conns++
	for _, data := range s.waiting {
		s.keep(data)
	}
	s.waiting = nil
	dropped, noIDs := s.dropped, s.noIDs
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.conns--
	}()
	for {
		s.mu.Lock()
		var send []kept
		if next < len(s.events) {
			send = slices.Clone(s.events[next:])
		}
		next = len(s.events)
		changed, over := s.changed, s.dropped != dropped
		s.mu.Unlock()
		for _, k := range send {
			if !noIDs {
				_, _ = fmt.Fprintf(w, "id:%s\n", k.id)
			}
			_, _ = fmt.Fprintf(w, "event:receive\ndata:%s\n\n", k.data)
		}
		_, _ = io.WriteString(w, ":\n")
		w.(http.Flusher).Flush()
		if over {
			return
		}
		select {
		case <-changed:
		case <-time.After(15 * time.Second):
		case <-s.closing:
			return
		case <-r.Context().Done():
			return
		}
	}
}
