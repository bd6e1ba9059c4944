//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// dictation is a model server whose answer goes on while nobody listens: the end
// of it is sent when the gateway is held, and lies in its buffers.
func dictation(t *testing.T) (url string, begun, held chan struct{}) {
	begun, held = make(chan struct{}), make(chan struct{})
	sent := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(s string) {
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", s)
			_ = http.NewResponseController(w).Flush()
		}
		say("Before I was held")
		close(begun)
		select {
		case <-held:
		case <-r.Context().Done():
			return
		}
		say(", and after.")
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		close(sent)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, begun, held
}

// The real program is held in the middle of an answer for far longer than a model
// may be silent. What came meanwhile is read, and the turn ends whole.
func TestFault_F_CLK_03_HeldInTheMiddleOfAnAnswer(t *testing.T) {
	const limit = 1 // seconds of silence
	url, begun, held := dictation(t)
	h := newHouse(t, "chat/echo")
	raw := fmt.Sprintf(`{models: {providers: {dictation: {baseUrl: %q, api: "openai-completions", apiKey: "sk-test", timeoutSeconds: %d, models: [{id: "slow"}]}}},
		agents: {defaults: {model: "dictation/slow", timeoutSeconds: 3}}, features: {titles: false}}`, url+"/v1", limit)
	if err := os.WriteFile(filepath.Join(h.home, "hearth.json"), []byte(raw), 0o600); err != nil {
		t.Fatal(err)
	}
	gw := h.gateway()
	chat := h.hearth("chat", "Go on.")
	var out bytes.Buffer
	chat.Stdout, chat.Stderr = &out, t.Output()
	if err := chat.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-begun:
	case <-time.After(time.Minute):
		t.Fatal("the model is not asked")
	}
	hold(t, gw.Process.Pid)
	close(held)
	<-time.After(5 * limit * time.Second) // also longer than the turn may take
	if err := gw.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := chat.Wait(); err != nil || !strings.Contains(out.String(), "Before I was held, and after.") {
		t.Errorf("%v: %s", err, out.String())
	}
	h.kill(gw)
}

// hold stops a process and waits until it stands.
func hold(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		f, err := os.Open(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return // no such list here: it is held soon enough
		}
		line, _ := bufio.NewReader(f).ReadString('\n')
		_ = f.Close()
		if fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:]); len(fields) > 0 && fields[0] == "T" {
			return
		}
		<-time.After(time.Millisecond)
	}
	t.Fatal("it goes on")
}
