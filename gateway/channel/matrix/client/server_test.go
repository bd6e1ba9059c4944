//go:build goolm

package client_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

// room and stranger are those of the server.
const (
	home  = "!home:test.local"
	group = "!group:test.local"
	ada   = "@ada:test.local"
	us    = "@hearth:test.local"
	event = "m.room.message"
)

type object = map[string]any

// server is a homeserver with one account and one room. It refuses what servers
// refuse, and plays faults.
type server struct {
	put string // the event of the last emoji
	*httptest.Server
	t *testing.T

	mu        sync.Mutex
	changed   chan struct{}
	script    []loopback.Fault
	storm     []int // what the next questions for news are answered with
	garbage   string
	password  string
	token     int
	messages  []loopback.Message
	sent      map[string]string // ids by transaction
	events    []object
	read      map[string]bool
	invites   object
	joined    []string
	data      map[string]json.RawMessage
	state     map[string][]object
	reacted   map[string]string // which message a reaction is on
	media     [][]byte
	toDevice  []object
	pinned    object // the content of the room's list; nil: there is none
	mayNotPin bool
	more      func(w http.ResponseWriter, r *http.Request, part []string, raw []byte) bool // answers it first; nil: nothing
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, changed: make(chan struct{}), password: "secret word", sent: map[string]string{}, read: map[string]bool{},
		data: map[string]json.RawMessage{}, invites: object{}, reacted: map[string]string{}, state: map[string][]object{home: {
			state("m.room.member", us, object{"membership": "join"}), state("m.room.member", ada, object{"membership": "join"}),
		}}}
	s.state[group] = append(slices.Clone(s.state[home]), state("m.room.member", "@eve:test.local", object{"membership": "join"}))
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func state(kind, key string, content object) object {
	return object{"type": kind, "state_key": key, "sender": ada, "event_id": "$" + kind + key, "origin_server_ts": 1, "content": content}
}

func refuse(w http.ResponseWriter, status int, code string, more object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	out := object{"errcode": code, "error": "the script says so"}
	for k, v := range more {
		out[k] = v
	}
	_ = json.NewEncoder(w).Encode(out)
}

// cut ends the connection of a request.
func cut(w http.ResponseWriter) {
	if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = c.Close()
	}
}

// ServeHTTP is the server.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body object
	raw, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, 4<<20))
	_ = json.Unmarshal(raw, &body)
	path, _ := url.PathUnescape(strings.TrimPrefix(r.URL.EscapedPath(), "/_matrix/client/v3"))
	part := strings.Split(path, "/")
	answer := func(v any) { w.Header().Set("Content-Type", "application/json"); _ = json.NewEncoder(w).Encode(v) }
	s.mu.Lock()
	authorized := path == "/login" || r.Header.Get("Authorization") == "Bearer t"+strconv.Itoa(s.token)
	s.mu.Unlock()
	switch {
	case s.more != nil && s.more(w, r, part, raw):
	case !authorized:
		refuse(w, 401, "M_UNKNOWN_TOKEN", nil)
	case path == "/login":
		s.mu.Lock()
		defer s.mu.Unlock()
		if body["password"] != s.password {
			refuse(w, 403, "M_FORBIDDEN", nil)
			return
		}
		s.token++
		answer(object{"user_id": us, "access_token": "t" + strconv.Itoa(s.token), "device_id": "D" + strconv.Itoa(s.token)})
	case path == "/account/whoami":
		s.mu.Lock()
		defer s.mu.Unlock()
		answer(object{"user_id": us, "device_id": "D" + strconv.Itoa(s.token)})
	case strings.HasSuffix(path, "/upload") && strings.Contains(path, "/media/"):
		s.mu.Lock()
		defer s.mu.Unlock()
		s.media = append(s.media, raw)
		answer(object{"content_uri": "mxc://test.local/" + strconv.Itoa(len(s.media)-1)})
	case strings.Contains(path, "/download/test.local/"):
		s.mu.Lock()
		defer s.mu.Unlock()
		if n, err := strconv.Atoi(part[len(part)-1]); err == nil && n < len(s.media) {
			_, _ = w.Write(s.media[n])
		} else {
			refuse(w, 404, "M_NOT_FOUND", nil)
		}
	case path == "/keys/upload":
		answer(object{"one_time_key_counts": object{"signed_curve25519": 50}})
	case strings.Contains(path, "/account_data/"):
		s.accountData(w, r, part[len(part)-1], body, answer)
	case path == "/sync":
		s.news(w, r, answer)
	case len(part) > 3 && part[1] == "rooms":
		s.inRoom(w, r, part, body, answer)
	default:
		refuse(w, 404, "M_UNRECOGNIZED", nil)
	}
}

