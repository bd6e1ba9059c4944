//go:build goolm

package client_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix/client"
)

// dendrite is a homeserver with the accounts ada, hearth and eve.
type dendrite struct {
	t       *testing.T
	dir     string
	bin     string
	address string
	cmd     *exec.Cmd
	tokens  map[string]string
}

// homeserver starts one where it was built (build/dendrite).
func homeserver(t *testing.T) *dendrite {
	t.Helper()
	bin := os.Getenv("HEARTH_DENDRITE")
	if bin == "" {
		bin = filepath.Join("..", "..", "..", "..", "build", "cache", "dendrite")
	}
	bin, err := filepath.Abs(bin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "dendrite")); err != nil {
		if os.Getenv("HEARTH_DENDRITE") != "" {
			t.Fatalf("there is no dendrite in %s, and HEARTH_DENDRITE is set", bin)
		}
		t.Skip("dendrite is not built; build/dendrite does it")
	}
	d := &dendrite{t: t, dir: t.TempDir(), bin: filepath.Join(bin, "dendrite"), tokens: map[string]string{}}
	run := func(name string, args ...string) []byte {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir = d.dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return out
	}
	run("generate-keys", "--private-key", "matrix_key.pem")
	conf := string(run("generate-config", "-dir", d.dir, "-server", "test.local"))
	for old, with := range map[string]string{
		"registration_disabled: true": "registration_disabled: false", "disable_federation: false": "disable_federation: true",
		"rate_limiting:\n    enabled: true": "rate_limiting:\n    enabled: false",
		"in_memory: false\n    disable_tls": "in_memory: true\n    disable_tls",
		"bcrypt_cost: 10":                   "bcrypt_cost: 4", "level: info": "level: warn",
	} {
		conf = strings.Replace(conf, old, with, 1)
	}
	if err := os.WriteFile(filepath.Join(d.dir, "conf.yaml"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.address = l.Addr().String()
	_ = l.Close()
	d.up()
	for _, name := range []string{"ada", "hearth", "eve"} {
		var got struct {
			Token string `json:"access_token"`
		}
		d.ask("", "POST", "/_matrix/client/v3/register", map[string]any{
			"username": name, "password": "secret word", "auth": map[string]string{"type": "m.login.dummy"},
		}, &got)
		d.tokens[name] = got.Token
	}
	return d
}

func (d *dendrite) url() string { return "http://" + d.address }

func (d *dendrite) up() {
	d.t.Helper()
	d.cmd = exec.Command(d.bin, "-config", "conf.yaml", "-http-bind-address", d.address, "-https-bind-address", "127.0.0.1:0",
		"-really-enable-open-registration")
	d.cmd.Dir = d.dir
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(d.down)
	until(d.t, "dendrite", func() bool {
		resp, err := http.Get(d.url() + "/_matrix/client/versions")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil && resp.StatusCode == http.StatusOK
	})
}

func (d *dendrite) down() {
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
}

// ask is a request of somebody who is no client of ours.
func (d *dendrite) ask(who, method, path string, body, into any) {
	d.t.Helper()
	b, _ := json.Marshal(body)
	req, err := http.NewRequestWithContext(d.t.Context(), method, d.url()+path, bytes.NewReader(b))
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+d.tokens[who])
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		d.t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, got)
	}
	if into != nil {
		if err := json.Unmarshal(got, into); err != nil {
			d.t.Fatal(err)
		}
	}
}

// create makes a room of somebody with others.
func (d *dendrite) create(who string, encrypted, direct bool, invite ...string) string {
	d.t.Helper()
	ask := map[string]any{"preset": "private_chat", "is_direct": direct, "invite": invite}
	if encrypted {
		ask["initial_state"] = []any{map[string]any{"type": "m.room.encryption", "state_key": "",
			"content": map[string]string{"algorithm": "m.megolm.v1.aes-sha2"}}}
	}
	if !direct {
		ask["name"] = "Home"
	}
	var got struct {
		ID string `json:"room_id"`
	}
	d.ask(who, "POST", "/_matrix/client/v3/createRoom", ask, &got)
	return got.ID
}

