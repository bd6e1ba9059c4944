package client_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/irc"
)

// TestRealServer: two of ours talk to each other on Debian's ngircd, in private and
// in a channel, and are refused what it refuses.
func TestRealServer(t *testing.T) {
	s := ngircd(t)
	one := open(t, account(s, func(a *channel.Account) { a.Texts[irc.KeyNick] = "one"; a.Texts[irc.KeyChannels] = "#home" }))
	two := open(t, account(s, func(a *channel.Account) { a.Texts[irc.KeyNick] = "two"; a.Texts[irc.KeyChannels] = "#home" }))
	gotOne, _ := running(t, one)
	gotTwo, _ := running(t, two)
	until(t, "connecting", connected(one))
	until(t, "connecting", connected(two))
	tell := func(c channel.Channel, to, text string) {
		t.Helper()
		if err := say(t, c, to, text); err != nil {
			t.Fatalf("%q to %s: %v", text, to, err)
		}
	}
	hear := func(got <-chan channel.Inbound, want, where string) {
		t.Helper()
		select {
		case in := <-got:
			if in.Text != want || in.Conversation != where {
				t.Errorf("%+v, want %q in %s", in, want, where)
			}
		case <-time.After(60 * time.Second):
			t.Fatalf("%q was not heard", want)
		}
	}
	tell(one, "two", "grüße **dich**")
	hear(gotTwo, "grüße dich", "one")
	tell(two, "one", "und dich")
	hear(gotOne, "und dich", "two")
	joined := func() bool { return say(t, one, "#home", "two: here?") == nil } // joining follows connecting
	until(t, "joining", joined)
	select {
	case in := <-gotTwo:
		if !in.Mentioned || in.Chat != channel.Group || in.Command != "here?" {
			t.Errorf("%+v", in)
		}
	case <-time.After(60 * time.Second):
		t.Fatal("nothing was heard in the channel")
	}
	if err := say(t, one, "nobody", "x"); err == nil || !strings.Contains(err.Error(), "No such nick") {
		t.Errorf("to nobody: %v", err)
	}
	long := strings.TrimSpace(strings.Repeat("0123456789 ", 60))
	tell(two, "one", long)
	var heard []string
	for len(strings.Join(heard, " ")) < len(long) {
		select {
		case in := <-gotOne:
			heard = append(heard, in.Text)
		case <-time.After(60 * time.Second):
			t.Fatalf("of a long text only %q was heard", heard)
		}
	}
	if strings.Join(heard, " ") != long {
		t.Errorf("%q", heard)
	}
}

// ngircd starts a server; only its address is used of what is returned.
func ngircd(t *testing.T) *server {
	t.Helper()
	path := "/usr/sbin/ngircd"
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("HEARTH_REQUIRE_SERVERS") != "" {
			t.Fatal("ngircd is not installed, and HEARTH_REQUIRE_SERVERS is set")
		}
		t.Skip("ngircd is not installed; on Debian: sudo apt-get install ngircd")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	file := filepath.Join(t.TempDir(), "ngircd.conf")
	text := fmt.Sprintf("[Global]\nName = irc.test.local\nInfo = test\nListen = 127.0.0.1\nPorts = %s\nMotdPhrase = hello\n"+
		"[Options]\nDNS = no\nIdent = no\nPAM = no\n", port)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	cmd := exec.Command(path, "-n", "-f", file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	until(t, "ngircd", func() bool {
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return &server{t: t, at: address{l.Addr()}}
}

// address is a listener that is only named.
type address struct{ at net.Addr }

func (a address) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (a address) Close() error              { return nil }
func (a address) Addr() net.Addr            { return a.at }