func (s *server) accountData(w http.ResponseWriter, r *http.Request, key string, body object, answer func(any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodPut {
		s.data[key], _ = json.Marshal(body)
		answer(object{})
	} else if v, ok := s.data[key]; ok {
		answer(v)
	} else {
		refuse(w, 404, "M_NOT_FOUND", nil)
	}
}

// news answers /sync.
func (s *server) news(w http.ResponseWriter, r *http.Request, answer func(any)) {
	late := time.After(time.Second)
	for {
		s.mu.Lock()
		if len(s.storm) > 0 {
			code := s.storm[0]
			s.storm = s.storm[1:]
			s.mu.Unlock()
			if code == 0 {
				cut(w)
				return
			}
			refuse(w, code, map[int]string{429: "M_LIMIT_EXCEEDED", 401: "M_UNKNOWN_TOKEN"}[code], object{"retry_after_ms": 5})
			return
		}
		if s.garbage != "" {
			_, _ = w.Write([]byte(s.garbage))
			s.garbage = ""
			s.mu.Unlock()
			return
		}
		since, _ := strconv.Atoi(strings.TrimPrefix(r.FormValue("since"), "s"))
		changed := s.changed
		if since < len(s.events) || len(s.invites) > 0 || len(s.toDevice) > 0 || r.FormValue("timeout") == "0" {
			begin := max(since, len(s.events)-50)
			out := object{"next_batch": "s" + strconv.Itoa(len(s.events)), "rooms": object{"invite": s.invites, "join": object{
				home: object{"timeline": object{
					"events": of(home, s.events[begin:]), "limited": begin > since, "prev_batch": "s" + strconv.Itoa(begin),
				}},
				group: object{"timeline": object{"events": of(group, s.events[begin:])}},
			}}, "to_device": object{"events": s.toDevice}, "device_one_time_keys_count": object{"signed_curve25519": 50}}
			s.invites, s.toDevice = object{}, nil
			answer(out)
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		case <-late:
			answer(object{"next_batch": r.FormValue("since")})
			return
		}
	}
}

// of are the events of a room.
func of(room string, events []object) []object {
	out := []object{}
	for _, e := range events {
		if e["room_id"] == room {
			out = append(out, e)
		}
	}
	return out
}

// Script implements channeltest.Network.
func (s *server) Script(faults ...loopback.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, faults...)
}

// Receive is somebody writing to us.
func (s *server) Receive(in channel.Inbound) {
	content := object{"msgtype": "m.text", "body": in.Text}
	if in.Thread != "" {
		content["m.relates_to"] = object{"rel_type": "m.thread", "event_id": in.Thread}
	}
	room := home
	if in.Chat == channel.Group {
		room = group
	}
	if re := in.Reaction; re.Reacted() && re.Removed {
		s.add(object{"type": "m.room.redaction", "sender": in.SenderID, "event_id": in.MessageID, "redacts": s.put, "content": object{},
			"origin_server_ts": 1_700_000_000_000, "room_id": room})
		return
	} else if re.Reacted() {
		s.put = in.MessageID
		s.add(object{"type": "m.reaction", "sender": in.SenderID, "event_id": in.MessageID, "origin_server_ts": 1_700_000_000_000,
			"room_id": room, "content": object{"m.relates_to": object{"rel_type": "m.annotation", "event_id": re.MessageID, "key": re.Emoji}}})
		return
	}
	s.add(object{"type": event, "sender": in.SenderID, "event_id": in.MessageID, "origin_server_ts": 1_700_000_000_000, "content": content,
		"room_id": room})
}

// ReceiveFile is somebody sending us a file.
func (s *server) ReceiveFile(in channel.Inbound, f loopback.File) {
	s.mu.Lock()
	s.media = append(s.media, f.Content)
	n := len(s.media) - 1
	s.mu.Unlock()
	s.arrive(in.SenderID, in.MessageID, event, object{"msgtype": "m.file", "body": in.Text, "filename": f.Name,
		"url": "mxc://test.local/" + strconv.Itoa(n), "info": object{"mimetype": f.MIME, "size": len(f.Content)}})
}

func (s *server) arrive(from, id, kind string, content object) {
	s.add(object{"type": kind, "sender": from, "event_id": id, "origin_server_ts": 1_700_000_000_000, "content": content})
}

func (s *server) add(e object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e["room_id"] == nil {
		e["room_id"] = home
	}
	s.events = append(s.events, e)
	if _, is := e["state_key"]; is {
		s.state[home] = append(s.state[home], e)
	}
	s.wake()
}

// wake wakes who waits for news. The lock is held.
func (s *server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// with changes the server.
func (s *server) with(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.wake()
}

// Taken waits for the client to say that it has a message.
func (s *server) Taken(id string) bool {
	tick, late := time.NewTicker(2*time.Millisecond), time.After(5*time.Second)
	defer tick.Stop()
	for {
		s.mu.Lock()
		taken := s.read[id]
		s.mu.Unlock()
		if taken {
			return true
		}
		select {
		case <-tick.C:
		case <-late:
			return false
		}
	}
}

// Messages are what was said.
func (s *server) Messages() []loopback.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}
