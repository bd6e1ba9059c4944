package discordtest

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// known are the intents there are; a bit beside them is refused.
const known = 1<<27 - 1

// session is what a connection belongs to. Events stay in it for who goes on with it.
type session struct {
	id     string
	events []json.RawMessage // by their number less one
	k      *socket           // nil: nobody is connected
}

// socket is one connection.
type socket struct {
	conn *websocket.Conn
	out  chan []byte
	end  context.CancelFunc
	beat chan struct{}
}

func (s *Server) socketURL() string { return strings.Replace(s.http.URL, "http", "ws", 1) + "/gateway" }

type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
}

// connect is a connection: hello, then identify or resume, then heartbeats in time.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.dials++
	beat := s.beat
	s.mu.Unlock()
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	if q := r.URL.Query(); q.Get("v") != "10" || q.Get("encoding") != "json" {
		_ = conn.Close(4012, "Invalid API version")
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	k := &socket{conn: conn, out: make(chan []byte, 30_000), end: cancel, beat: make(chan struct{}, 1)}
	go func() { // ends with the connection
		defer cancel()
		for {
			select {
			case b := <-k.out:
				if conn.Write(ctx, websocket.MessageText, b) != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	k.put(10, map[string]any{"heartbeat_interval": beat.Milliseconds()})
	go k.watch(ctx, beat)
	code, why := s.talk(ctx, k)
	s.mu.Lock()
	for _, o := range s.sessions {
		if o.k == k {
			o.k = nil
		}
	}
	s.mu.Unlock()
	if code != 0 {
		_ = conn.Close(websocket.StatusCode(code), why)
	}
}

// watch ends a connection that sends no heartbeats.
func (k *socket) watch(ctx context.Context, beat time.Duration) {
	for {
		late := time.NewTimer(beat + beat/2 + time.Second)
		select {
		case <-k.beat:
			late.Stop()
		case <-late.C:
			_ = k.conn.Close(4009, "Session timed out")
			k.end()
			return
		case <-ctx.Done():
			late.Stop()
			return
		}
	}
}

// talk reads what the client says; the code says why it is closed.
func (s *Server) talk(ctx context.Context, k *socket) (code int, why string) {
	var own *session
	for {
		_, raw, err := k.conn.Read(ctx)
		if err != nil {
			return 0, ""
		}
		var f frame
		if json.Unmarshal(raw, &f) != nil {
			return 4002, "Decode error"
		}
		s.mu.Lock()
		switch f.Op {
		case 1:
			select {
			case k.beat <- struct{}{}:
			default:
			}
			if !s.deaf {
				k.put(11, nil)
			}
		case 2:
			if own != nil {
				code, why = 4005, "Already authenticated"
				break
			}
			own, code, why = s.identify(k, f.Data)
		case 6:
			own, code, why = s.resume(k, f.Data)
		default:
			code, why = 4001, "Unknown opcode"
		}
		s.mu.Unlock()
		if code != 0 {
			return code, why
		}
	}
}

func (s *Server) identify(k *socket, data json.RawMessage) (own *session, code int, why string) {
	var in struct {
		Token      string            `json:"token"`
		Intents    *int64            `json:"intents"`
		Properties map[string]string `json:"properties"`
		Threshold  int               `json:"large_threshold"`
	}
	switch {
	case !body(strings.NewReader(string(data)), &in), in.Properties["os"] == "", in.Properties["browser"] == "",
		in.Properties["device"] == "":
		return nil, 4002, "Decode error"
	case in.Token != s.token:
		return nil, 4004, "Authentication failed."
	case in.Intents == nil, *in.Intents&^known != 0:
		return nil, 4013, "Invalid intent(s)."
	case *in.Intents&s.denied != 0:
		return nil, 4014, "Disallowed intent(s)."
	}
	s.idents++
	own = &session{id: s.id(), k: k}
	s.sessions[own.id] = own
	own.put("READY", map[string]any{
		"v": 10, "user": s.Bot, "session_id": own.id, "resume_gateway_url": s.socketURL(),
		"guilds": []any{map[string]any{"id": s.Guild, "unavailable": true}}, "application": map[string]any{"id": s.Bot.ID, "flags": 0},
	})
	var channels, threads []*Channel
	for _, c := range s.channels {
		switch {
		case c.Server == "":
		case c.Kind == 11:
			threads = append(threads, c)
		default:
			channels = append(channels, c)
		}
	}
	own.put("GUILD_CREATE", map[string]any{
		"id": s.Guild, "name": "The Server", "channels": channels, "threads": threads,
		"roles": []any{map[string]any{"id": s.Role, "name": "hearth", "tags": map[string]any{"bot_id": s.Bot.ID}},
			map[string]any{"id": s.Guild, "name": "@everyone"}},
	})
	return own, 0, ""
}

func (s *Server) resume(k *socket, data json.RawMessage) (own *session, code int, why string) {
	var in struct {
		Token   string `json:"token"`
		Session string `json:"session_id"`
		Seq     int    `json:"seq"`
	}
	if !body(strings.NewReader(string(data)), &in) {
		return nil, 4002, "Decode error"
	}
	if in.Token != s.token {
		return nil, 4004, "Authentication failed."
	}
	own = s.sessions[in.Session]
	if own == nil {
		k.put(9, false)
		return nil, 0, ""
	}
	if in.Seq > len(own.events) {
		return nil, 4007, "Invalid seq"
	}
	s.resumes++
	own.k = k
	for _, e := range own.events[in.Seq:] {
		k.out <- e
	}
	own.put("RESUMED", map[string]any{})
	return own, 0, ""
}

// put writes a frame without a number. Nothing waits: the queue is long.
func (k *socket) put(op int, data any) {
	b, err := json.Marshal(map[string]any{"op": op, "d": data, "s": nil, "t": nil})
	if err != nil {
		panic(err) // a test's own mistake
	}
	k.out <- b
}

// put tells a session of something. The mutex is held.
func (o *session) put(name string, data any) {
	b, err := json.Marshal(map[string]any{"op": 0, "d": data, "s": len(o.events) + 1, "t": name})
	if err != nil {
		panic(err) // a test's own mistake
	}
	o.events = append(o.events, b)
	if o.k != nil {
		o.k.out <- b
	}
}

// tell all sessions. The mutex is held.
func (s *Server) tell(name string, data any) {
	for _, o := range s.sessions {
		o.put(name, data)
	}
}

// Raw writes text as a frame to whoever is connected.
func (s *Server) Raw(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.sessions {
		if o.k != nil {
			o.k.out <- []byte(text)
		}
	}
}

// Op writes an operation, as 7 (connect again) or 9 (the session has ended).
func (s *Server) Op(op int, data any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, o := range s.sessions {
		if o.k == nil {
			continue
		}
		o.k.put(op, data)
		if op == 9 && data == false {
			delete(s.sessions, id)
		}
	}
}

// CloseWith ends the connections with a code.
func (s *Server) CloseWith(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.sessions {
		if o.k != nil {
			go func(k *socket) { _ = k.conn.Close(websocket.StatusCode(code), "a test"); k.end() }(o.k)
		}
	}
}

// Drop breaks the connections.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.sessions {
		if o.k != nil {
			_ = o.k.conn.CloseNow()
			o.k.end()
		}
	}
}

// Forget ends the sessions, as after a long break.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.sessions)
}

// Connected is how many connections there are.
func (s *Server) Connected() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.sessions {
		if o.k != nil {
			n++
		}
	}
	return n
}
