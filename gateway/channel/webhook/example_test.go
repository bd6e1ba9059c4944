package webhook

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// The program of the documentation, which has nothing of ours in it, understands us
// and is understood.
func TestProgramOfTheDocumentation(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no Python here")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	a := channel.Account{ID: "default", Secrets: map[string]string{keySecret: testKey}, Now: time.Now,
		Texts: map[string]string{keyAddress: fmt.Sprintf("http://127.0.0.1:%d/", port)}}
	ch, err := open(a)
	if err != nil {
		t.Fatal(err)
	}
	c := ch.(*Endpoint)
	path, h, _ := c.Webhook()
	mux := http.NewServeMux()
	mux.Handle(path, h)
	gateway := httptest.NewServer(mux)
	t.Cleanup(gateway.Close)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	got := make(chan channel.Inbound, 1)
	go func() {
		ended <- c.Run(ctx, func(_ context.Context, in channel.Inbound) error { got <- in; return nil })
	}()
	t.Cleanup(func() { stop(); <-ended })

	script := filepath.Join("..", "..", "..", "docs", "examples", "channel-webhook", "console.py")
	cmd := exec.CommandContext(ctx, python, script, testKey, gateway.URL+path, fmt.Sprint(port))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := fmt.Fprintln(in, "hello from the console"); err != nil {
		t.Fatal(err)
	}
	select {
	case m := <-got:
		if m.Text != "hello from the console" || m.SenderID != "console" || m.MessageID == "" {
			t.Errorf("%+v", m)
		}
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
	}
	r, err := c.Send(t.Context(), channel.Message{To: channel.Target{Conversation: "console"}, Text: "hello from Hearth", Key: "run:1"})
	if err != nil || r.MessageID != "run:1" {
		t.Fatal(r, err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "hello from Hearth\n" {
		t.Errorf("%q %v", line, err)
	}
}
