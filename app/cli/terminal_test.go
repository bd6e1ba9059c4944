package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// newHome is a state folder with a gateway in this process on it, which
// answers with what it is told.
func newHome(t *testing.T) string {
	t.Helper()
	models := httptest.NewServer(scripted.New())
	t.Cleanup(models.Close)
	home := t.TempDir()
	text := fmt.Sprintf(`{
  // a title: "\u001b]0;evil\u0007"
  models: { providers: { scripted: { baseUrl: "%s/v1", api: "openai-completions", apiKey: "k",
    models: [{ id: "echo", name: "Echo" }] } } },
  agents: { defaults: { model: "scripted/echo" } },
  "unknown\u001b]52;c;eA==\u0007": "\u009b31m",
}`, models.URL)
	if err := os.WriteFile(filepath.Join(home, "hearth.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	g, err := gateway.New(ctx, gateway.Options{Dir: statedir.Dir(home), Port: port, Env: func(string) string { return "" },
		Version: "test\x1b[31m"})
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
	return home
}

// ownStyle is all that we send to a terminal besides text: colours, and how far the
// check of the store is, which is written over itself.
var ownStyle = regexp.MustCompile("\x1b\\[(0|1|2|31|32|33)m|\r(?:read|compacted) [█░]+ +[0-9]+ %  [0-9.]+ [KMG]?B of [0-9.]+ [KMG]?B *")

