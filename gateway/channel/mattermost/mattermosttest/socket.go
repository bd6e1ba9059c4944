package mattermosttest

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// socket is a connection for events.
type socket struct {
	conn *websocket.Conn
	seq  int64
	out  chan []byte
	end  context.CancelFunc
}

// queued is how many events wait for a client that does not read; then it is let go,
// as the server does.
const queued = 256

// connect opens a socket. Without a token that is known it is closed after a moment,
// which here is at once.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.dials++
	status := 0
	if len(s.refuse) > 0 {
		status, s.refuse = s.refuse[0], s.refuse[1:]
	}
	known := r.Header.Get("Authorization") == "Bearer "+s.token
	s.mu.Unlock()
	if status != 0 {
		http.Error(w, "not now", status)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	if !known {
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	k := &socket{conn: conn, out: make(chan []byte, queued), end: cancel}
	s.mu.Lock()
	s.sockets[k] = true
	k.put("hello", map[string]any{"connection_id": s.id(), "server_version": "10.11.0"}, "")
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.sockets, k)
	}()
	go func() { // ends with the connection
		defer cancel()
		for {
			if _, _, err := conn.Read(ctx); err != nil {
				return
			}
		}
	}()
	for {
		select {
		case frame := <-k.out:
			write, done := context.WithTimeout(ctx, 30*time.Second)
			err := conn.Write(write, websocket.MessageText, frame)
			done()
			if err != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// put writes an event. The server's mutex is held.
func (k *socket) put(name string, data any, at string) {
	where := map[string]any{"channel_id": at, "user_id": ""}
	b, err := json.Marshal(map[string]any{"event": name, "data": data, "broadcast": where, "seq": k.seq})
	if err != nil {
		panic(err) // a test's own mistake
	}
	k.seq++
	k.raw(b)
}

func (k *socket) raw(b []byte) {
	select {
	case k.out <- b:
	default:
		k.end()
	}
}

// tell everybody of something. The mutex is held.
func (s *Server) tell(name string, data any, at string) {
	if c := s.channels[at]; c != nil && !c.members[s.Bot.ID] && name != "user_removed" {
		return
	}
	for k := range s.sockets {
		k.put(name, data, at)
	}
}

// Raw puts a frame on every socket.
func (s *Server) Raw(frame []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.sockets {
		k.raw(frame)
	}
}

// Drop breaks every socket.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.sockets {
		k.end()
	}
}

// Refuse answers the next sockets with a status.
func (s *Server) Refuse(statuses ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = append(s.refuse, statuses...)
}

// Dials is how often a socket was asked for; Connected how many there are.
func (s *Server) Dials() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dials
}

// Connected is how many sockets there are.
func (s *Server) Connected() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets)
}

// React is somebody putting an emoji on a post, or taking it away.
func (s *Server) React(who User, postID, name string, removed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.posts[postID]
	raw, err := json.Marshal(map[string]any{"user_id": who.ID, "post_id": postID, "emoji_name": name, "create_at": time.Now().UnixMilli()})
	if err != nil {
		panic(err) // a test's own mistake
	}
	event := "reaction_added"
	if removed {
		event = "reaction_removed"
	}
	s.tell(event, map[string]string{"reaction": string(raw)}, p.ChannelID)
}
