//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/netlab"
)

// playModel ADDRESS FILE: a model that counts until there is a file.
func playModel(ctx context.Context, args []string) error {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", args[0])
	if err != nil {
		return err
	}
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			http.NotFound(w, r)
			return
		}
		fmt.Println("asked")
		w.Header().Set("Content-Type", "text/event-stream")
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for n := 1; ; n++ {
			word, end := fmt.Sprintf("w%d ", n), "null"
			if _, err := os.Stat(args[1]); err == nil {
				word, end = "done", `"stop"`
			}
			_, _ = fmt.Fprintf(w, `data: {"id":"1","object":"chat.completion.chunk","model":"count","choices":[{"index":0,"delta":{"role":"assistant","content":%q},"finish_reason":%s}]}`+"\n\n", word, end)
			_ = http.NewResponseController(w).Flush()
			if end != "null" {
				_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
				return
			}
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
			}
		}
	})}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	fmt.Println("ready")
	_ = s.Serve(ln)
	return nil
}

// The gateway's address changes while an answer streams to one machine and
// another one works for it: both find it again, the answer arrives whole and
// once, and the call ends with what is known of it and is not made again.
func TestLabAddressChangesMidCall(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	home := newMachine(t, l, "h1", "10.77.0.1/24", "")
	laptop := newMachine(t, l, "h2", "10.77.0.2/24", "")
	attic := newMachine(t, l, "h3", "10.77.0.3/24", "")
	goOn, ran := filepath.Join(t.TempDir(), "go-on"), filepath.Join(attic.home+"-node", "ran") // it may write there
	model := home.play("model", "127.0.0.1:8001", goOn)
	if err := writeSettings(home.home, "http://127.0.0.1:8001", "count"); err != nil {
		t.Fatal(err)
	}
	gw := home.gateway()
	home.hearth("lan", "on")
	laptop.hearth("connect", strings.TrimSpace(home.hearth("qr", "--code")), "--name", "home")
	node := attic.Start(attic.env(), attic.exe, "node", "run", "--name", "attic", strings.TrimSpace(home.hearth("qr", "--node", "--code")))
	l.Until(netlab.Patience, "the node asks", func() bool { return strings.Contains(home.hearth("nodes"), "asks") })
	home.hearth("nodes", "approve", "attic")

	answer := laptop.Person().Start(laptop.env(), laptop.exe, "--gateway", "home", "chat", "--json", "count for me")
	l.Until(netlab.Patience, "the answer streams", func() bool { return strings.Contains(answer.Output(), "w3") })
	const params = `{"command":["/bin/sh","-c","echo ran >>ran; exec sleep 1000"]}`
	call := home.Person().Start(home.env(), home.exe, "nodes", "invoke", "attic", "system.run", "--timeout", "10m", "--params", params)
	home.approve(l)
	l.Until(netlab.Patience, "the command runs", func() bool { b, err := os.ReadFile(ran); return err == nil && len(b) > 0 })

	began := time.Now()
	home.IP("addr", "del", "10.77.0.1/24", "dev", "eth0")
	home.IP("addr", "add", "10.77.0.77/24", "dev", "eth0")
	l.Until(netlab.Patience, "the call ends", func() bool { return !call.Lives() })
	t.Logf("the call ended %s after the change", time.Since(began).Round(time.Millisecond))
	if out := call.Output(); !strings.Contains(out, "may have been done") {
		t.Errorf("what is said of the call: %s", out)
	}
	l.Until(2*netlab.Patience, "the node is back", func() bool {
		out, err := home.try("nodes", "invoke", "attic", "system.which", "--params", `{"bins":["sh"]}`)
		return err == nil && strings.Contains(out, `/sh"`)
	})
	t.Logf("the node was back %s after the change", time.Since(began).Round(time.Millisecond))
	if b, err := os.ReadFile(ran); err != nil || string(b) != "ran\n" {
		t.Errorf("the command ran %q %v", b, err)
	}

	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.Until(2*netlab.Patience, "the answer ends", func() bool { return !answer.Lives() })
	t.Logf("the answer had ended %s after the change", time.Since(began).Round(time.Millisecond))
	counted(t, answer.Output())
	if n := strings.Count(model.Output(), "asked"); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	gw.Stop()
	if all := gw.Output() + node.Output() + answer.Output() + call.Output(); strings.Contains(all, "DATA RACE") {
		t.Error(all)
	}
}

// approve says yes to the one request that comes.
func (m *machine) approve(l *netlab.Lab) {
	m.t.Helper()
	l.Until(netlab.Patience, "the owner is asked", func() bool {
		var all []protocol.Approval
		out, err := m.try("approvals", "--json")
		if err != nil || json.Unmarshal([]byte(out), &all) != nil || len(all) != 1 {
			return false
		}
		m.hearth("approvals", "approve", all[0].ID)
		return true
	})
}

// counted checks the lines of `chat --json`: each word is there, and once.
func counted(t *testing.T, lines string) {
	t.Helper()
	var shown, whole string
	for line := range strings.Lines(lines) {
		var m struct {
			Type, Text, State string
			Anew              bool
		}
		switch {
		case json.Unmarshal([]byte(line), &m) != nil:
			t.Errorf("not a line of JSON: %s", line)
		case m.Type == "delta" && m.Anew:
			shown = m.Text
		case m.Type == "delta":
			shown += m.Text
		case m.Type == "result" && m.State == "final":
			whole = m.Text
		}
	}
	want := ""
	for n := 1; strings.Contains(whole, fmt.Sprintf("w%d ", n)); n++ {
		want += fmt.Sprintf("w%d ", n)
	}
	if want += "done"; want == "done" || whole != want || shown != want {
		t.Errorf("words are missing or doubled:\nshown %s\nwhole %s", shown, whole)
	}
}
