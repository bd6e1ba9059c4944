package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// run is one command line in a world of its own.
func run(t *testing.T, home, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	env := map[string]string{"HEARTH_HOME": home, "HOME": home}
	w := World{In: strings.NewReader(in), Out: &o, Err: &e, Env: func(k string) string { return env[k] }, Version: "test"}
	code = Main(t.Context(), args, w)
	return code, o.String(), e.String()
}

func TestExplain(t *testing.T) {
	for _, tc := range []struct {
		err  error
		code int
		want string
	}{
		{fmt.Errorf("x: %w", statedir.ErrNotRunning), exitNotRunning, "the Hearth gateway is not running"},
		{&client.NotRunningError{Dir: "/d", Stale: true}, exitNotRunning, "ended without warning"},
		{protocol.MissingScope(protocol.ScopeAdmin), exitRefused, "missing scope"},
		{protocol.Invalid("unauthorized").With("code", "AUTH_TOKEN_MISMATCH"), exitRefused, "unauthorized"},
		{&protocol.Error{Code: protocol.CodeNotPaired, Message: "device identity required"}, exitRefused, "device"},
		{protocol.UnknownMethod("x"), exitFailure, "another version"},
		{fmt.Errorf("send: %w", protocol.Invalid("message is empty")), exitFailure, "message is empty"},
		{context.Canceled, exitInterrupted, "stopped"},
		{fmt.Errorf("%w: EOF", client.ErrLost), exitFailure, "connection to the gateway was lost"},
		{errors.New("disk on fire"), exitFailure, "disk on fire"},
		{&fs.PathError{Op: "write", Path: os.Stdout.Name(), Err: syscall.ENOSPC}, exitFailure, "not all could be printed"},
		{fmt.Errorf("begin: %w", &fs.PathError{Op: "write", Path: "/d/.gateway.json.1", Err: syscall.ENOSPC}), exitFailure,
			"the disk of /d is full"},
		{usage("wrong"), exitUsage, "wrong"},
	} {
		f := explain(tc.err)
		if f.code != tc.code || !strings.Contains(f.message, tc.want) {
			t.Errorf("explain(%v) = %d %q, want %d %q", tc.err, f.code, f.message, tc.code, tc.want)
		}
	}
}

func TestUsageErrors(t *testing.T) {
	for _, args := range []string{
		"nonsense", "status extra", "--wrong", "sessions", "sessions nonsense", "sessions list --limit x", "sessions list --limit -1",
		"sessions export a --all", "logs --lines 5001", "config set a", "config get ..", "chat --timeout -1s hi", "chat --timeout soon hi",
		"gateway --port 70000", "gateway extra", "chat",
	} {
		code, out, errs := run(t, t.TempDir(), "", strings.Fields(args)...)
		if args == "sessions" { // a group alone shows its help
			if code != exitOK || !strings.Contains(out, "export") {
				t.Errorf("%q = %d, %q", args, code, out)
			}
			continue
		}
		if code != exitUsage || out != "" || strings.Count(errs, "\n") != 2 {
			t.Errorf("%q = %d, out %q, err %q", args, code, out, errs)
		}
	}
}

func TestErrorsAsJSON(t *testing.T) {
	code, out, errs := run(t, t.TempDir(), "", "models", "list", "--json")
	want := `{"error":{"exitCode":3,"message":"the Hearth gateway is not running","hint":"start it with ` + "`hearth gateway`" + `"}}` + "\n"
	if code != exitNotRunning || out != "" || errs != want {
		t.Errorf("%d, out %q, err %q", code, out, errs)
	}
}

func TestTailFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if _, err := tailFile(path, nil, 10); explain(err).code != exitNotRunning {
		t.Errorf("no file: %v", err)
	}
	write := func(s string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a\nb\nc\nhalf")
	got, err := tailFile(path, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"b", "c"}, got.Lines); d != "" || got.Cursor != 6 {
		t.Errorf("cursor %d, lines %s", got.Cursor, d)
	}
	write("a\nb\nc\nhalf a line\n")
	got, _ = tailFile(path, &got.Cursor, 10)
	if d := cmp.Diff([]string{"half a line"}, got.Lines); d != "" {
		t.Error(d)
	}
	write("new\n")
	got, _ = tailFile(path, &got.Cursor, 10)
	if d := cmp.Diff([]string{"new"}, got.Lines); d != "" || !got.Reset {
		t.Errorf("after a replacement: reset %v, %s", got.Reset, d)
	}
	write(strings.Repeat("x", maxTail-2) + "\nlast one\nend\n")
	got, _ = tailFile(path, nil, 10)
	if d := cmp.Diff([]string{"last one", "end"}, got.Lines); d != "" {
		t.Error(d)
	}
}

func TestFault_F_CRASH_18_AFailedExportLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	err := writeWhole(path, func(w io.Writer) error {
		_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20))
		return boom
	})
	if b, _ := os.ReadFile(path); !errors.Is(err, boom) || string(b) != "old" {
		t.Errorf("a failed export left %q, %v", b, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := writeWhole(filepath.Join(t.TempDir(), "no", "such"), nil); err == nil || strings.Contains(err.Error(), ".such.") {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 59 * time.Second: "59 s", 10 * time.Minute: "10 min", 61 * time.Second: "1 min 1 s",
		3*time.Hour + 5*time.Minute: "3 h 5 min", 49 * time.Hour: "2 d 1 h",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KB", 24 << 20: "24.0 MB", 3 << 30: "3.0 GB"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestLogLinesAreReadable(t *testing.T) {
	var o bytes.Buffer
	a := &app{World: World{Out: &o, Env: func(string) string { return "" }}}
	_ = a.printLog(`{"time":"x","level":"WARN","msg":"two\nlines\u001b[31m","port":1,"err":"e"}`)
	_ = a.printLog("not JSON \x1b[2J")
	if want := "x WARN  two lines err=e port=1\nnot JSON\n"; o.String() != want {
		t.Errorf("%q, want %q", o.String(), want)
	}
}
