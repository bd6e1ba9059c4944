package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/matrix"
)

const matrixUs, matrixAda, matrixHome = "@hearth:test.local", "@ada:test.local", "!home:test.local"

type object = map[string]any

// homeserver is as much of one as somebody needs who sets Matrix up: it logs in who knows the
// password, and has one room, which nobody encrypts, with Ada and the assistant.
type homeserver struct {
	mu     sync.Mutex
	logins int
	events []object
	sent   []string
	data   map[string]object // what the account keeps there
}

func onMatrix(t *testing.T) *place {
	if !strings.Contains(os.Getenv("GOFLAGS"), "goolm") {
		t.Skip("hearth-channels is built without Matrix: set GOFLAGS=-tags=goolm")
	}
	s := &homeserver{data: map[string]object{}}
	front := httptest.NewServer(s)
	t.Cleanup(front.Close)
	return &place{
		right:   typed{matrix.KeyServer: front.URL, matrix.KeyUser: matrixUs, matrix.KeyPassword: "secret word", matrix.KeyInviters: matrixAda},
		wrong:   typed{matrix.KeyPassword: "another word"},
		refused: "password",
		say: func(text string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.events = append(s.events, object{"type": "m.room.message", "sender": matrixAda, "event_id": fmt.Sprintf("$said%d", len(s.events)),
				"origin_server_ts": time.Now().UnixMilli(), "content": object{"msgtype": "m.text", "body": text}})
		},
		sent: func() []string { s.mu.Lock(); defer s.mu.Unlock(); return slices.Clone(s.sent) },
	}
}

func (s *homeserver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var body object
	_ = json.Unmarshal(raw, &body)
	path, _ := url.PathUnescape(strings.TrimPrefix(r.URL.EscapedPath(), "/_matrix/client/v3"))
	if path == "/sync" {
		s.wait(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	code, out := s.answer(r, path, strings.Split(path, "/"), body)
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(out)
}

func (s *homeserver) token() string  { return "t" + strconv.Itoa(s.logins) }
func (s *homeserver) device() string { return "D" + strconv.Itoa(s.logins) }

func since(r *http.Request) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(r.FormValue("since"), "s"))
	return n
}

// wait waits a moment for news.
func (s *homeserver) wait(r *http.Request) {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for late := time.After(time.Second); r.FormValue("timeout") != "0"; {
		s.mu.Lock()
		news := since(r) < len(s.events)
		s.mu.Unlock()
		if news {
			return
		}
		select {
		case <-look.C:
		case <-late:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// answer is what the server says; the lock is held.
func (s *homeserver) answer(r *http.Request, path string, part []string, body object) (int, any) {
	no := func(code int, what string) (int, any) { return code, object{"errcode": what, "error": what} }
	switch {
	case path == "/login":
		if user, _ := body["identifier"].(object); body["password"] != "secret word" || user["user"] != matrixUs {
			return no(http.StatusForbidden, "M_FORBIDDEN")
		}
		s.logins++
		return http.StatusOK, object{"user_id": matrixUs, "access_token": s.token(), "device_id": s.device()}
	case s.logins == 0 || r.Header.Get("Authorization") != "Bearer "+s.token():
		return no(http.StatusUnauthorized, "M_UNKNOWN_TOKEN")
	case path == "/account/whoami":
		return http.StatusOK, object{"user_id": matrixUs, "device_id": s.device()}
	case path == "/keys/upload":
		return http.StatusOK, object{"one_time_key_counts": object{"signed_curve25519": 50}}
	case path == "/sync":
		news := object{"timeline": object{"events": s.events[min(since(r), len(s.events)):]}}
		return http.StatusOK, object{"next_batch": "s" + strconv.Itoa(len(s.events)), "rooms": object{"join": object{matrixHome: news}},
			"device_one_time_keys_count": object{"signed_curve25519": 50}}
	case strings.Contains(path, "/account_data/") && r.Method == http.MethodPut:
		s.data[path] = body
		return http.StatusOK, object{}
	case s.data[path] != nil:
		return http.StatusOK, s.data[path]
	case len(part) > 3 && part[1] == "rooms" && part[2] == matrixHome:
		return s.inRoom(part, body)
	}
	return no(http.StatusNotFound, "M_NOT_FOUND")
}

func (s *homeserver) inRoom(part []string, body object) (int, any) {
	member := func(who string) object {
		return object{"type": "m.room.member", "state_key": who, "sender": who, "event_id": "$" + who, "origin_server_ts": 1,
			"content": object{"membership": "join"}}
	}
	switch part[3] {
	case "state":
		if len(part) == 4 {
			return http.StatusOK, []object{member(matrixUs), member(matrixAda)}
		}
	case "send":
		text, _ := body["body"].(string)
		s.sent = append(s.sent, text)
		return http.StatusOK, object{"event_id": fmt.Sprintf("$sent%d", len(s.sent))}
	case "receipt", "typing", "read_markers":
		return http.StatusOK, object{}
	}
	return http.StatusNotFound, object{"errcode": "M_NOT_FOUND", "error": "there is no such thing"}
}
