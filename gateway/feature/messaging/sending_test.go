package messaging_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// MEDIA: lines of an answer send files of the workspace as what they are, with
// the words as their caption; what cannot be sent is said.
func TestTelegramMediaLinesSendFiles(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"},
		"streaming":  "off",
		"mediaMaxMb": 1})
	dir := workspaceOf(t, r)
	pic := gatewaytest.PutFile(t, dir, "pic.png", gatewaytest.Pixels(t, 30))
	gatewaytest.PutFile(t, dir, "out/voice.ogg", []byte("OggS\x00"))
	gatewaytest.PutFile(t, dir, "list.csv", []byte("a,b\n"))
	gatewaytest.PutFile(t, dir, "big.bin", make([]byte, 1<<20+1))
	outside := gatewaytest.PutFile(t, t.TempDir(), "secret.txt", []byte("x"))
	n := 0
	for _, tc := range []struct{ line, method, words string }{
		{"./pic.png", "sendPhoto", ""}, {pic, "sendPhoto", ""}, {"file://" + filepath.ToSlash(pic), "sendPhoto", ""},
		{"out/voice.ogg", "sendVoice", ""}, {"list.csv", "sendDocument", ""}, {"https://pics.example/a.jpg", "sendPhoto", ""},
		{outside, "sendMessage", "outside of the workspace"}, {"../x.png", "sendMessage", "was not sent"},
		{"gone.png", "sendMessage", "no such file"},
		{"big.bin", "sendMessage", "mediaMaxMb"}, {filepath.Join(string(r.Dir), "gateway.token"), "sendMessage", "was not sent"},
	} {
		api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "here you are\nMEDIA:"+tc.line, nil)
		n++
		gatewaytest.WaitFor(t, "the answer with "+tc.line, func() bool { return len(api.Sent(gatewaytest.Anna)) == n })
		m := api.Sent(gatewaytest.Anna)[n-1]
		if m.Method != tc.method || !strings.Contains(m.Text, "here you are") || !strings.Contains(m.Text, tc.words) ||
			(tc.words == "") == strings.Contains(m.Text, "was not sent") {
			t.Errorf("%s: %s %q", tc.line, m.Method, m.Text)
		}
	}
	if m := api.Sent(gatewaytest.Anna)[0]; m.File == nil || m.File.Name != "pic.png" || m.File.MIME != "image/png" ||
		len(m.File.Data) != len(gatewaytest.Pixels(t, 30)) {
		t.Errorf("sent %+v", m.File)
	}
}

// Nobody but the owner gets files of this computer, whatever the words say.
func TestSec_A_FILE_04_GuestsGetNoFiles(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"dmPolicy": "open", "allowFrom": []string{"*"}, "streaming": "off"})
	gatewaytest.PutFile(t, workspaceOf(t, r), "pic.png", gatewaytest.Pixels(t, 3))
	api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "send it\nMEDIA:./pic.png", nil)
	gatewaytest.WaitFor(t, "an answer", func() bool { return len(api.Sent(gatewaytest.Anna)) == 1 })
	if m := api.Sent(gatewaytest.Anna)[0]; m.File != nil || !strings.Contains(m.Text, "to its owner's own chat only") {
		t.Errorf("%s %q", m.Method, m.Text)
	}
}

// The tool message sends files too: to the owner's chat, and to others when
// this file was agreed to.
func TestMessageToolSendsFiles(t *testing.T) {
	p, api := gatewaytest.NewPuppetOnTelegram(t, map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	dir := t.TempDir()
	var cfg protocol.ConfigSnapshot
	p.Do(protocol.MethodConfigGet, nil, &cfg)
	raw, err := json.Marshal(map[string]any{"agents": map[string]any{"defaults": map[string]any{"workspace": dir}}})
	if err != nil {
		t.Fatal(err)
	}
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: string(raw), BaseHash: cfg.Hash}, nil)
	gatewaytest.PutFile(t, dir, "pic.png", gatewaytest.Pixels(t, 3))
	p.Send("main", "one", `run:@message {"target":"777","message":"look","media":"pic.png"}`)
	a := gatewaytest.Question(p, 1)
	if lines := strings.Join(a.Request.HearthLines, "\n"); !strings.Contains(lines, "File: ") || !strings.Contains(lines, "pic.png") {
		t.Errorf("asked %q", lines)
	}
	if len(api.Sent(gatewaytest.Anna)) != 0 {
		t.Error("it was sent before anybody agreed")
	}
	p.Do(protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: a.ID, HearthScope: "once"}, new(protocol.OKResult))
	if said := p.Ended("one").Message.Text(); !strings.Contains(said, "Delivered to telegram:777") {
		t.Errorf("the model hears %q", said)
	}
	if m := api.Sent(gatewaytest.Anna); len(m) != 1 || m[0].Method != "sendPhoto" || m[0].Text != "look" || m[0].File == nil {
		t.Errorf("sent %+v", m)
	}
	p.Send("main", "nowhere", `run:@message {"message":"x"}`)
	if said := p.Ended("nowhere").Message.Text(); !strings.Contains(said, "target is missing") {
		t.Errorf("from the page, without a target: %q", said)
	}
	for run, file := range map[string]string{"outside": "/etc/hostname", "up": "../x", "gone": "nothing.png", "scheme": "ftp://x.example/a"} {
		p.Send("main", run, `run:@message {"target":"777","media":"`+file+`"}`)
		if said := p.Ended(run).Message.Text(); !strings.Contains(said, "was not sent") {
			t.Errorf("%s: %q", file, said)
		}
	}
	api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, `run:@message {"media":"pic.png"}`, nil) // this chat
	gatewaytest.WaitFor(t, "file and answer in the owner's own chat", func() bool { return len(api.Sent(gatewaytest.Anna)) == 3 })
}