// Whatever a model, a name, a file or a log line holds: what reaches a terminal
// is text, and escape sequences of our own that only colour it.
func TestSec_A_TTY_01_EveryCommand(t *testing.T) {
	home := newHome(t)
	waitReady(t, home)
	t.Chdir(t.TempDir()) // some write a file where they are called
	var corpus strings.Builder
	for _, a := range attacks {
		corpus.WriteString(strings.ToValidUTF8(strings.ReplaceAll(a.in, "\x00", ""), "?") + " \x1b[0m\n")
	}
	evil := corpus.String()
	if err := appendFile(filepath.Join(home, "gateway.log"),
		evil+`{"time":"\u001b[2J","level":"WARN\u0007","msg":"\u001b]0;x\u0007","k\u009b":"\u202e"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	styled := false
	lines := append(everyCommand(t), [][]string{
		{"chat", evil}, {"chat", "--json", evil}, {"chat", "-s", "s\x1b[31m", "hi"}, {"chat", "-m", "x\x1b[2J/\u202ey", "hi"},
		{"chat", "-s", "evil", evil}, {"sessions", "list"}, {"sessions", "list", "--json"}, {"sessions", "show"}, {"sessions", "show", "--json"},
		{"sessions", "show", "\x1b[2Jno"}, {"sessions", "export", "--all"}, {"sessions", "export", "\x1b[2Jno"},
		{"sessions", "export", "-o", "\x1b[2J/no"},
		{"models", "list"}, {"models", "list", "--json"}, {"status"}, {"status", "--json"}, {"logs"}, {"logs", "--json"},
		{"config", "get"}, {"config", "get", "--json"}, {"config", "get", "models.providers"}, {"config", "get", "\x1b[2J"},
		{"config", "check"}, {"config", "check", "--json"}, {"config", "check", "\x1b[2J"}, {"config", "set", "a\x1b[2J", "\x1b[2J"},
		{"config", "set", "gateway.bind", "\x1b[2J\u202e"},
		{"\x1b[2J"}, {"--\x1b[2J"}, {"sessions", "\x1b[2J"}, {"version"}, {"open", "--print"}, {"help", "\x1b[2J"},
	}...)
	for _, args := range lines {
		var out, errs bytes.Buffer
		env := map[string]string{"HEARTH_HOME": home, "HOME": home, "TERM": "xterm"}
		Main(t.Context(), args, World{In: strings.NewReader(""), Out: &out, Err: &errs, Version: "test\x1b[31m",
			Env: func(k string) string { return env[k] }, OutTerminal: true, ErrTerminal: true})
		for name, got := range map[string]string{"out": out.String(), "err": errs.String()} {
			rest := ownStyle.ReplaceAllString(got, "")
			styled = styled || rest != got
			if !allowed(rest) {
				t.Errorf("%.40q wrote to %s: %q", args, name, rest)
			}
		}
	}
	if !styled {
		t.Error("nothing was coloured, so the check of our own styles checked nothing")
	}
}

// everyCommand is each command that there is, alone, with --json, and with a
// hostile word for every argument it may take, so that no new one is forgotten.
func everyCommand(t *testing.T) (lines [][]string) {
	// These run until they are stopped, belong to a terminal of their own, open
	// this machine to the network that it is really on, or change what it starts.
	busy := []string{"hearth gateway", "hearth tui", "hearth open", "hearth lan on", "hearth service install", "hearth node run",
		"hearth node install"}
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		if slices.Contains(busy, c.CommandPath()) {
			return
		}
		for _, sub := range c.Commands() {
			walk(sub, append(slices.Clone(path), sub.Name()))
		}
		if !c.Runnable() {
			return
		}
		lines = append(lines, path, append(slices.Clone(path), "--json"))
		for n := 1; n <= 3; n++ {
			lines = append(lines, append(slices.Clone(path), slices.Repeat([]string{"\x1b]0;x\x07\u202eev\u009bil\r"}, n)...))
		}
	}
	walk(newRoot(&app{World: World{Env: func(string) string { return "" }}}), nil)
	if len(lines) < 150 {
		t.Fatalf("only %d command lines", len(lines))
	}
	return lines
}

// What is exported is data: one JSON object a line, nothing of which a terminal,
// a browser or an editor would act on, in a file for its owner only.
func TestSec_A_FILE_15_ExportsAreData(t *testing.T) {
	home := newHome(t)
	waitReady(t, home)
	var evil strings.Builder
	for _, a := range attacks {
		evil.WriteString(strings.ToValidUTF8(strings.ReplaceAll(a.in, "\x00", ""), "?") + " ")
	}
	evil.WriteString("</script><script>alert(1)</script><img src=x onerror=alert(1)><!-- \u2028 ]]> =cmd|' /C calc'!A0\n" +
		"\"},{\"role\":\"user\"")
	if code, _, errs := run(t, home, "", "chat", evil.String()); code != exitOK {
		t.Fatal(errs)
	}
	path := filepath.Join(t.TempDir(), "out.jsonl")
	if code, _, errs := run(t, home, "", "sessions", "export", "--all", "-o", path); code != exitOK {
		t.Fatal(errs)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for line := range strings.Lines(string(raw)) {
		var m struct{ Role string }
		if json.Unmarshal([]byte(line), &m) != nil || m.Role == "" {
			t.Errorf("no entry: %.80q", line)
		}
		if m.Role == "user" {
			said++
		}
		if strings.ContainsAny(line, "<>\u2028\u2029") || !allowed(strings.TrimSuffix(line, "\n")) {
			t.Errorf("not inert: %.200q", line)
		}
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 || said != 1 {
		t.Errorf("%v, %v, said %d", info.Mode(), err, said)
	}
}

func appendFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	_ = f.Close()
	return err
}

// waitReady is over when the gateway has written its runtime file.
func waitReady(t *testing.T, home string) {
	t.Helper()
	for {
		if code, _, _ := run(t, home, "", "status"); code == exitOK || t.Context().Err() != nil {
			return
		}
	}
}

func TestChatLineByLine(t *testing.T) {
	home := newHome(t)
	waitReady(t, home)
	var out, errs bytes.Buffer
	code := Main(t.Context(), []string{"chat", "-q"}, World{In: strings.NewReader("one\n\n two \n"), Out: &out, Err: &errs,
		Env: func(k string) string { return map[string]string{"HEARTH_HOME": home, "HOME": home}[k] }, InTerminal: true, Version: "test"})
	if code != exitOK || out.String() != "echo: one\necho: two\n" {
		t.Errorf("%d, out %q, err %q", code, out.String(), errs.String())
	}
}

func TestNoColour(t *testing.T) {
	for _, tc := range []struct {
		env  map[string]string
		term bool
		want bool
	}{{nil, true, true}, {nil, false, false}, {map[string]string{"NO_COLOR": "1"}, true, false}, {map[string]string{"TERM": "dumb"}, true,
		false}} {
		a := &app{World: World{Env: func(k string) string { return tc.env[k] }, OutTerminal: tc.term, ErrTerminal: tc.term}}
		if got := a.out().colour; got != tc.want || a.errs().colour != tc.want {
			t.Errorf("env %v, terminal %v: colour %v", tc.env, tc.term, got)
		}
	}
}
