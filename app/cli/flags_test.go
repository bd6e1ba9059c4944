package cli

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrongCommandLines: each says what is wrong, and what to type instead.
func TestWrongCommandLines(t *testing.T) {
	for _, tc := range []struct {
		args, want string
		code       int
	}{
		{"chat --timeout abc hi", `--timeout takes a length of time such as 90s or 5m, not "abc"`, exitUsage},
		{"sessions show --limit x", `--limit takes a number, not "x"`, exitUsage},
		{"gateway --port abc", `--port takes a number, not "abc"`, exitUsage},
		{"gateway --port 99999999999999999999", `--port cannot be as large as "99999999999999999999"`, exitUsage},
		{"usage allow --daily abc", `--daily takes a number, not "abc"`, exitUsage},
		{"chat --quiet=x hi", `--quiet takes true or false, not "x"`, exitUsage},
		{"config set hearth.allowance.daily -1", "goes behind --, as in `hearth config set … -- -1`", exitUsage},
		{"stauts", "hearth: unknown command \"stauts\" for \"hearth\"\n  → did you mean `hearth status`? `hearth help` lists", exitUsage},
		{"help nosuch", "unknown command hearth nosuch\n", exitUsage},
		{"help sessions nosuch", "unknown command hearth sessions nosuch\n", exitUsage},
		{"completion foo", "unknown command hearth completion foo\n", exitUsage},
		{"config unset nope", "nope is not set. ", exitFailure},
		{"config unset gateway.port", "gateway.port is not set\n", exitFailure},
		{"chat --file nofile hi", "there is no file or folder nofile\n", exitFailure},
		{"support --out /nonexist/x", "there is no folder /nonexist\n", exitFailure},
		{"store check", "there is no store yet, or it was removed\n  → the first start", exitFailure},
	} {
		code, _, errs := run(t, t.TempDir(), "", strings.Fields(tc.args)...)
		if code != tc.code || !strings.Contains(errs, tc.want) {
			t.Errorf("%s = %d, %q", tc.args, code, errs)
		}
	}
	for _, scope := range []string{"", " ", ","} { // as scripts write it whose variable is not set
		if code, _, errs := run(t, t.TempDir(), "", "tokens", "create", "none", "--scope", scope); code != exitUsage ||
			!strings.Contains(errs, "--scope is empty") {
			t.Errorf("--scope %q = %d, %q", scope, code, errs)
		}
	}
	there := filepath.Join(t.TempDir(), "there.txt")
	if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := run(t, t.TempDir(), "", "support", "--out", there)
	data, err := os.ReadFile(there)
	if code != exitFailure || !strings.Contains(errs, "is there already") || err != nil || string(data) != "mine" {
		t.Errorf("support into a file that is there = %d, %q, %q, %v", code, errs, data, err)
	}
	for _, args := range [][]string{{"support", "--out"}, {"move", "export"}} {
		code, _, errs := run(t, t.TempDir(), "", append(args, filepath.Dir(there))...)
		if code != exitUsage || !strings.Contains(errs, "is a folder, and the name of a file is wanted") {
			t.Errorf("%v FOLDER = %d, %q", args, code, errs)
		}
	}
	err = writeWhole(filepath.Dir(there), func(io.Writer) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "is a folder, and the name of a file is wanted") {
		t.Errorf("an export into a folder: %v", err)
	}
	for _, text := range []string{"hello", "{", `{"step": "name"}`} {
		code, _, errs := run(t, t.TempDir(), text, "setup", "--answers", "-")
		if code != exitUsage || !strings.Contains(errs, "write for example: [{") || strings.Contains(errs, "invalid character") ||
			strings.Contains(errs, "unmarshal") {
			t.Errorf("answers %q = %d, %q", text, code, errs)
		}
	}
	if code, _, errs := run(t, t.TempDir(), "", "backup", "setup", ""); code != exitUsage || !strings.Contains(errs, "has no name") {
		t.Errorf("a folder without a name = %d, %q", code, errs)
	}
}

// What goes not together is told by its names, not by the library's groups of flags.
func TestFlagsThatExcludeOneAnother(t *testing.T) {
	code, _, errs := run(t, t.TempDir(), "", "cron", "add", "--at", "9:00", "--every", "2h", "x")
	if code != exitUsage || !strings.Contains(errs, "--at, --every exclude one another") || strings.Contains(errs, "group") ||
		!strings.Contains(errs, "`hearth cron add --help`") {
		t.Errorf("exit code %d:\n%s", code, errs)
	}
}

// A program that asks for JSON gets it also for what is no command, and a person is told
// where to look it up.
func TestNoCommand(t *testing.T) {
	for _, args := range [][]string{{"--json", "nosuch"}, {"nosuch", "--json"}, {"models", "list", "--all", "--configured", "--json"}} {
		code, _, errs := run(t, t.TempDir(), "", args...)
		var said struct{ Error errorJSON }
		if err := json.Unmarshal([]byte(errs), &said); err != nil || code != exitUsage || said.Error.Message == "" {
			t.Errorf("%v: exit code %d, %v:\n%s", args, code, err, errs)
		}
	}
	if _, _, errs := run(t, t.TempDir(), "", "nosuch", "--", "--json"); !strings.HasPrefix(errs, "hearth: ") {
		t.Error(errs)
	}
	if _, _, errs := run(t, t.TempDir(), "", "search", "--limit", "0", "x"); !strings.Contains(errs, "`hearth search --help` shows what") {
		t.Error(errs)
	}
}
