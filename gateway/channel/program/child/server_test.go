package child_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

// server is the network of the example: a word and a JSON value a line.
type server struct {
	at net.Listener

	mu       sync.Mutex
	conn     net.Conn
	script   []loopback.Fault
	messages []loopback.Message
	inbox    []value // that were not taken, in order; the first is under way
	taken    map[string]bool
}

type value struct {
	ID   string `json:"id,omitempty"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	Key  string `json:"key,omitempty"`
	Text string `json:"text,omitempty"`
	Why  string `json:"why,omitempty"`
	Ms   int64  `json:"ms,omitempty"`
}

func newServer(t *testing.T) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{at: l, taken: map[string]bool{}}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		s.mu.Lock()
		if s.conn != nil {
			_ = s.conn.Close()
		}
		s.mu.Unlock()
		work.Wait()
	})
	return s
}

func (s *server) serve(c net.Conn) {
	s.mu.Lock()
	s.conn = c
	s.offer()
	s.mu.Unlock()
	for lines := bufio.NewScanner(c); lines.Scan(); {
		word, raw, _ := strings.Cut(lines.Text(), " ")
		var v value
		if json.Unmarshal([]byte(raw), &v) != nil {
			return
		}
		s.mu.Lock()
		s.got(word, v)
		s.mu.Unlock()
	}
}

// got answers a line. The lock is held.
func (s *server) got(word string, v value) {
	switch word {
	case "TAKEN":
		s.taken[v.ID] = true
		s.inbox = s.inbox[1:]
		s.offer()
	case "AGAIN":
		s.offer()
	case "SEND":
		var f loopback.Fault
		if len(s.script) > 0 {
			f, s.script = s.script[0], s.script[1:]
		}
		why := map[loopback.Kind]string{loopback.Passing: "busy", loopback.Limited: "wait", loopback.Refused: "refused", loopback.Auth: "auth"}
		if no, is := why[f.Kind]; is {
			s.say("NO", value{Key: v.Key, Why: no, Ms: f.After.Milliseconds()})
			return
		}
		id := fmt.Sprint("s", len(s.messages)+1)
		s.messages = append(s.messages, loopback.Message{ID: id, To: channel.Target{Conversation: v.To}, Text: v.Text})
		if f.Kind == loopback.Lost {
			_ = s.conn.Close()
			return
		}
		s.say("DONE", value{Key: v.Key, ID: id})
	}
}

func (s *server) say(word string, v value) {
	if s.conn != nil {
		raw, _ := json.Marshal(v)
		_, _ = fmt.Fprintf(s.conn, "%s %s\n", word, raw)
	}
}

func (s *server) offer() {
	if len(s.inbox) > 0 {
		s.say("MSG", s.inbox[0])
	}
}

// Script implements channeltest.Network.
func (s *server) Script(faults ...loopback.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, faults...)
}

// Receive is somebody writing to us.
func (s *server) Receive(in channel.Inbound) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inbox = append(s.inbox, value{ID: in.MessageID, From: in.Conversation, Text: in.Text})
	if len(s.inbox) == 1 {
		s.offer()
	}
}

// Taken reports whether we were told.
func (s *server) Taken(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken[id]
}

// Messages are what was sent.
func (s *server) Messages() []loopback.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]loopback.Message(nil), s.messages...)
}
