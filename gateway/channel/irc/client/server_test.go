package client_test

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ergochat/irc-go/ircmsg"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

// server is an IRC server for one client at a time. It refuses what servers refuse:
// lines that are too long, control characters, unknown recipients; and it plays
// faults.
type server struct {
	t  *testing.T
	at net.Listener

	mu       sync.Mutex
	conn     net.Conn
	nick     string
	password string // that it asks for
	script   []loopback.Fault
	messages []loopback.Message
	waiting  []string // lines for whoever connects
	joined   map[string]bool
	received int
	away     bool // it hangs up on whoever connects
}

func newServer(t *testing.T) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, at: l, joined: map[string]bool{}}
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

func (s *server) port() string { _, p, _ := net.SplitHostPort(s.at.Addr().String()); return p }

func (s *server) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	s.mu.Lock()
	s.conn = c
	away := s.away
	s.mu.Unlock()
	if away {
		return
	}
	pass, nick, user := "", "", false
	r := bufio.NewReader(c)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		if len(line) > 512 || !strings.HasSuffix(line, "\r\n") {
			s.t.Errorf("a line of %d bytes: %q", len(line), line)
		}
		m, err := ircmsg.ParseLine(line)
		if err != nil {
			s.t.Errorf("%q: %v", line, err)
			continue
		}
		say := func(format string, args ...any) { _, _ = fmt.Fprintf(c, ":irc.test "+format+"\r\n", args...) }
		switch m.Command {
		case "CAP":
			if m.Params[0] == "LS" {
				say("CAP * LS :message-tags account-tag server-time")
			} else if m.Params[0] == "REQ" {
				say("CAP * ACK :%s", m.Params[1])
			}
		case "PASS":
			pass = m.Params[0]
		case "NICK":
			nick = m.Params[0]
		case "USER":
			user = true
		case "PING":
			say("PONG irc.test :%s", m.Params[0])
		case "JOIN":
			s.mu.Lock()
			s.joined[m.Params[0]] = true
			s.mu.Unlock()
		case "QUIT":
			return
		case "PRIVMSG":
			if s.said(m, say) {
				return
			}
		}
		if nick != "" && user && (m.Command == "NICK" || m.Command == "USER") {
			if pass != s.password {
				say("464 %s :Password incorrect", nick)
				return
			}
			say("001 %s :Welcome", nick)
			say("376 %s :End of /MOTD command.", nick)
			s.mu.Lock()
			s.nick = nick
			for _, l := range s.waiting {
				_, _ = c.Write([]byte(l))
			}
			s.waiting = nil
			s.mu.Unlock()
		}
	}
}

// goAway makes it hang up on whoever connects, or no more.
func (s *server) goAway(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

// said keeps a message, or plays a fault; true ends the connection.
func (s *server) said(m ircmsg.Message, say func(string, ...any)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	to, text := m.Params[0], m.Params[1]
	var f loopback.Fault
	if len(s.script) > 0 {
		f, s.script = s.script[0], s.script[1:]
	}
	switch {
	case f.Kind == loopback.Refused || to == "nobody":
		say("401 %s %s :No such nick or channel name", s.nick, to)
		return false
	case f.Kind == loopback.Broken:
		return true
	}
	s.messages = append(s.messages, loopback.Message{ID: strconv.Itoa(len(s.messages)), To: channel.Target{Conversation: to}, Text: text})
	return f.Kind == loopback.Lost
}

// Script implements channeltest.Network.
func (s *server) Script(faults ...loopback.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, faults...)
}

// Receive is somebody writing to us.
func (s *server) Receive(in channel.Inbound) {
	s.line("@msgid=%s;time=2026-11-23T10:00:00.000Z :%s!user@example.org PRIVMSG hearth :%s\r\n", in.MessageID, in.Conversation, in.Text)
}

func (s *server) line(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	s.received++
	if s.nick == "" {
		s.waiting = append(s.waiting, line)
		return
	}
	_, _ = s.conn.Write([]byte(line))
}

// Taken: nobody can tell an IRC server that a message was taken.
func (s *server) Taken(string) bool { return true }

// Messages are what was said.
func (s *server) Messages() []loopback.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]loopback.Message(nil), s.messages...)
}
