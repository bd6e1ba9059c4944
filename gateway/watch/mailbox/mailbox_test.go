package mailbox_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/watch/mailbox"
	"github.com/hearth-assistant/hearth/gateway/watch/watchtest"
	"github.com/hearth-assistant/hearth/internal/freeport"
)

// server is a dovecot with one mailbox, which is a folder that a test puts mail
// into.
type server struct {
	t       *testing.T
	program string
	dir     string
	address string
	cmd     *exec.Cmd
	mails   int
	uid     int
	gid     int
}

func dovecot(t *testing.T) *server {
	t.Helper()
	program, err := exec.LookPath("dovecot")
	if err != nil {
		if program = "/usr/sbin/dovecot"; !executable(program) {
			watchtest.Missing(t, "dovecot")
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
	s := &server{t: t, program: program, dir: dir, address: address, uid: os.Getuid(), gid: os.Getgid()}
	s.configure()
	s.mail("there", "me@example.org", "there before", "old words")
	s.up()
	return s
}

func executable(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode()&0o111 != 0
}

func (s *server) configure() {
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

func (s *server) up() {
	s.t.Helper()
	cmd := exec.Command(s.program, "-F", "-c", filepath.Join(s.dir, "conf"))
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.cmd = cmd
	s.t.Cleanup(s.down)
	watchtest.Answers(s.t, s.address)
}

func (s *server) down() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
}

// mail puts a message into the mailbox, as a server that delivers does.
func (s *server) mail(id, from, subject, words string) {
	s.raw("Message-ID: <" + id + "@test>\r\nFrom: " + from + "\r\nTo: me@example.org\r\nSubject: " + subject + "\r\n\r\n" + words + "\r\n")
}

func (s *server) raw(text string) {
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

func (s *server) source(from ...string) *mailbox.Mailbox {
	s.t.Helper()
	src, err := mailbox.New(mailbox.Options{
		URL: "imap://" + s.address, User: "me", From: from, Dial: egress.DialNamed, Plain: true,
		Password: func(context.Context) (string, error) { return "secret", nil },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return src
}

// TestConformance is against a real server.
func TestConformance(t *testing.T) {
	watchtest.Run(t, func(t *testing.T) *watchtest.World {
		s := dovecot(t)
		return &watchtest.World{
			Source: s.source(),
			Change: func(_ *testing.T, n int) string {
				s.mail(fmt.Sprint("n", n), "Ann <ann@example.org>", fmt.Sprintf("Letter %d.", n), "words")
				return fmt.Sprintf("mail from Ann <ann@example.org>: Letter %d. words", n)
			},
			Away: func(_ *testing.T, away bool) {
				if away {
					s.down()
				} else {
					s.up()
				}
			},
			Hostile: []func(*testing.T){
				func(*testing.T) { s.raw("") }, func(*testing.T) { s.raw(strings.Repeat("Subject: x\r\n", 50_000)) },
				func(*testing.T) { s.raw("Subject: " + strings.Repeat("=?utf-8?B?////?=", 10_000) + "\r\n\r\nx") },
				func(*testing.T) {
					kind := "Content-Type: multipart/mixed; boundary=x\r\n\r\n"
					s.raw(kind + strings.Repeat("--x\r\n"+kind, 5000))
				},
				func(*testing.T) { s.mail("big", "x@example.org", "big", strings.Repeat("words ", 1<<20)) },
				func(*testing.T) {
					for i := range 60 {
						s.mail(fmt.Sprint("many", i), "x@example.org", "many", "x")
					}
				},
			},
			Mend: func(*testing.T) {},
		}
	})
}

// A server says at once that mail has come, and what had come before it was asked
// to; when it goes away nobody waits for it for good.
func TestNotices(t *testing.T) {
	s := dovecot(t)
	heard := make(chan struct{}, 16)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.source().Notices(ctx, func() { heard <- struct{}{} }) }()
	hear := func(what string) {
		t.Helper()
		select {
		case <-heard:
		case err := <-ended:
			t.Fatalf("%s: %v", what, err)
		case <-time.After(time.Minute): // where the system gives no notice of files the server looks each half minute
			t.Fatalf("%s: nothing is heard", what)
		}
	}
	hear("the beginning")
	for len(heard) > 0 {
		<-heard
	}
	s.mail("new", "Ann <ann@example.org>", "new", "words")
	hear("new mail")
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Only mail of the named addresses is told, by the address and not by the name
// that is shown; two senders are none; nothing is marked as read.
func TestSec_MailOfNamedSendersOnly(t *testing.T) {
	s := dovecot(t)
	src := s.source("Boss@example.org")
	first, err := src.Look(t.Context(), nil)
	if err != nil || first.Count != 1 {
		t.Fatalf("%v %+v", err, first)
	}
	s.mail("1", "boss@example.org <thief@example.net>", "a", "x")
	s.mail("2", "boss@example.org, thief@example.net", "b", "x")
	s.mail("3", "The Boss <BOSS@example.org>", "c", "x")
	f, err := src.Look(t.Context(), first.Kept)
	if err != nil || len(f.Items) != 1 || !strings.Contains(f.Items[0].Title, ": c") {
		t.Fatalf("%v %+v", err, f)
	}
	names, err := filepath.Glob(filepath.Join(s.dir, "mail/cur/*:2,*S*"))
	if err != nil || len(names) != 0 {
		t.Errorf("marked as read: %v %v", err, names)
	}
	wrong, err := mailbox.New(mailbox.Options{
		URL: "imap://" + s.address, User: "me", Dial: egress.DialNamed, Plain: true,
		Password: func(context.Context) (string, error) { return "wrong", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = wrong.Look(t.Context(), nil)
	if err == nil || strings.Contains(err.Error(), "wrong") || !strings.Contains(err.Error(), "let me in") {
		t.Errorf("a wrong password: %v", err)
	}
}

// A password is never sent without TLS, but to this computer.
func TestSec_NoPasswordInTheClear(t *testing.T) {
	s := dovecot(t)
	asked := false
	src, err := mailbox.New(mailbox.Options{
		URL: "imap://" + s.address, User: "me", Dial: egress.DialNamed,
		Password: func(context.Context) (string, error) { asked = true; return "secret", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := src.Look(t.Context(), nil); err == nil {
		t.Errorf("logged in without TLS (asked for the password: %v)", asked)
	}
}

// What a message says, as people write them.
func TestWords(t *testing.T) {
	for name, c := range map[string][2]string{
		"plain":  {"Content-Type: text/plain; charset=utf-8\r\n\r\nGrüße\r\n", "Grüße"},
		"latin":  {"Content-Type: text/plain; charset=iso-8859-1\r\n\r\nGr\xfc\xdfe", "Grüße"},
		"html":   {"Content-Type: text/html\r\n\r\n<style>x</style><p>Hello <b>you</b></p>", "Hello you"},
		"quoted": {"Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\na=3Db", "a=b"},
		"both": {"Content-Type: multipart/alternative; boundary=x\r\n\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>h</p>\r\n--x\r\n" +
			"Content-Type: text/plain\r\n\r\np\r\n--x--\r\n", "p"},
		"nothing": {"", ""},
	} {
		if got := mailbox.Words([]byte(c[0])); got != c[1] {
			t.Errorf("%s: %q, want %q", name, got, c[1])
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add([]byte("Content-Type: text/plain; charset=utf-8\r\n\r\nx"))
	f.Fuzz(func(_ *testing.T, b []byte) { _ = mailbox.Words(b) })
}
