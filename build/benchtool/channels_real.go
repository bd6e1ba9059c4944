package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"

	"github.com/hearth-assistant/hearth/gateway/channel/email"
	"github.com/hearth-assistant/hearth/gateway/channel/irc"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix"
	"github.com/hearth-assistant/hearth/gateway/channel/xmpp"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// errNotHere: a server that others wrote is not installed here.
var errNotHere = errors.New("its server is not installed here")

// real are accounts on servers that others wrote. There a second account of ours is the
// somebody who writes.
func real() []func(context.Context, *bench) (lab, error) {
	return []func(context.Context, *bench) (lab, error){onMailbox, onNgircd, onProsody, onDendrite}
}

// daemon is such a server, which ends when it is closed.
type daemon struct {
	dir, address string
	cmd          *exec.Cmd
}

// launch starts a program when write has written what it reads, and waits until its port
// answers.
func launch(ctx context.Context, program string, write func(d *daemon, port string) (args []string, err error)) (*daemon, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", errNotHere, program)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &daemon{address: l.Addr().String()}
	_ = l.Close()
	if d.dir, err = os.MkdirTemp("", "hearth-bench-server"); err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(d.address)
	args, err := write(d, port)
	if err == nil {
		d.cmd = exec.CommandContext(ctx, path, args...)
		d.cmd.Dir = d.dir
		err = d.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(d.dir))
	}
	for range 300 {
		if c, err := new(net.Dialer).DialContext(ctx, "tcp", d.address); err == nil {
			return d, c.Close()
		}
		if err := sleep.For(ctx, 100*time.Millisecond); err != nil {
			break
		}
	}
	d.close()
	return nil, fmt.Errorf("%s does not answer at %s", program, d.address)
}

func (d *daemon) close() {
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
	_ = os.RemoveAll(d.dir)
}

func (d *daemon) put(name, text string) error {
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// with makes ada of a lab, who writes to the other account and ends with the server.
func with(ctx context.Context, b *bench, l lab, ada words, d *daemon, to string) (lab, error) {
	c, err := begin(ctx, b, l.network, ada, l.secrets)
	if err != nil {
		d.close()
		return l, err
	}
	l.say = func(ctx context.Context) error { return c.said(ctx, to, "hello") }
	l.close = func() { c.end(); d.close() }
	return l, nil
}

// onMailbox measures an account on a mailbox of go-imap's own server, in memory here.
func onMailbox(ctx context.Context, _ *bench) (lab, error) {
	l := lab{network: email.ID, secrets: words{email.KeyPassword: "secret"}}
	user, mem := imapmemserver.NewUser("me", "secret"), imapmemserver.New()
	if err := user.Create("INBOX", nil); err != nil {
		return l, err
	}
	mem.AddUser(user)
	box := imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return mem.NewSession(), nil, nil
		},
		Caps: imap.CapSet{imap.CapIMAP4rev1: {}, imap.CapIdle: {}}, InsecureAuth: true, Logger: log.New(io.Discard, "", 0),
	})
	at, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return l, err
	}
	go func() { _ = box.Serve(at) }()
	_, port, _ := net.SplitHostPort(at.Addr().String())
	l.texts = words{email.KeyAddress: "hearth@example.org", email.KeyUser: "me", email.KeyIMAPHost: "127.0.0.1", email.KeyIMAPPort: port,
		email.KeySMTPHost: "127.0.0.1", email.KeySMTPPort: port, email.KeyTLS: "false"} // nothing is sent
	l.say = func(context.Context) error {
		raw := strings.NewReader("Message-ID: <1@example.org>\r\nDate: " + time.Now().Format(time.RFC1123Z) + "\r\nFrom: ada@example.org\r\n" +
			"To: hearth@example.org\r\nSubject: hello\r\n\r\nhello\r\n")
		_, err := user.Append("INBOX", letter{raw}, &imap.AppendOptions{})
		return err
	}
	l.close, l.unproven = func() { _ = box.Close() }, true
	return l, nil
}

// letter is a mail as the server takes it.
type letter struct{ *strings.Reader }

func (l letter) Size() int64 { return l.Reader.Size() }

func onNgircd(ctx context.Context, b *bench) (lab, error) {
	l := lab{network: irc.ID}
	d, err := launch(ctx, "ngircd", func(d *daemon, port string) ([]string, error) {
		return []string{"-n", "-f", filepath.Join(d.dir, "conf")}, d.put("conf", "[Global]\nName = irc.test.local\nInfo = bench\n"+
			"Listen = 127.0.0.1\nPorts = "+port+"\nMotdPhrase = hello\n[Options]\nDNS = no\nIdent = no\nPAM = no\n")
	})
	if err != nil {
		return l, err
	}
	_, port, _ := net.SplitHostPort(d.address)
	as := func(nick string) words {
		return words{irc.KeyHost: "127.0.0.1", irc.KeyPort: port, irc.KeyTLS: "false", irc.KeyNick: nick}
	}
	l.texts = as("hearth")
	return with(ctx, b, l, as("ada"), d, "hearth")
}

