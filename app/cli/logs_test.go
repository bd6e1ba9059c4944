package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Following goes on when lines are added and when the file is replaced, and
// Ctrl-C is a good end.
func TestLogsFollow(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "gateway.log")
	write := func(flags int, text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|flags, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write(0, "one\ntwo\n")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, w := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- Main(ctx, []string{"logs", "--follow", "--lines", "1"}, World{Out: w, Err: io.Discard, Version: "test",
			Env: func(k string) string { return map[string]string{"HEARTH_HOME": home, "HOME": home}[k] }})
		_ = w.Close()
	}()
	s := bufio.NewScanner(r)
	expect := func(want string) {
		t.Helper()
		if !s.Scan() || s.Text() != want {
			t.Fatalf("line %q, want %q", s.Text(), want)
		}
	}
	expect("two")
	write(os.O_APPEND, "three\nfo")
	expect("three")
	write(os.O_APPEND, "ur\n")
	expect("four")
	write(os.O_TRUNC, "anew\n")
	expect("anew")
	stop()
	if s.Scan() {
		t.Errorf("more: %q", s.Text())
	}
	if c := <-code; c != exitOK {
		t.Errorf("exit code %d", c)
	}
}

func TestLogsLines(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "gateway.log"), []byte("a\nb\nc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[string]string{"0": "", "2": "b\nc\n", "9": "a\nb\nc\n"} {
		if code, out, errs := run(t, home, "", "logs", "-n", n); code != exitOK || out != want {
			t.Errorf("-n %s: %d, %q, %q", n, code, out, errs)
		}
	}
	if code, _, errs := run(t, home, "", "logs", "-n", "-1"); code != exitUsage || !strings.Contains(errs, "between 0 and 5000") {
		t.Errorf("%d, %q", code, errs)
	}
}
