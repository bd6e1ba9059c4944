package client_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/xmpp"
	"github.com/hearth-assistant/hearth/gateway/channel/xmpp/client"
	"github.com/hearth-assistant/hearth/internal/freeport"
)

// prosody is a server with the accounts one, two and three, rooms, an archive and a
// place for files.
type prosody struct {
	t             *testing.T
	dir           string
	port, web     string
	locking       bool // a new room lets nobody in before it is set up
	secure        bool
	roots         *x509.CertPool
	cmd           *exec.Cmd
	without       string // modules that it does not have
	certificateOf string
}

func newProsody(t *testing.T, secure bool) *prosody {
	t.Helper()
	if _, err := exec.LookPath("prosody"); err != nil {
		if os.Getenv("HEARTH_REQUIRE_SERVERS") != "" {
			t.Fatal("prosody is not installed, and HEARTH_REQUIRE_SERVERS is set")
		}
		t.Skip("prosody is not installed; on Debian: sudo apt-get install prosody")
	}
	p := &prosody{t: t, dir: t.TempDir(), port: freePort(t), web: freePort(t), secure: secure, certificateOf: "test.local"}
	accounts := filepath.Join(p.dir, "data", "test%2elocal", "accounts")
	if err := os.MkdirAll(accounts, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two", "three"} {
		if err := os.WriteFile(filepath.Join(accounts, name+".dat"), []byte("return { [\"password\"] = \"secret\"; };\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func freePort(t *testing.T) string {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}

// up starts the server.
func (p *prosody) up() *prosody {
	p.t.Helper()
	conf := fmt.Sprintf(`run_as_root = true
pidfile = "%[1]s/pid"
data_path = "%[1]s/data"
log = { { levels = { min = "info" }, to = "file", filename = "%[1]s/log" } }
interfaces = { "127.0.0.1" }
c2s_ports = { %[2]s }
c2s_direct_tls_ports = {}
s2s_ports = {}
http_ports = { %[3]s }
http_interfaces = { "127.0.0.1" }
https_ports = {}
http_default_host = "files.test.local"
http_external_url = "http://127.0.0.1:%[3]s/"
modules_enabled = { "roster", "saslauth", "tls", "disco", "ping", "smacks", "mam", "offline", "http" }
modules_disabled = { "s2s", %[4]s }
authentication = "internal_plain"
archive_expires_after = "never"
default_archive_policy = true
c2s_require_encryption = %[5]v
allow_unencrypted_plain_auth = false
VirtualHost "test.local"
%[6]s
Component "rooms.test.local" "muc"
	modules_enabled = { "muc_mam" }
	muc_log_by_default = true
	restrict_room_creation = false
	muc_room_default_public_jids = true
	muc_room_locking = %[7]v
Component "files.test.local" "http_file_share"
	http_file_share_access = { "test.local" }
	http_file_share_size_limit = 1024*1024
`, p.dir, p.port, p.web, p.without, p.secure, p.certificate(), p.locking)
	if err := os.WriteFile(filepath.Join(p.dir, "conf.lua"), []byte(conf), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.cmd = exec.Command("prosody", "--config", filepath.Join(p.dir, "conf.lua"), "-F")
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		p.down()
		if p.t.Failed() {
			b, _ := os.ReadFile(filepath.Join(p.dir, "log"))
			p.t.Logf("prosody: %s", b[max(0, len(b)-4000):])
		}
	})
	until(p.t, "prosody", func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+p.port)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return p
}

func (p *prosody) down() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// certificate makes one for the server, and is the setting for it.
func (p *prosody) certificate() string {
	if !p.secure {
		return ""
	}
	if p.roots == nil {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			p.t.Fatal(err)
		}
		of := &x509.Certificate{
			SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{p.certificateOf}, IsCA: true,
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true,
			KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		}
		der, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
		if err != nil {
			p.t.Fatal(err)
		}
		pkcs, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			p.t.Fatal(err)
		}
		made, _ := x509.ParseCertificate(der)
		p.roots = x509.NewCertPool()
		p.roots.AddCert(made)
		for name, block := range map[string]*pem.Block{"crt": {Type: "CERTIFICATE", Bytes: der}, "key": {Type: "PRIVATE KEY", Bytes: pkcs}} {
			if err := os.WriteFile(filepath.Join(p.dir, "server."+name), pem.EncodeToMemory(block), 0o600); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	return fmt.Sprintf("\tssl = { key = %q; certificate = %q; }", filepath.Join(p.dir, "server.key"), filepath.Join(p.dir, "server.crt"))
}

// client is one of ours at the server.
func (p *prosody) client(name string, change func(*channel.Account)) *client.Client {
	p.t.Helper()
	a := account(p.port, func(a *channel.Account) {
		a.Texts[xmpp.KeyAddress] = name + "@test.local"
		if p.secure {
			delete(a.Texts, xmpp.KeyTLS)
		}
		if change != nil {
			change(a)
		}
	})
	c := open(p.t, a)
	c.Trust(p.roots)
	return c
}

const room = "#home@rooms.test.local"

func inRoom(a *channel.Account) { a.Texts[xmpp.KeyRooms] = room }

// hear waits for a message.
func hear(t *testing.T, got <-chan channel.Inbound, want string) channel.Inbound {
	t.Helper()
	select {
	case in := <-got:
		if in.Text != want {
			t.Fatalf("%+v, want %q", in, want)
		}
		return in
	case <-time.After(60 * time.Second):
		t.Fatalf("%q was not heard", want)
		return channel.Inbound{}
	}
}

func tell(t *testing.T, c channel.Channel, to, text string) string {
	t.Helper()
	r, err := c.Send(t.Context(), channel.Message{To: channel.Target{Conversation: to}, Text: text})
	if err != nil {
		t.Fatalf("%q to %s: %v", text, to, err)
	}
	return r.MessageID
}

// TestRealServer: two of ours talk to each other on Debian's prosody, in private and
// in a room, edit and answer.
func TestRealServer(t *testing.T) {
	for _, secure := range []bool{true, false} {
		t.Run(map[bool]string{true: "TLS", false: "Plain"}[secure], func(t *testing.T) {
			p := newProsody(t, secure).up()
			one, two := p.client("one", inRoom), p.client("two", inRoom)
			gotOne, _ := running(t, one)
			gotTwo, _ := running(t, two)
			until(t, "connecting", connected(one))
			until(t, "connecting", connected(two))
			id := tell(t, one, "two@test.local", "grüße **dich** <&>")
			in := hear(t, gotTwo, "grüße dich <&>")
			if in.Conversation != "one@test.local" || in.SenderID != "one@test.local" || in.MessageID != id || in.Chat != channel.Direct {
				t.Errorf("%+v", in)
			}
			if err := two.Typing(t.Context(), channel.Target{Conversation: "one@test.local"}); err != nil {
				t.Error(err)
			}
			if err := two.React(t.Context(), channel.Target{Conversation: "one@test.local"}, id, "👍"); err != nil {
				t.Error(err)
			}
			if err := one.Edit(t.Context(), channel.Target{Conversation: "two@test.local"}, id, "grüße alle"); err != nil {
				t.Error(err)
			}
			if in = hear(t, gotTwo, "grüße alle"); !in.Edited || in.MessageID != id {
				t.Errorf("%+v", in)
			}
			tell(t, two, "one@test.local", "und dich")
			hear(t, gotOne, "und dich")
			if got := readBack(t, two, "one@test.local", "", 5); got != "one: grüße alle | two: und dich" {
				t.Errorf("read back: %q", got)
			}
			second, err := one.Read(t.Context(), channel.Target{Conversation: "two@test.local"}, "", 1)
			if err != nil || len(second) != 1 || readBack(t, one, "two@test.local", second[0].MessageID, 5) != "one: grüße alle" {
				t.Errorf("before the last: %+v %v", second, err)
			}
			inTheRoom(t, one, two, gotOne, gotTwo)
			if got := readBack(t, one, room, "", 5); got != "two: yes!" { // the question was taken back
				t.Errorf("read back in the room: %q", got)
			}
			if err := say(t, one, "nobody@test.local", "x"); !errors.Is(err, channel.ErrRefused) {
				t.Errorf("to nobody: %v", err)
			}
			if err := say(t, one, "#other@rooms.test.local", "x"); !errors.Is(err, channel.ErrRefused) {
				t.Errorf("to a room that it is not in: %v", err)
			}
		})
	}
}

func inTheRoom(t *testing.T, one, two *client.Client, gotOne, gotTwo <-chan channel.Inbound) {
	t.Helper()
	until(t, "entering", func() bool { return one.Seated("home@rooms.test.local") && two.Seated("home@rooms.test.local") })
	asked := tell(t, one, room, "two: here?")
	in := hear(t, gotTwo, "two: here?")
	if !in.Mentioned || in.Chat != channel.Group || in.Command != "here?" || in.Conversation != room || in.SenderID != "one@test.local" {
		t.Errorf("%+v", in)
	}
	r, err := two.Send(t.Context(), channel.Message{To: channel.Target{Conversation: room, ReplyTo: in.MessageID}, Text: "yes"})
	if err != nil {
		t.Fatal(err)
	}
	if in = hear(t, gotOne, "yes"); !in.Mentioned { // it answers us
		t.Errorf("%+v", in)
	}
	if err := two.Edit(t.Context(), channel.Target{Conversation: room}, r.MessageID, "yes!"); err != nil {
		t.Error(err)
	}
	if edited := hear(t, gotOne, "yes!"); !edited.Edited || edited.MessageID != in.MessageID {
		t.Errorf("%+v, of %s", edited, in.MessageID)
	}
	if err := one.React(t.Context(), channel.Target{Conversation: room}, in.MessageID, "🎉"); err != nil {
		t.Error(err)
	}
	if err := one.Delete(t.Context(), channel.Target{Conversation: room}, asked); err != nil {
		t.Error(err)
	}
}

// TestFiles: a file goes by the server's store and comes from there.
func TestFiles(t *testing.T) {
	p := newProsody(t, true).up()
	dir := t.TempDir()
	content := strings.Repeat("what goes\n", 1000)
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	one := p.client("one", func(a *channel.Account) {
		a.OpenFile = func(path string) (fs.File, error) { return os.DirFS(dir).Open(path) }
	})
	two := p.client("two", nil)
	running(t, one)
	got, _ := running(t, two)
	until(t, "connecting", connected(one))
	until(t, "connecting", connected(two))
	until(t, "finding the store", one.TakesFiles)
	until(t, "finding the store", two.TakesFiles)
	if n := one.Limits().Files; n != 1<<20 {
		t.Errorf("files of %d bytes", n)
	}
	_, err := one.Send(t.Context(), channel.Message{
		To: channel.Target{Conversation: "two@test.local"}, Media: []channel.Media{{MIME: "text/plain", Name: "a.txt", URL: "a.txt"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	in := hear(t, got, "")
	if len(in.Media) != 1 || in.Media[0].Name != "a.txt" || !strings.HasPrefix(in.Media[0].MIME, "text/plain") {
		t.Fatalf("%+v", in)
	}
	f, err := two.Fetch(t.Context(), in.Media[0])
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := io.ReadAll(f); string(b) != content {
		t.Errorf("%d bytes came", len(b))
	}
	// TestSec: what anybody names is not fetched from this computer.
	for _, address := range []string{"http://127.0.0.1:" + p.port + "/", "http://localhost:1/x", "file:///etc/passwd"} {
		if _, err := two.Fetch(t.Context(), channel.Media{URL: address}); err == nil {
			t.Errorf("%s was fetched", address)
		}
	}
}

// TestFault_F_CH_AwayAndBack: what is written while nobody is connected comes once, in its order, also
// over a restart; what was there before the first time does not.
func TestFault_F_CH_AwayAndBack(t *testing.T) {
	p := newProsody(t, false).up()
	one := p.client("one", inRoom)
	running(t, one)
	until(t, "connecting", connected(one))
	until(t, "entering", func() bool { return one.Seated("home@rooms.test.local") })
	tell(t, one, "two@test.local", "before anybody was there")
	tell(t, one, room, "two: before anybody was there")
	kept := &durable{kept: map[string][]byte{}}
	keeps := func(a *channel.Account) { inRoom(a); a.Durable = kept }
	ctx, cancel := context.WithCancel(t.Context())
	two := p.client("two", keeps)
	got, done := during(ctx, two)
	until(t, "connecting", connected(two))
	until(t, "entering", func() bool { return two.Seated("home@rooms.test.local") })
	tell(t, one, "two@test.local", "live")
	hear(t, got, "live")
	tell(t, one, room, "live in the room")
	hear(t, got, "live in the room")
	two.Break() // it comes again by itself
	for i := range 3 {
		tell(t, one, "two@test.local", fmt.Sprint("broken ", i))
	}
	for i := range 3 {
		hear(t, got, fmt.Sprint("broken ", i))
	}
	cancel()
	<-done
	for i := range 120 {
		tell(t, one, "two@test.local", fmt.Sprint("away ", i))
	}
	for i := range 60 {
		tell(t, one, room, fmt.Sprint("away in the room ", i))
	}
	two = p.client("two", keeps)
	got, _ = running(t, two)
	var direct, group []string
	for len(direct) < 120 || len(group) < 60 {
		select {
		case in := <-got:
			if in.Chat == channel.Group {
				group = append(group, in.Text)
				if in.SenderID != "home@rooms.test.local/one" { // who had the name, nobody says afterwards
					t.Errorf("%+v", in)
				}
			} else {
				direct = append(direct, in.Text)
			}
		case <-time.After(60 * time.Second):
			t.Fatalf("only %d and %d came", len(direct), len(group))
		}
	}
	tell(t, one, "two@test.local", "last")
	hear(t, got, "last")
	for i, text := range slices.Concat(direct, group) {
		if want := fmt.Sprint("away ", i); i < 120 && text != want {
			t.Fatalf("%q, want %q", text, want)
		} else if want := fmt.Sprint("away in the room ", i-120); i >= 120 && text != want {
			t.Fatalf("%q, want %q", text, want)
		}
	}
}

// TestFault_F_CH_ServerDies: a server that dies leaves what was on its way uncertain or not sent, and
// never twice; afterwards all goes on.
func TestFault_F_CH_ServerDies(t *testing.T) {
	p := newProsody(t, false).up()
	one, two := p.client("one", inRoom), p.client("two", inRoom)
	running(t, one)
	got, _ := running(t, two)
	until(t, "connecting", connected(one))
	until(t, "connecting", connected(two))
	until(t, "entering", func() bool { return one.Seated("home@rooms.test.local") && two.Seated("home@rooms.test.local") })
	p.down()
	until(t, "noticing it", func() bool { return one.Status().State == channel.Waiting })
	if err := say(t, one, "two@test.local", "x"); err == nil || errors.Is(err, channel.ErrUncertain) || errors.Is(err, channel.ErrRefused) {
		t.Errorf("without a connection: %v", err)
	}
	p.up()
	until(t, "connecting", connected(one))
	until(t, "connecting", connected(two))
	tell(t, one, "two@test.local", "again")
	hear(t, got, "again")
	until(t, "entering", func() bool { return one.Seated("home@rooms.test.local") && two.Seated("home@rooms.test.local") })
	tell(t, one, room, "again in the room")
	hear(t, got, "again in the room")
}

// TestWithoutCounting: a server without an archive and without counting does.
func TestWithoutCounting(t *testing.T) {
	p := newProsody(t, false)
	p.without = `"smacks", "mam"`
	p.up()
	one, two := p.client("one", nil), p.client("two", nil)
	running(t, one)
	got, _ := running(t, two)
	until(t, "connecting", connected(one))
	until(t, "connecting", connected(two))
	tell(t, one, "two@test.local", "hello")
	hear(t, got, "hello")
	if err := say(t, one, "nobody@test.local", "x"); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("to nobody: %v", err)
	}
}

// TestNewRoom: a room that did not exist is open to others once we entered it.
func TestNewRoom(t *testing.T) {
	p := newProsody(t, true)
	p.locking = true
	p.up()
	one := p.client("one", inRoom)
	running(t, one)
	until(t, "entering", func() bool {
		_, err := one.Send(t.Context(), channel.Message{To: channel.Target{Conversation: room}, Text: "x"})
		return err == nil
	})
	two := p.client("two", inRoom)
	running(t, two)
	until(t, "entering", func() bool {
		_, err := two.Send(t.Context(), channel.Message{To: channel.Target{Conversation: room}, Text: "y"})
		return err == nil
	})
}

// TestSec_A_CH_Impostor: a server with somebody else's certificate gets no password, and
// neither does one that does not encrypt.
func TestSec_A_CH_Impostor(t *testing.T) {
	p := newProsody(t, true)
	p.certificateOf = "other.local"
	p.up()
	c := p.client("one", nil)
	running(t, c)
	until(t, "refusing", func() bool { return strings.Contains(c.Status().Problem, "certificate") })
	plain := newProsody(t, false).up()
	c = plain.client("one", func(a *channel.Account) { delete(a.Texts, xmpp.KeyTLS) })
	running(t, c)
	until(t, "refusing", func() bool { return c.Status().State == channel.Waiting })
}

// TestWrongPassword: nobody tries a wrong password again and again.
func TestWrongPassword(t *testing.T) {
	p := newProsody(t, true).up()
	c := p.client("one", func(a *channel.Account) { a.Secrets[xmpp.KeyPassword] = "canary" })
	_, ended := running(t, c)
	select {
	case err := <-ended:
		if !errors.Is(err, channel.ErrAuth) || strings.Contains(err.Error(), "canary") {
			t.Error(err)
		}
	case <-time.After(60 * time.Second):
		t.Fatal("it did not give up")
	}
}
