package cli

import (
	"bytes"
	"context"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/app/autostart"
	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/internal/freeport"
)

// newComputer is a gateway that nobody has used, beside an Ollama server.
func newComputer(t *testing.T, ollama bool) string {
	t.Helper()
	models := httptest.NewServer(scripted.New())
	t.Cleanup(models.Close)
	home := t.TempDir()
	env := map[string]string{"HOME": t.TempDir(), "OLLAMA_HOST": "http://127.0.0.1:9"}
	if ollama {
		env["OLLAMA_HOST"] = models.URL
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	g, err := gateway.New(ctx, gateway.Options{Dir: statedir.Dir(home), Port: freePort(t), Env: func(k string) string { return env[k] },
		Version: "test"})
	if err != nil {
		stop()
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("gateway: %v", err)
		}
	})
	waitReady(t, home)
	return home
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// A person at a terminal types as little as this.
func TestSetupAtATerminal(t *testing.T) {
	for name, c := range map[string]struct {
		ollama bool
		typed  string
		says   []string
		again  string // what `hearth setup` says afterwards
	}{
		"what is here": {ollama: true, typed: "\nEmber\ndry\nn\nn\n", says: []string{"1  echo, already on this computer (Ollama)",
			"✓ ollama/echo  Answered in", "What should it be called?", "phone", "Telegram", "That's all"}, again: "leave     done"},
		"a wrong number": {ollama: true, typed: "99\n1\n\n\n\n", says: []string{"Type a number from 1 to", "✓ ollama/echo"},
			again: "name      skipped"},
		"nothing here": {typed: "\n\n\n\n", says: []string{"look around first", "install Ollama"}, again: "model     skipped"},
	} {
		t.Run(name, func(t *testing.T) {
			home := newComputer(t, c.ollama)
			run := func(in string, terminal bool) string {
				var out bytes.Buffer
				code := Main(t.Context(), []string{"setup"}, World{In: strings.NewReader(in), Out: &out, Err: &out, InTerminal: terminal,
					Version: "test",
					Env:     func(k string) string { return map[string]string{"HEARTH_HOME": home, "HOME": home}[k] }})
				if code != 0 {
					t.Fatalf("exit %d: %s", code, out.String())
				}
				return out.String()
			}
			said := run(c.typed, true)
			for _, want := range c.says {
				if !strings.Contains(said, want) {
					t.Errorf("it does not say %q:\n%s", want, said)
				}
			}
			if said := run("", false); !strings.Contains(said, c.again) {
				t.Errorf("afterwards it does not say %q:\n%s", c.again, said)
			}
		})
	}
}

func TestAtLogin(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("an entry of another system's would be changed for real")
	}
	l := atLogin{autostart.Entry{Exe: "/opt/hearth/hearth-tray", Home: t.TempDir()}}
	for _, on := range []bool{false, true, true, false} {
		if err := l.Set(on); err != nil || l.On() != on {
			t.Errorf("%v: %v, %v", on, l.On(), err)
		}
	}
}
