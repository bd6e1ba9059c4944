package client_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/email"
	"github.com/hearth-assistant/hearth/internal/freeport"
)

// TestRealServer: mail is read from a real server, over its restart, and marked as read.
func TestRealServer(t *testing.T) {
	d, s := dovecot(t), newServer(t)
	kept := &durable{kept: map[string][]byte{}}
	c := open(t, s, func(a *channel.Account) {
		a.Durable = kept
		_, a.Texts[email.KeyIMAPPort], _ = net.SplitHostPort(d.address)
	})
	d.raw(s.signed(letter("old@example.com", "ada@example.com", "", "before"), "example.com"))
	got, _ := running(t, c)
	receive := func(id string) {
		t.Helper()
		d.raw(s.signed(letter(id, "ada@example.com", "", id), "example.com"))
		if in := next(t, got); in.MessageID != id || in.Text != id {
			t.Errorf("%+v, want %s", in, id)
		}
	}
	receive("one@example.com")
	d.raw(letter("forged@example.com", "ada@example.com", "", "forged"))
	receive("two@example.com")
	d.down()
	until(t, "noticing it", func() bool { return c.Status().State == channel.Waiting })
	d.up()
	receive("three@example.com")
	until(t, "marking them as read", func() bool {
		read, err := filepath.Glob(filepath.Join(d.dir, "mail/cur/*:2,*S*"))
		return err == nil && len(read) == 3
	})
}

// TestRealServersTwoOfOurs: what one of ours writes to another one arrives in its
// mailbox, and is neither taken nor answered: they would write to each other for ever.
func TestRealServersTwoOfOurs(t *testing.T) {
	d, there, here := dovecot(t), newServer(t), newServer(t)
	there.own = "hearth@example.net"
	writes := open(t, there, func(a *channel.Account) { a.Texts[email.KeyAddress] = there.own })
	reads := open(t, here, func(a *channel.Account) { _, a.Texts[email.KeyIMAPPort], _ = net.SplitHostPort(d.address) })
	got, _ := running(t, reads)
	for _, said := range []string{"", "q@example.org"} { // by itself, and as an answer
		m := channel.Message{To: channel.Target{Conversation: own, ReplyTo: said}, Text: "I am a program"}
		if _, err := writes.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	there.mu.Lock()
	sent := there.raw
	there.mu.Unlock()
	for _, raw := range sent {
		d.raw(there.signed(string(raw), "example.net"))
	}
	d.raw(here.signed(letter("1@example.com", "ada@example.com", "", "a person"), "example.com"))
	if in := next(t, got); in.Text != "a person" {
		t.Errorf("a program was heard: %+v", in)
	}
	until(t, "reading the person's", func() bool {
		read, err := filepath.Glob(filepath.Join(d.dir, "mail/cur/*:2,*S*"))
		return err == nil && len(read) == 1
	})
	if len(sent) != 2 || len(here.Messages()) != 0 {
		t.Errorf("%d were sent, %d answered", len(sent), len(here.Messages()))
	}
}

func missing(t *testing.T) {
	t.Helper()
	if os.Getenv("HEARTH_REQUIRE_SERVERS") != "" {
		t.Fatal("dovecot is not installed, and HEARTH_REQUIRE_SERVERS is set")
	}
	t.Skip("dovecot is not installed; on Debian: sudo apt-get install dovecot-imapd")
}

func answers(t *testing.T, address string) {
	t.Helper()
	until(t, "dovecot", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

// dove is a dovecot with one mailbox, which is a folder that a test puts mail
// into.
type dove struct {
	t       *testing.T
	program string
	dir     string
	address string
	cmd     *exec.Cmd
	mails   int
	uid     int
	gid     int
}

func dovecot(t *testing.T) *dove {
	t.Helper()
	program, err := exec.LookPath("dovecot")
	if err != nil {
		if program = "/usr/sbin/dovecot"; !executable(program) {
			missing(t)
		}
	}
	// Its sockets have short names, and the mail belongs to somebody else.
	dir, err := os.MkdirTemp("/tmp", "dc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	s := &dove{t: t, program: program, dir: dir, address: address, uid: os.Getuid(), gid: os.Getgid()}
	s.configure()
	s.up()
	return s
}

func executable(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode()&0o111 != 0
}

func (s *dove) configure() {
	me, err := user.Current()
	if err != nil {
		s.t.Fatal(err)
	}
	inner, login := me.Username, me.Username
	if s.uid == 0 {
		inner, login = "dovecot", "dovenull"
		s.uid, s.gid = 65534, 65534
	}
	_, port, _ := net.SplitHostPort(s.address)
	conf := fmt.Sprintf(`protocols = imap
base_dir = %[1]s/run
state_dir = %[1]s/state
log_path = %[1]s/log
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
default_internal_user = %[2]s
default_internal_group = %[6]s
default_login_user = %[3]s
first_valid_uid = %[4]d
mail_location = maildir:%[1]s/mail
mailbox_idle_check_interval = 1 s
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=%[4]d gid=%[5]d home=%[1]s/mail
}
service anvil {
  chroot =
}
service imap-login {
  chroot =
  inet_listener imap {
    port = %[7]s
  }
  inet_listener imaps {
    port = 0
  }
}
`, s.dir, inner, login, s.uid, s.gid, group(s.t, inner), port)
	if err := os.Chmod(s.dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	for _, sub := range []string{"run", "state", "mail", "mail/new", "mail/cur", "mail/tmp"} {
		if err := os.MkdirAll(filepath.Join(s.dir, sub), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if strings.HasPrefix(sub, "mail") {
			_ = os.Chown(filepath.Join(s.dir, sub), s.uid, s.gid)
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, "conf"), []byte(conf), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func group(t *testing.T, name string) string {
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	g, err := user.LookupGroupId(u.Gid)
	if err != nil {
		t.Fatal(err)
	}
	return g.Name
}

func (s *dove) up() {
	s.t.Helper()
	cmd := exec.Command(s.program, "-F", "-c", filepath.Join(s.dir, "conf"))
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.cmd = cmd
	s.t.Cleanup(s.down)
	answers(s.t, s.address)
}

func (s *dove) down() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
}

// raw puts a message into the mailbox, as a server that delivers does.
func (s *dove) raw(text string) {
	s.t.Helper()
	s.mails++
	name := fmt.Sprintf("1700000%03d.M%dP1.test", s.mails, s.mails)
	part := filepath.Join(s.dir, "mail/tmp", name)
	if err := os.WriteFile(part, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
	_ = os.Chown(part, s.uid, s.gid)
	if err := os.Rename(part, filepath.Join(s.dir, "mail/new", name)); err != nil {
		s.t.Fatal(err)
	}
}
