package slacktest

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/coder/websocket"
)

// socket is a connection in Socket Mode.
type socket struct {
	conn *websocket.Conn
	out  chan []byte
	end  context.CancelFunc
}

// envelope is an event that nobody acknowledged.
type envelope struct {
	id    string
	ts    string // of its message
	event map[string]any
	other map[string]any // the payload of what is no event
	kind  string         // of it
	tries int
}

// ticket is good for one connection. The mutex is held.
func (s *Server) ticket() string {
	s.count++
	return strconv.Itoa(s.count)
}

func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("ticket") == "" || r.Header.Get("Authorization") != "" {
		http.Error(w, "no", http.StatusForbidden)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	k := &socket{conn: conn, out: make(chan []byte, 30_000), end: cancel}
	k.put(map[string]any{"type": "hello", "num_connections": 1, "connection_info": map[string]any{"app_id": "A000000001"}})
	s.mu.Lock()
	s.dials++
	s.sockets[k] = true
	for _, e := range s.waiting { // what nobody acknowledged is told of again
		e.tries++
		k.envelope(e)
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.sockets, k)
		s.again() // the others are told of what this one did not acknowledge
	}()
	go s.listen(ctx, k)
	for {
		select {
		case b := <-k.out:
			write, done := context.WithTimeout(ctx, 30*time.Second)
			err := conn.Write(write, websocket.MessageText, b)
			done()
			if err != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// listen takes acknowledgements. Anything else ends the connection.
func (s *Server) listen(ctx context.Context, k *socket) {
	defer k.end()
	for {
		_, raw, err := k.conn.Read(ctx)
		var in struct {
			ID string `json:"envelope_id"`
		}
		if err != nil || json.Unmarshal(raw, &in) != nil || in.ID == "" {
			return
		}
		s.mu.Lock()
		for i, e := range s.waiting {
			if e.id == in.ID {
				s.acked[e.ts] = true
				s.waiting = append(s.waiting[:i:i], s.waiting[i+1:]...)
				break
			}
		}
		s.mu.Unlock()
	}
}

func (k *socket) put(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a test's own mistake
	}
	k.out <- b
}

func (k *socket) envelope(e *envelope) {
	if e.other != nil {
		k.put(map[string]any{"type": e.kind, "envelope_id": e.id, "accepts_response_payload": true, "payload": e.other})
		return
	}
	k.put(map[string]any{
		"type": "events_api", "envelope_id": e.id, "accepts_response_payload": false, "retry_attempt": e.tries, "retry_reason": "",
		"payload": map[string]any{"type": "event_callback", "team_id": "T000000001", "event_id": "Ev" + e.id, "event": e.event},
	})
}

// tell of a message, with more or other fields. The mutex is held.
func (s *Server) tell(c *Channel, m *Message, other map[string]any) {
	if c.out {
		return
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // a test's own mistake
	}
	event := map[string]any{}
	_ = json.Unmarshal(b, &event)
	event["channel"], event["channel_type"], event["event_ts"] = c.ID, map[bool]string{true: "im", false: "channel"}[c.IM], m.TS
	for k, v := range other {
		event[k] = v
	}
	s.count++
	e := &envelope{id: "env-" + strconv.Itoa(s.count), ts: m.TS, event: event}
	s.waiting = append(s.waiting, e)
	for k := range s.sockets { // one of them gets it
		k.envelope(e)
		break
	}
}

// Again tells of all once more that nobody acknowledged, as Slack does after a while.
func (s *Server) Again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.again()
}

func (s *Server) again() {
	for k := range s.sockets {
		for _, e := range s.waiting {
			e.tries++
			k.envelope(e)
		}
		break
	}
}

// Acked reports whether the event of a message was acknowledged; Unacked is how many
// were not.
func (s *Server) Acked(ts string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acked[ts]
}

// Unacked is how many events nobody acknowledged.
func (s *Server) Unacked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// Forget the events that nobody acknowledged, as after some minutes.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = nil
}

// Raw writes text as a frame.
func (s *Server) Raw(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.sockets {
		k.out <- []byte(text)
	}
}

// Drop breaks the connections.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.sockets {
		k.end()
	}
}

// Counts are how often a connection was made, and how many there are.
func (s *Server) Counts() (dials, connected int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dials, len(s.sockets)
}
