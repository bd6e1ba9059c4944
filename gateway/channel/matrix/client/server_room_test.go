//go:build goolm

package client_test

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

// inRoom answers requests about a room.
func (s *server) inRoom(w http.ResponseWriter, r *http.Request, part []string, body object, answer func(any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch part[3] {
	case "state":
		if len(part) > 4 && part[4] == "m.room.pinned_events" {
			s.pins(w, r, body, answer)
			return
		}
		if s.state[part[2]] == nil {
			refuse(w, 403, "M_FORBIDDEN", nil)
			return
		}
		answer(s.state[part[2]])
	case "join":
		s.joined = append(s.joined, part[2])
		answer(object{"room_id": part[2]})
	case "receipt":
		s.read[part[5]] = true
		answer(object{})
	case "event":
		for _, e := range s.events {
			if e["event_id"] == part[4] {
				answer(e)
				return
			}
		}
		refuse(w, 404, "M_NOT_FOUND", nil)
	case "context":
		for i, e := range s.events {
			if e["event_id"] == part[4] && e["room_id"] == part[2] {
				answer(object{"event": e, "start": "s" + strconv.Itoa(i), "end": "s" + strconv.Itoa(i+1), "events_before": []object{}})
				return
			}
		}
		refuse(w, 404, "M_NOT_FOUND", nil)
	case "messages":
		from, err := strconv.Atoi(strings.TrimPrefix(r.FormValue("from"), "s"))
		if err != nil && r.FormValue("from") == "" {
			from = len(s.events)
		}
		to, _ := strconv.Atoi(strings.TrimPrefix(r.FormValue("to"), "s"))
		begin := max(from-100, to)
		chunk := slices.Clone(of(part[2], s.events[begin:from]))
		slices.Reverse(chunk)
		answer(object{"chunk": chunk, "start": r.FormValue("from"), "end": "s" + strconv.Itoa(begin)})
	case "send", "redact", "typing":
		s.change(w, part, body, answer)
	default:
		refuse(w, 404, "M_UNRECOGNIZED", nil)
	}
}

// pins are the room's list of pinned messages. Only who may change it does. The lock is held.
func (s *server) pins(w http.ResponseWriter, r *http.Request, body object, answer func(any)) {
	pinned := func(list any) (ids []string) {
		all, _ := list.([]any)
		for _, one := range all {
			ids = append(ids, fmt.Sprint(one))
		}
		return ids
	}
	switch {
	case r.Method == http.MethodGet && s.pinned == nil:
		refuse(w, 404, "M_NOT_FOUND", nil)
	case r.Method == http.MethodGet:
		answer(s.pinned)
	case s.mayNotPin:
		refuse(w, 403, "M_FORBIDDEN", nil)
	default:
		s.pinned = body
		ids := pinned(body["pinned"])
		for i := range s.messages {
			s.messages[i].Pinned = slices.Contains(ids, s.messages[i].ID)
		}
		answer(object{"event_id": "$pinned"})
	}
}

// change does what the client wants, or plays a fault.
func (s *server) change(w http.ResponseWriter, part []string, body object, answer func(any)) {
	relates, _ := body["m.relates_to"].(object)
	edited, op := "", loopback.OpSend
	switch {
	case part[3] == "redact":
		op = loopback.OpDelete
	case part[3] == "typing":
		op = loopback.OpTyping
	case part[4] == "m.reaction":
		op = loopback.OpReact
	case relates["rel_type"] == "m.replace":
		edited, op = relates["event_id"].(string), loopback.OpEdit
	}
	var f loopback.Fault
	for i, next := range s.script {
		if next.On == op || next.On == loopback.OpAny {
			f = next
			s.script = slices.Delete(s.script, i, i+1)
			break
		}
	}
	switch f.Kind {
	case loopback.Passing:
		refuse(w, 503, "M_UNKNOWN", nil)
		return
	case loopback.Limited:
		refuse(w, 429, "M_LIMIT_EXCEEDED", object{"retry_after_ms": f.After.Milliseconds()})
		return
	case loopback.Refused:
		refuse(w, 403, "M_FORBIDDEN", nil)
		return
	case loopback.Auth:
		refuse(w, 401, "M_UNKNOWN_TOKEN", nil)
		return
	case loopback.Broken:
		cut(w)
		return
	}
	id := "$redacted"
	said := func(id string) {
		s.events = append(s.events, object{"type": part[4], "sender": us, "event_id": id, "room_id": part[2], "content": body,
			"origin_server_ts": time.Now().UnixMilli()})
		s.wake()
	}
	switch op {
	case loopback.OpSend, loopback.OpReact:
		had, ok := s.sent[part[5]]
		if id = had; ok {
			break
		}
		id = fmt.Sprintf("$sent%d", len(s.sent)+1)
		s.sent[part[5]] = id
		if op == loopback.OpReact {
			about, _ := relates["event_id"].(string)
			key, _ := relates["key"].(string)
			s.reacted[id] = about
			s.reaction(about, []string{key})
			break
		}
		if op == loopback.OpSend {
			text, _ := body["body"].(string)
			thread := ""
			if relates["rel_type"] == "m.thread" {
				thread, _ = relates["event_id"].(string)
			}
			m := loopback.Message{ID: id, Text: text, To: channel.Target{Conversation: part[2], Thread: thread}}
			if address, _ := body["url"].(string); address != "" {
				n, _ := strconv.Atoi(path.Base(address))
				m.Text, m.Files = "", []loopback.File{{Name: text, Content: s.media[n]}}
			}
			s.messages = append(s.messages, m)
			said(id)
		}
	case loopback.OpEdit:
		id = fmt.Sprintf("$edit%d", len(s.events))
		said(id)
		content, _ := body["m.new_content"].(object)
		for i := range s.messages {
			if s.messages[i].ID == edited {
				s.messages[i].Text, _ = content["body"].(string)
			}
		}
	case loopback.OpDelete:
		if about := s.reacted[part[4]]; about != "" {
			s.reaction(about, nil)
		}
		for i := range s.messages {
			if s.messages[i].ID == part[4] {
				s.messages[i].Deleted = true
			}
		}
	}
	if f.Kind == loopback.Lost {
		cut(w)
		return
	}
	answer(object{"event_id": id})
}

// reaction puts emoji on a message. The lock is held.
func (s *server) reaction(on string, emoji []string) {
	for i := range s.messages {
		if s.messages[i].ID == on {
			s.messages[i].Reactions = emoji
		}
	}
}
