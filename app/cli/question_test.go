package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stopsAt is a terminal at which Ctrl-C is pressed as soon as a question stands there.
type stopsAt struct {
	said     bytes.Buffer // not embedded, or its WriteString would pass by Write
	question string
	stop     func()
}

func (w *stopsAt) Write(p []byte) (int, error) {
	n, err := w.said.Write(p)
	if strings.Contains(w.said.String(), w.question) {
		w.stop()
	}
	return n, err
}

// plainHome is a state folder whose secrets are in a file.
func plainHome(t *testing.T) (home string, env func(string) string) {
	t.Helper()
	home = t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "hearth.json"), []byte(`{"secrets": {"backend": "plain"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return home, func(k string) string { return map[string]string{"HEARTH_HOME": home, "HOME": home}[k] }
}

// The first Ctrl-C ends a question, whatever it asks for, and the command with it.
func TestCtrlCEndsAQuestion(t *testing.T) {
	_, env := plainHome(t)
	for _, tc := range []struct {
		question string
		args     []string
	}{
		{"[y/N]", []string{"secrets", "get", "foo", "--reveal"}},
		{"[y/N]", []string{"move", "export", filepath.Join(t.TempDir(), "all.hearth")}},
		{"[y/N]", []string{"move", "send"}},
		{"", []string{"setup", "--answers", "-"}},
		{"", []string{"config", "set", "gateway.port", "-"}},
		{"", []string{"chat", "-"}},
		{"", []string{"code", "run", "--no-tools", "-"}},
	} {
		ctx, stop := context.WithCancel(t.Context())
		in, typed := io.Pipe() // nobody types
		errs := &stopsAt{question: tc.question, stop: stop}
		if tc.question == "" { // it is waited for without a word
			go stop()
		}
		code := Main(ctx, tc.args, World{In: in, Out: io.Discard, Err: errs, Env: env, Version: "test", InTerminal: true, OutTerminal: true,
			ErrTerminal: true})
		if code != exitInterrupted || strings.Contains(errs.said.String(), "hearth:") {
			t.Errorf("%q: exit code %d, %q", tc.args, code, errs.said.String())
		}
		stop()
		_ = typed.Close()
	}
}

// What is typed is handed on as it comes, and its end too.
func TestAnswersAreRead(t *testing.T) {
	a := &app{World: World{In: strings.NewReader("yes\nrest")}}
	a.answersTo(t.Context())
	if b, err := io.ReadAll(a.input()); err != nil || string(b) != "yes\nrest" {
		t.Errorf("%q, %v", b, err)
	}
}
