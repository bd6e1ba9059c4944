package messaging_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// slowIRC is an IRC server that takes its time to say that a message was read.
type slowIRC struct {
	at   net.Listener
	pace time.Duration

	mu   sync.Mutex
	conn net.Conn
	said []string
}

func newSlowIRC(t *testing.T, pace time.Duration) *slowIRC {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &slowIRC{at: l, pace: pace}
	t.Cleanup(func() { _ = l.Close() })
	go func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c) // ends with the program of the network
		}
	}()
	return s
}

func (s *slowIRC) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	for in := bufio.NewScanner(c); in.Scan(); {
		word, rest, _ := strings.Cut(in.Text(), " ")
		switch word {
		case "CAP":
			_, _ = fmt.Fprint(c, ":irc.test CAP * LS :\r\n")
		case "USER":
			s.mu.Lock()
			s.conn = c
			s.mu.Unlock()
			_, _ = fmt.Fprint(c, ":irc.test 001 hearth :hello\r\n:irc.test 422 hearth :no motd\r\n")
		case "PRIVMSG":
			_, text, _ := strings.Cut(rest, ":")
			s.mu.Lock()
			s.said = append(s.said, text)
			s.mu.Unlock()
		case "PING":
			<-time.After(s.pace)
			_, _ = fmt.Fprintf(c, ":irc.test PONG irc.test :%s\r\n", strings.TrimPrefix(rest, ":"))
		case "QUIT":
			return
		}
	}
}

func (s *slowIRC) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.said...)
}

// onSlowIRC is the real gateway with its account there, which ada may write to.
func onSlowIRC(t *testing.T, model string, pace time.Duration) (*gatewaytest.Victim, *slowIRC) {
	t.Helper()
	v := gatewaytest.NewVictim(t, model)
	gatewaytest.Channels(t)
	s := newSlowIRC(t, pace)
	v.Start("")
	c := v.Dial(t.Context(), func(protocol.Event) {})
	defer func() { _ = c.Close() }()
	raw, err := json.Marshal(map[string]any{"channels": map[string]any{"irc": map[string]any{
		"host": "127.0.0.1", "port": s.at.Addr().(*net.TCPAddr).Port, "tls": false, "dmPolicy": "allowlist",
		"allowFrom": []string{"ada!ada@irc.test"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Call(t.Context(), protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: string(raw)}, nil); err != nil {
		t.Fatal(err)
	}
	gatewaytest.WaitFor(t, "the account", func() bool {
		var st protocol.ChannelsStatus
		if err := c.Call(t.Context(), protocol.MethodChannelsStatus, nil, &st); err != nil {
			t.Fatal(err)
		}
		acc := st.ChannelAccounts["irc"]
		return len(acc) == 1 && acc[0].Connected
	})
	return v, s
}

// TestStopBetweenMessages: a stop while an answer of many messages goes out waits for the
// one in hand; the next start goes on behind it, and nobody has to decide anything.
func TestStopBetweenMessages(t *testing.T) {
	v, s := onSlowIRC(t, "chat/stream-400-0", 300*time.Millisecond)
	s.mu.Lock()
	_, _ = fmt.Fprint(s.conn, ":ada!ada@irc.test PRIVMSG hearth :count\r\n")
	s.mu.Unlock()
	gatewaytest.WaitFor(t, "the second message", func() bool { return len(s.heard()) == 2 })
	if err := v.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-v.Gone
	if got := s.heard(); len(got) > 3 {
		t.Fatalf("it went on for %d messages after it was asked to stop", len(got))
	}
	v.Start("")
	c := v.Dial(t.Context(), func(protocol.Event) {})
	defer func() { _ = c.Close() }()
	var left protocol.DeliveriesList
	gatewaytest.WaitFor(t, "the rest", func() bool {
		if err := c.Call(t.Context(), protocol.MethodDeliveriesList, nil, &left); err != nil {
			t.Fatal(err)
		}
		return len(left.Deliveries) == 0 || left.Deliveries[0].State != "waiting" && left.Deliveries[0].State != "sending"
	})
	var got, want strings.Builder
	for _, word := range strings.Fields(strings.Join(s.heard(), " ")) {
		if strings.HasPrefix(word, "w") && strings.Trim(word[1:], "0123456789") == "" {
			got.WriteString(word + " ")
		}
	}
	for n := range 400 {
		fmt.Fprintf(&want, "w%d ", n+1)
	}
	if len(left.Deliveries) > 0 || got.String() != want.String() {
		t.Errorf("%q arrived, and %+v is left", s.heard(), left.Deliveries)
	}
}