func onProsody(ctx context.Context, b *bench) (lab, error) {
	l := lab{network: xmpp.ID, secrets: words{xmpp.KeyPassword: "secret"}}
	d, err := launch(ctx, "prosody", func(d *daemon, port string) ([]string, error) {
		account := "return { [\"password\"] = \"secret\"; };\n"
		return []string{"--config", filepath.Join(d.dir, "conf.lua"), "-F"}, errors.Join(
			d.put("data/test%2elocal/accounts/ada.dat", account), d.put("data/test%2elocal/accounts/hearth.dat", account),
			d.put("conf.lua", fmt.Sprintf(`run_as_root = true
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
allow_unencrypted_plain_auth = false
VirtualHost "test.local"
`, d.dir, port)))
	})
	if err != nil {
		return l, err
	}
	_, port, _ := net.SplitHostPort(d.address)
	as := func(name string) words {
		return words{xmpp.KeyAddress: name + "@test.local", xmpp.KeyHost: "127.0.0.1", xmpp.KeyPort: port, xmpp.KeyTLS: "false"}
	}
	l.texts = as("hearth")
	return with(ctx, b, l, as("ada"), d, "hearth@test.local")
}

// onDendrite measures an account in an encrypted conversation.
func onDendrite(ctx context.Context, b *bench) (lab, error) {
	l := lab{network: matrix.ID, secrets: words{matrix.KeyPassword: "secret word"}}
	bin, err := filepath.Abs(filepath.Join("build", "cache", "dendrite"))
	if err != nil {
		return l, err
	}
	d, err := launch(ctx, filepath.Join(bin, "dendrite"), func(d *daemon, _ string) ([]string, error) {
		keys := exec.CommandContext(ctx, filepath.Join(bin, "generate-keys"), "--private-key", "matrix_key.pem")
		keys.Dir = d.dir
		if err := keys.Run(); err != nil {
			return nil, err
		}
		conf, err := exec.CommandContext(ctx, filepath.Join(bin, "generate-config"), "-dir", d.dir, "-server", "test.local").Output()
		open := strings.NewReplacer("registration_disabled: true", "registration_disabled: false", "disable_federation: false",
			"disable_federation: true", "rate_limiting:\n    enabled: true", "rate_limiting:\n    enabled: false",
			"in_memory: false\n    disable_tls", "in_memory: true\n    disable_tls", "bcrypt_cost: 10", "bcrypt_cost: 4")
		return []string{"-config", "conf.yaml", "-http-bind-address", d.address, "-https-bind-address", "127.0.0.1:0",
			"-really-enable-open-registration"}, errors.Join(err, d.put("conf.yaml", open.Replace(string(conf))))
	})
	if err != nil {
		return l, err
	}
	room, err := d.conversation(ctx)
	if err != nil {
		d.close()
		return l, err
	}
	as := func(name, inviter string) words {
		return words{matrix.KeyServer: "http://" + d.address, matrix.KeyUser: "@" + name + ":test.local",
			matrix.KeyInviters: "@" + inviter + ":test.local"}
	}
	l.texts = as("hearth", "ada")
	return with(ctx, b, l, as("ada", "hearth"), d, room)
}

// conversation makes the accounts, and an encrypted conversation into which hearth is
// invited.
func (d *daemon) conversation(ctx context.Context) (room string, err error) {
	token := ""
	ask := func(path string, body any, into any) error {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.address+"/_matrix/client/v3/"+path, bytes.NewReader(b))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		got, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		if err != nil || resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %d %s: %w", path, resp.StatusCode, got, err)
		}
		return json.Unmarshal(got, into)
	}
	type object = map[string]any
	var made struct {
		Token string `json:"access_token"`
		Room  string `json:"room_id"`
	}
	for _, name := range []string{"hearth", "ada"} {
		who := object{"username": name, "password": "secret word", "auth": object{"type": "m.login.dummy"}}
		if err := ask("register", who, &made); err != nil {
			return "", err
		}
	}
	token = made.Token
	err = ask("createRoom", object{"preset": "private_chat", "is_direct": true, "invite": []string{"@hearth:test.local"},
		"initial_state": []any{object{"type": "m.room.encryption", "state_key": "",
			"content": object{"algorithm": "m.megolm.v1.aes-sha2"}}}}, &made)
	return made.Room, err
}
