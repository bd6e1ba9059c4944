package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"
	"github.com/emersion/go-message/mail"
	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/hearth-assistant/hearth/gateway/channel/email"
	"github.com/hearth-assistant/hearth/gateway/channel/irc"
	"github.com/hearth-assistant/hearth/gateway/channel/xmpp"
)

// inbox is what somebody on a server was sent.
type inbox struct {
	mu   sync.Mutex
	list []string
}

func (h *inbox) add(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, text)
}

func (h *inbox) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.list...)
}

// onMail is a mailbox of go-imap's server, and go-smtp's.
func onMail(t *testing.T) *place {
	const user, password = "me", "secret"
	box, mem, got := imapmemserver.NewUser(user, password), imapmemserver.New(), &inbox{}
	if err := box.Create("INBOX", nil); err != nil {
		t.Fatal(err)
	}
	mem.AddUser(box)
	quiet := log.New(io.Discard, "", 0)
	in := imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return mem.NewSession(), nil, nil
		},
		Caps: imap.CapSet{imap.CapIMAP4rev1: {}, imap.CapIdle: {}}, InsecureAuth: true, Logger: quiet,
	})
	out := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return outgoing{user, password, got}, nil }))
	out.Domain, out.AllowInsecureAuth, out.MaxLineLength, out.ErrorLog = "mx.example.org", true, 1000, quiet
	from, to := listen(t), listen(t)
	go func() { _ = in.Serve(from) }()
	go func() { _ = out.Serve(to) }()
	t.Cleanup(func() { _, _ = in.Close(), out.Close() })
	id := ids()
	right := typed{email.KeyAddress: "hearth@example.org", email.KeyUser: user, email.KeyPassword: password, email.KeyIMAPHost: "127.0.0.1",
		email.KeyIMAPPort: portOf(from), email.KeySMTPHost: "127.0.0.1", email.KeySMTPPort: portOf(to), email.KeyTLS: "no",
		email.KeyResults: "mx.example.org"}
	return &place{right: right, wrong: typed{email.KeyPassword: "secret2"}, refused: "password", sent: got.all, say: func(text string) {
		raw := "Authentication-Results: mx.example.org; dmarc=pass header.from=example.org\r\nMessage-ID: <" + id() + "@example.org>\r\nDate: " +
			time.Now().Format(time.RFC1123Z) + "\r\nFrom: Ada <ada@example.org>\r\nTo: hearth@example.org\r\nSubject: hello\r\n\r\n" + text + "\r\n"
		if _, err := box.Append("INBOX", letter{strings.NewReader(raw)}, &imap.AppendOptions{}); err != nil {
			t.Error(err)
		}
	}}
}

type letter struct{ *strings.Reader }

func (l letter) Size() int64 { return l.Reader.Size() }

// outgoing takes what is sent.
type outgoing struct {
	user, password string
	got            *inbox
}

func (o outgoing) AuthMechanisms() []string { return []string{sasl.Plain} }

func (o outgoing) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != o.user || password != o.password {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}
func (outgoing) Mail(string, *smtp.MailOptions) error { return nil }
func (outgoing) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (outgoing) Reset()                               {}
func (outgoing) Logout() error                        { return nil }

