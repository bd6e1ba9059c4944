//go:build linux

package gateway_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// told is what status and /readyz say of the store.
func told(r *gatewaytest.Rig, p *gatewaytest.Peer) (status, ready string) {
	r.T.Helper()
	var s protocol.Status
	p.Do(protocol.MethodStatus, nil, &s)
	for _, q := range s.Hearth.Problems {
		if q.Code == "STORE" {
			status += q.Message
		}
	}
	res, err := http.Get(r.Gateway.URL() + "/readyz")
	if err != nil {
		r.T.Fatal(err)
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(res.Body)
	return status, string(raw)
}

// TestFault_F_DISK_07_08_FolderGoesAwayIsTold: Hearth's folder is moved while it
// runs. New messages are refused with words, what was said can be read, status
// and /readyz tell it; back in its place all goes on without a restart.
func TestFault_F_DISK_07_08_FolderGoesAwayIsTold(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Say("main", "one", "remember the bread")
	aside := string(r.Dir) + "-aside"
	if err := os.Rename(string(r.Dir), aside); err != nil {
		t.Fatal(err)
	}
	err := p.Call(t.Context(), protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: "main", Message: "and the milk",
		IdempotencyKey: "two"}, nil)
	if err == nil || !strings.Contains(err.Error(), "moved or deleted") {
		t.Errorf("a message was answered with: %v", err)
	}
	if err := os.Mkdir(string(r.Dir), 0o700); err == nil { // somebody makes an empty one in its place
		if err := p.Call(t.Context(), protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: "main", Message: "and the milk",
			IdempotencyKey: "two"}, nil); err == nil {
			t.Error("accepted into a folder that nobody will look into")
		}
		_ = os.RemoveAll(string(r.Dir))
	}
	var h protocol.ChatHistory
	p.Do(protocol.MethodChatHistory, protocol.ChatHistoryParams{SessionKey: "main"}, &h)
	if len(h.Messages) < 2 {
		t.Errorf("%d messages can be read", len(h.Messages))
	}
	if status, ready := told(r, p); !strings.Contains(status, "Put it back") || !strings.Contains(ready, "store") {
		t.Errorf("away: status %q, readyz %s", status, ready)
	}
	if err := os.Rename(aside, string(r.Dir)); err != nil {
		t.Fatal(err)
	}
	if status, ready := told(r, p); status != "" || !strings.Contains(ready, "true") {
		t.Errorf("back: status %q, readyz %s", status, ready)
	}
	p.Say("main", "two", "and the milk")
	r.Restart()
	r.Connect().Do(protocol.MethodChatHistory, protocol.ChatHistoryParams{SessionKey: "main"}, &h)
	if n := strings.Count(wordsOf(h), "and the milk"); n != 2 { // said, and echoed
		t.Errorf("the message that was refused twice and taken once stands %d times in: %s", n, wordsOf(h))
	}
}

func wordsOf(h protocol.ChatHistory) (all string) {
	for _, m := range h.Messages {
		all += m.Text() + "\n"
	}
	return all
}

// TestFault_F_DISK_04_NoDescriptorsLeft: no further file can be opened. What is
// open goes on, messages are answered or fail in words, nothing ends, and with
// descriptors again it is as before.
func TestFault_F_DISK_04_NoDescriptorsLeft(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Say("main", "one", "remember the bread")
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	back := func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
			t.Fatal(err)
		}
	}
	defer back()
	if _, err := os.Open("/dev/null"); err == nil {
		t.Fatal("there are descriptors left")
	}
	var sent protocol.ChatSendResult
	err := p.Call(t.Context(), protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: "main", Message: "and the milk",
		IdempotencyKey: "two"}, &sent)
	if err == nil {
		ev := p.Until("end of the answer", func(ev protocol.Event) bool { return endOf(ev, sent.RunID) })
		if s := string(ev.Payload); strings.Contains(s, "errorMessage") && !strings.Contains(s, " ") {
			t.Errorf("it ended without words: %s", s)
		}
	}
	var h protocol.ChatHistory
	p.Do(protocol.MethodChatHistory, protocol.ChatHistoryParams{SessionKey: "main"}, &h)
	if len(h.Messages) < 2 {
		t.Errorf("%d messages can be read", len(h.Messages))
	}
	back()
	p.Say("main", "three", "and the honey")
	if status, ready := told(r, p); status != "" || !strings.Contains(ready, "true") {
		t.Errorf("with descriptors again: status %q, readyz %s", status, ready)
	}
}

func endOf(ev protocol.Event, runID string) bool {
	c, ok := gatewaytest.ChatOf(ev)
	return ok && c.RunID == runID && c.State != protocol.ChatDelta && c.State != protocol.ChatStatus
}