func (d *dendrite) client(name string, change func(*channel.Account)) *client.Client {
	d.t.Helper()
	return open(d.t, account(d.url(), func(a *channel.Account) {
		a.Texts[matrix.KeyUser] = "@" + name + ":test.local"
		if change != nil {
			change(a)
		}
	}))
}

// TestRealServer: two of ours talk to each other on a real homeserver, in an encrypted
// conversation and an encrypted room, and what they say survives restarts.
func TestRealServer(t *testing.T) {
	d := homeserver(t)
	direct := d.create("ada", true, true, "@hearth:test.local")
	kept := &durable{kept: map[string][]byte{}}
	ada := d.client("ada", nil)
	gotAda, _, _ := running(t, ada)
	until(t, "connecting", connected(ada))
	hearth := d.client("hearth", func(a *channel.Account) { a.Durable = kept })
	got, _, stop := running(t, hearth)
	until(t, "connecting", connected(hearth))
	until(t, "following the invitation", func() bool { return d.members(direct) == 2 })
	id := tell(t, ada, direct, "grüße **dich** <&>")
	in := hear(t, got, "grüße dich <&>")
	if in.Chat != channel.Direct || in.Conversation != "@ada:test.local" || in.SenderID != "@ada:test.local" || in.MessageID != id {
		t.Errorf("%+v", in)
	}
	tell(t, hearth, "@ada:test.local", "und dich")
	if in = hear(t, gotAda, "und dich"); in.Conversation != "@hearth:test.local" {
		t.Errorf("%+v", in)
	}
	both(t, ada, hearth, got, gotAda, id)
	stop()
	tell(t, ada, direct, "while it was away")
	device := hearth.Device()
	hearth = d.client("hearth", func(a *channel.Account) { a.Durable = kept })
	got, _, _ = running(t, hearth)
	hear(t, got, "while it was away")
	until(t, "connecting", connected(hearth))
	tell(t, hearth, "@ada:test.local", "back again")
	hear(t, gotAda, "back again")
	tell(t, ada, direct, "good")
	hear(t, got, "good")
	if hearth.Device() != device {
		t.Errorf("the device was %s and is %s", device, hearth.Device())
	}
	var events struct {
		Chunk []struct {
			Type string `json:"type"`
		} `json:"chunk"`
	}
	d.ask("ada", "GET", "/_matrix/client/v3/rooms/"+direct+"/messages?dir=b&limit=100", nil, &events)
	for _, e := range events.Chunk {
		if e.Type == "m.room.message" {
			t.Error("a message is open to the server")
		}
	}
}

