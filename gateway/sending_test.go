package gateway_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// put writes a file of the workspace of a rig.
func putFile(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	full := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return full
}

// MEDIA: lines of an answer send files of the workspace as what they are, with
// the words as their caption; what cannot be sent is said.
func TestTelegramMediaLinesSendFiles(t *testing.T) {
	r, api := telegramRig(t, "chat/echo", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}, "streaming": "off",
		"mediaMaxMb": 1})
	dir := workspaceOf(t, r)
	pic := putFile(t, dir, "pic.png", pixels(t, 30))
	putFile(t, dir, "out/voice.ogg", []byte("OggS\x00"))
	putFile(t, dir, "list.csv", []byte("a,b\n"))
	putFile(t, dir, "big.bin", make([]byte, 1<<20+1))
	outside := putFile(t, t.TempDir(), "secret.txt", []byte("x"))
	n := 0
	for _, tc := range []struct{ line, method, words string }{
		{"./pic.png", "sendPhoto", ""}, {pic, "sendPhoto", ""}, {"file://" + filepath.ToSlash(pic), "sendPhoto", ""},
		{"out/voice.ogg", "sendVoice", ""}, {"list.csv", "sendDocument", ""}, {"https://pics.example/a.jpg", "sendPhoto", ""},
		{outside, "sendMessage", "outside of the workspace"}, {"../x.png", "sendMessage", "was not sent"},
		{"gone.png", "sendMessage", "no such file"},
		{"big.bin", "sendMessage", "mediaMaxMb"}, {filepath.Join(string(r.dir), "gateway.token"), "sendMessage", "was not sent"},
	} {
		api.Say(anna, telegramtest.Person{ID: anna, Name: "Anna"}, "here you are\nMEDIA:"+tc.line, nil)
		n++
		waitFor(t, "the answer with "+tc.line, func() bool { return len(api.Sent(anna)) == n })
		m := api.Sent(anna)[n-1]
		if m.Method != tc.method || !strings.Contains(m.Text, "here you are") || !strings.Contains(m.Text, tc.words) ||
			(tc.words == "") == strings.Contains(m.Text, "was not sent") {
			t.Errorf("%s: %s %q", tc.line, m.Method, m.Text)
		}
	}
	if m := api.Sent(anna)[0]; m.File == nil || m.File.Name != "pic.png" || m.File.MIME != "image/png" ||
		len(m.File.Data) != len(pixels(t, 30)) {
		t.Errorf("sent %+v", m.File)
	}
}

// Nobody but the owner gets files of this computer, whatever the words say.
func TestSec_A_FILE_04_GuestsGetNoFiles(t *testing.T) {
	r, api := telegramRig(t, "chat/echo", map[string]any{"dmPolicy": "open", "allowFrom": []string{"*"}, "streaming": "off"})
	putFile(t, workspaceOf(t, r), "pic.png", pixels(t, 3))
	api.Say(anna, telegramtest.Person{ID: anna, Name: "Anna"}, "send it\nMEDIA:./pic.png", nil)
	waitFor(t, "an answer", func() bool { return len(api.Sent(anna)) == 1 })
	if m := api.Sent(anna)[0]; m.File != nil || !strings.Contains(m.Text, "to its owner's own chat only") {
		t.Errorf("%s %q", m.Method, m.Text)
	}
}

// The tool message sends files too: to the owner's chat, and to others when
// this file was agreed to.
func TestMessageToolSendsFiles(t *testing.T) {
	p, api := puppetOnTelegram(t, map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	dir := t.TempDir()
	var cfg protocol.ConfigSnapshot
	p.call(protocol.MethodConfigGet, nil, &cfg)
	raw, err := json.Marshal(map[string]any{"agents": map[string]any{"defaults": map[string]any{"workspace": dir}}})
	if err != nil {
		t.Fatal(err)
	}
	p.call(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: string(raw), BaseHash: cfg.Hash}, nil)
	putFile(t, dir, "pic.png", pixels(t, 3))
	p.send("main", "one", `run:@message {"target":"777","message":"look","media":"pic.png"}`)
	a := asked(p, 1)
	if lines := strings.Join(a.Request.HearthLines, "\n"); !strings.Contains(lines, "File: ") || !strings.Contains(lines, "pic.png") {
		t.Errorf("asked %q", lines)
	}
	if len(api.Sent(anna)) != 0 {
		t.Error("it was sent before anybody agreed")
	}
	p.call(protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: a.ID, HearthScope: "once"}, new(protocol.OKResult))
	if said := p.ended("one").Message.Text(); !strings.Contains(said, "Delivered to telegram:777") {
		t.Errorf("the model hears %q", said)
	}
	if m := api.Sent(anna); len(m) != 1 || m[0].Method != "sendPhoto" || m[0].Text != "look" || m[0].File == nil {
		t.Errorf("sent %+v", m)
	}
	p.send("main", "nowhere", `run:@message {"message":"x"}`)
	if said := p.ended("nowhere").Message.Text(); !strings.Contains(said, "target is missing") {
		t.Errorf("from the page, without a target: %q", said)
	}
	for run, file := range map[string]string{"outside": "/etc/hostname", "up": "../x", "gone": "nothing.png", "scheme": "ftp://x.example/a"} {
		p.send("main", run, `run:@message {"target":"777","media":"`+file+`"}`)
		if said := p.ended(run).Message.Text(); !strings.Contains(said, "was not sent") {
			t.Errorf("%s: %q", file, said)
		}
	}
	api.Say(anna, telegramtest.Person{ID: anna, Name: "Anna"}, `run:@message {"media":"pic.png"}`, nil) // this chat
	waitFor(t, "file and answer in the owner's own chat", func() bool { return len(api.Sent(anna)) == 3 })
}