func (o outgoing) Data(r io.Reader) error {
	m, err := mail.CreateReader(r)
	if err != nil {
		return err
	}
	for {
		part, err := m.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		text, err := io.ReadAll(part.Body)
		if err != nil {
			return err
		}
		if strings.HasPrefix(part.Header.Get("Content-Type"), "text/plain") {
			o.got.add(string(text))
		}
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func portOf(l net.Listener) string { _, p, _ := net.SplitHostPort(l.Addr().String()); return p }

// server starts a program of Debian's when its files are written, and connects to it.
func server(t *testing.T, program string, files func(dir, port string) (typed, []string)) (port string, c net.Conn) {
	t.Helper()
	path := ""
	for _, dir := range []string{"/usr/sbin", "/usr/bin"} {
		if found, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			path = found
		}
	}
	if path == "" {
		if os.Getenv("HEARTH_REQUIRE_SERVERS") != "" {
			t.Fatal(program, " is not installed, and HEARTH_REQUIRE_SERVERS is set")
		}
		t.Skip(program, " is not installed; on Debian: sudo apt-get install ", program)
	}
	l := listen(t)
	port = portOf(l)
	_ = l.Close()
	dir := t.TempDir()
	texts, args := files(dir, port)
	for name, text := range texts {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for late := time.After(30 * time.Second); ; {
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
		if err == nil {
			t.Cleanup(func() { _ = c.Close() })
			return port, c
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-late:
			t.Fatal(err)
		}
	}
}

// onIRC is ngircd with a password.
func onIRC(t *testing.T) *place {
	port, c := server(t, "ngircd", func(dir, port string) (typed, []string) {
		return typed{"conf": "[Global]\nName = irc.test.local\nInfo = test\nListen = 127.0.0.1\nPorts = " + port + "\nMotdPhrase = hello\n" +
			"Password = open sesame\n[Options]\nDNS = no\nIdent = no\nPAM = no\n"}, []string{"-n", "-f", filepath.Join(dir, "conf")}
	})
	got := &inbox{}
	write := func(text string) {
		if _, err := io.WriteString(c, text+"\r\n"); err != nil {
			t.Error(err)
		}
	}
	write("PASS :open sesame\r\nNICK ada\r\nUSER ada 0 * :Ada")
	go func() {
		for lines := bufio.NewScanner(c); lines.Scan(); {
			if to, ping := strings.CutPrefix(lines.Text(), "PING "); ping {
				_, _ = io.WriteString(c, "PONG "+to+"\r\n")
			} else if _, text, said := strings.Cut(lines.Text(), "PRIVMSG ada :"); said {
				got.add(text)
			}
		}
	}()
	return &place{
		right: typed{irc.KeyHost: "127.0.0.1", irc.KeyPort: port, irc.KeyTLS: "no", irc.KeyPassword: "open sesame"},
		wrong: typed{irc.KeyPassword: "close sesame"}, refused: "password",
		say: func(text string) { write("PRIVMSG hearth :" + text) }, sent: got.all,
	}
}

// onXMPP is Prosody, with ada logged in.
func onXMPP(t *testing.T) *place {
	port, c := server(t, "prosody", func(dir, port string) (typed, []string) {
		account := "return { [\"password\"] = \"secret\"; };\n"
		return typed{"data/test%2elocal/accounts/ada.dat": account, "data/test%2elocal/accounts/hearth.dat": account,
			"conf.lua": fmt.Sprintf(`run_as_root = true
pidfile = "%[1]s/pid"
data_path = "%[1]s/data"
log = { { levels = { min = "error" }, to = "file", filename = "%[1]s/log" } }
interfaces = { "127.0.0.1" }
c2s_ports = { %[2]s }
c2s_direct_tls_ports = {}
s2s_ports = {}
modules_enabled = { "roster", "saslauth", "disco", "ping", "smacks", "mam", "offline" }
modules_disabled = { "s2s" }
authentication = "internal_plain"
default_archive_policy = true
c2s_require_encryption = false
allow_unencrypted_plain_auth = true
VirtualHost "test.local"
`, dir, port)}, []string{"--config", filepath.Join(dir, "conf.lua"), "-F"}
	})
	open := "<stream:stream to='test.local' version='1.0' xmlns='jabber:client' " +
		"xmlns:stream='http://etherx.jabber.org/streams'>"
	var all bytes.Buffer
	until := func(text string) {
		t.Helper()
		_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
		for b := make([]byte, 4096); !strings.Contains(all.String(), text); {
			n, err := c.Read(b)
			all.Write(b[:n])
			if err != nil {
				t.Fatalf("%v, after %s", err, all.String())
			}
		}
		all.Reset()
	}
	write := func(text string) {
		t.Helper()
		if _, err := io.WriteString(c, text); err != nil {
			t.Error(err)
		}
	}
	write(open)
	until("</stream:features>")
	login := base64.StdEncoding.EncodeToString([]byte("\x00ada\x00secret"))
	write("<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>" + login + "</auth>")
	until("<success")
	write(open)
	until("</stream:features>")
	write("<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>")
	until("</iq>")
	write("<presence/>")
	_ = c.SetReadDeadline(time.Time{})
	got := &inbox{}
	go func() {
		body := regexp.MustCompile(`<body>([^<]*)</body>`)
		for stanzas := bufio.NewReader(c); ; {
			part, err := stanzas.ReadString('>')
			if err != nil {
				return
			}
			all.WriteString(part)
			if m := body.FindStringSubmatch(all.String()); m != nil {
				got.add(m[1])
				all.Reset()
			}
		}
	}()
	return &place{
		right: typed{xmpp.KeyAddress: "hearth@test.local", xmpp.KeyPassword: "secret", xmpp.KeyHost: "127.0.0.1", xmpp.KeyPort: port,
			xmpp.KeyTLS: "no"},
		wrong: typed{xmpp.KeyPassword: "secret2"}, refused: "password",
		say: func(text string) {
			write("<message to='hearth@test.local' type='chat'><body>" + text + "</body></message>")
		},
		sent: got.all,
	}
}