// both do what is done with messages.
func both(t *testing.T, ada, hearth *client.Client, got, gotAda <-chan channel.Inbound, id string) {
	t.Helper()
	to := channel.Target{Conversation: "@ada:test.local"}
	if err := hearth.Typing(t.Context(), to); err != nil {
		t.Error(err)
	}
	for _, emoji := range []string{"👍", ""} {
		if err := hearth.React(t.Context(), to, id, emoji); err != nil {
			t.Error(err)
		}
		if in := hear(t, gotAda, ""); in.Reaction.MessageID != id || in.Reaction.Emoji != "👍" || in.Reaction.Removed != (emoji == "") {
			t.Errorf("%+v", in)
		}
	}
	asks := channel.Target{Conversation: "@hearth:test.local"}
	if err := ada.Edit(t.Context(), asks, id, "grüße alle"); err != nil {
		t.Error(err)
	}
	if in := hear(t, got, "grüße alle"); !in.Edited || in.MessageID != id {
		t.Errorf("%+v", in)
	}
	answer := channel.Message{To: channel.Target{Conversation: asks.Conversation, ReplyTo: id}, Text: "an answer", Key: "k"}
	r, err := ada.Send(t.Context(), answer)
	if err != nil {
		t.Fatal(err)
	}
	if in := hear(t, got, "an answer"); !strings.HasPrefix(in.ReplyToText, "grüße") {
		t.Errorf("%+v", in)
	}
	again, err := ada.Send(t.Context(), answer)
	if err != nil || again.MessageID != r.MessageID {
		t.Errorf("sent twice it is %s and %s: %v", r.MessageID, again.MessageID, err)
	}
	answer = channel.Message{To: channel.Target{Conversation: asks.Conversation, Thread: id}, Text: "apart"}
	if _, err := ada.Send(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
	if in := hear(t, got, "apart"); in.Thread != id {
		t.Errorf("%+v", in)
	}
	if err := ada.Delete(t.Context(), asks, r.MessageID); err != nil {
		t.Error(err)
	}
}

// TestFiles: a file goes encrypted into an encrypted room and comes out of it.
func TestFiles(t *testing.T) {
	d := homeserver(t)
	dir := t.TempDir()
	content := strings.Repeat("what goes\n", 1000)
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, encrypted := range []bool{true, false} {
		t.Run(fmt.Sprint("encrypted ", encrypted), func(t *testing.T) {
			room := d.create("ada", encrypted, false, "@hearth:test.local", "@eve:test.local")
			ada := d.client("ada", func(a *channel.Account) {
				a.OpenFile = func(path string) (fs.File, error) { return os.DirFS(dir).Open(path) }
			})
			hearth := d.client("hearth", nil)
			_, _, _ = running(t, ada)
			got, _, _ := running(t, hearth)
			until(t, "connecting", connected(ada))
			until(t, "connecting", connected(hearth))
			_, err := ada.Send(t.Context(), channel.Message{
				To: channel.Target{Conversation: room}, Media: []channel.Media{{MIME: "text/plain", Name: "a.txt", URL: "a.txt"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			in := hear(t, got, "")
			if in.Chat != channel.Group || in.Conversation != room || len(in.Media) != 1 || in.Media[0].Name != "a.txt" ||
				in.Media[0].MIME != "text/plain" || in.Media[0].Size != int64(len(content)) {
				t.Fatalf("%+v", in)
			}
			f, err := hearth.Fetch(t.Context(), in.Media[0])
			if err != nil {
				t.Fatal(err)
			}
			if b, _ := io.ReadAll(f); string(b) != content {
				t.Errorf("%d bytes came", len(b))
			}
		})
	}
}

// TestSec_A_CH_RestoredBackup: keys of an old backup are not used again: the account gets a new device,
// says so, and talks on.
func TestSec_A_CH_RestoredBackup(t *testing.T) {
	d := homeserver(t)
	direct := d.create("ada", true, true, "@hearth:test.local")
	kept := &durable{kept: map[string][]byte{}}
	ada := d.client("ada", nil)
	gotAda, _, _ := running(t, ada)
	until(t, "connecting", connected(ada))
	hearth := d.client("hearth", func(a *channel.Account) { a.Durable = kept })
	got, _, stop := running(t, hearth)
	until(t, "connecting", connected(hearth))
	tell(t, ada, direct, "one")
	hear(t, got, "one")
	backup := kept.copied()
	tell(t, hearth, "@ada:test.local", "two")
	hear(t, gotAda, "two")
	device := hearth.Device()
	stop()
	hearth = d.client("hearth", func(a *channel.Account) { a.Durable = backup })
	got, _, _ = running(t, hearth)
	until(t, "connecting", connected(hearth))
	if hearth.Device() == device || !strings.Contains(hearth.Status().Problem, "backup") {
		t.Errorf("the device is %s still; %+v", device, hearth.Status())
	}
	until(t, "ada's answer", func() bool { // after she has learnt of the device
		tell(t, ada, direct, "three")
		select {
		case in := <-got:
			return in.Text == "three"
		default:
			return false
		}
	})
	tell(t, hearth, "@ada:test.local", "four")
	hear(t, gotAda, "four")
}
