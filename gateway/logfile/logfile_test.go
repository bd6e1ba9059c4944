package logfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func openTest(t *testing.T, opts Options) (*File, *slog.Logger, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gateway.log")
	f, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f, slog.New(f.Handler()), path
}

// records reads a file of JSON lines.
func records(t *testing.T, path string) (out []map[string]any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("not one JSON object a line: %q: %v", line, err)
		}
		out = append(out, m)
	}
	return out
}

func TestOneObjectALine(t *testing.T) {
	level := &slog.LevelVar{}
	f, log, path := openTest(t, Options{Level: level})
	log.Debug("not shown")
	log.With("run", "r1").WithGroup("g").Info("hello", "n", 1, "err", errors.New("no"), "m", map[string]int{"a": 1})
	level.Set(slog.LevelDebug)
	log.Debug("shown")
	rs := records(t, path)
	if len(rs) != 2 || rs[0]["msg"] != "hello" || rs[0]["run"] != "r1" || rs[1]["level"] != "DEBUG" {
		t.Errorf("records: %v", rs)
	}
	if diff := cmp.Diff(map[string]any{"n": 1.0, "err": "no", "m": map[string]any{"a": 1.0}}, rs[0]["g"]); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	log.Info("after the end") // must not panic or write
	if len(records(t, path)) != 2 {
		t.Error("written after Close")
	}
}

func TestOpenMakesPrivateAndEndsACutLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gateway.log")
	if err := os.WriteFile(path, []byte("{\"msg\":\"cut by a cra"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	slog.New(f.Handler()).Info("next")
	b, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(b), "{\"msg\":\"cut by a cra\n{\"time\"") {
		t.Errorf("%q %v", b, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	if _, err := Open(t.TempDir(), Options{}); err == nil {
		t.Error("a folder was opened as the log")
	}
}

func TestRotation(t *testing.T) {
	_, log, path := openTest(t, Options{MaxBytes: 2000, PerSecond: 1000})
	for i := range 100 {
		log.Info("line", "i", i)
	}
	var got []float64
	for i := 2; i >= 0; i-- {
		info, err := os.Stat(rotated(path, i))
		if err != nil || info.Size() > 2000 {
			t.Fatalf("file %d: %v", i, err)
		}
		for _, r := range records(t, rotated(path, i)) {
			got = append(got, r["i"].(float64))
		}
	}
	if _, err := os.Stat(rotated(path, 3)); err == nil {
		t.Error("a fourth file was kept")
	}
	for i, v := range got {
		if int(v) != 100-len(got)+i {
			t.Fatalf("order: %v", got)
		}
	}
}

func TestRotationThatFailsKeepsWriting(t *testing.T) {
	fail := true
	_, log, path := openTest(t, Options{MaxBytes: 1000, PerSecond: 1000, rename: func(old, to string) error {
		if fail {
			return errors.New("in use")
		}
		return os.Rename(old, to)
	}})
	for range 30 {
		log.Info("line")
	}
	if n := len(records(t, path)); n != 30 {
		t.Errorf("%d of 30 lines", n)
	}
	fail = false
	for range 3 {
		log.Info("line")
	}
	if _, err := os.Stat(rotated(path, 1)); err != nil {
		t.Error("never rotated after the trouble was over")
	}
}

func TestDeletedFileIsMadeAgain(t *testing.T) {
	now := time.Unix(1000, 0)
	_, log, path := openTest(t, Options{Now: func() time.Time { return now }})
	log.Info("one")
	if err := os.Remove(path); err != nil {
		t.Skip("cannot remove an open file here")
	}
	now = now.Add(time.Minute)
	log.Info("two")
	if rs := records(t, path); len(rs) != 1 || rs[0]["msg"] != "two" {
		t.Errorf("records: %v", rs)
	}
}

func TestLostLinesAreCounted(t *testing.T) {
	f, log, path := openTest(t, Options{})
	f.mu.Lock()
	real := f.f
	broken, err := os.Open(path) // read only: every write fails
	if err != nil {
		t.Fatal(err)
	}
	f.f = broken
	f.mu.Unlock()
	log.Info("lost")
	log.Info("lost too")
	f.mu.Lock()
	f.f = real
	f.mu.Unlock()
	if err := broken.Close(); err != nil {
		t.Fatal(err)
	}
	log.Info("back")
	rs := records(t, path)
	if len(rs) != 2 || rs[0]["count"] != 2.0 || rs[1]["msg"] != "back" {
		t.Errorf("records: %v", rs)
	}
}

// TestSec_A_DOS_10: a flood of equal lines is counted, not written.
func TestSec_A_DOS_10_FloodIsSampled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gateway.log")
	synctest.Test(t, func(t *testing.T) {
		f, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		log := slog.New(f.Handler())
		for i := range 100_000 {
			log.Warn("authentication failed", "i", i)
		}
		log.Info("something else")
		<-time.After(2 * time.Second) // on the synctest clock: the count is written without another line
		synctest.Wait()
		rs := records(t, path)
		last := rs[len(rs)-1]
		if len(rs) != 102 || last["msg"] != "authentication failed" || last["repeated"] != 99_900.0 || last["level"] != "WARN" {
			t.Errorf("%d records, last %v", len(rs), last)
		}
		if rs[100]["msg"] != "something else" {
			t.Error("the flood pushed another line out")
		}
		for i := range 3000 {
			log.Warn(fmt.Sprint("kind ", i))
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if n := len(records(t, path)); n > 102+maxSampleKeys+100+1 {
			t.Errorf("%d records after many kinds", n)
		}
	})
}

func TestSec_A_DOS_10_FilesStayBounded(t *testing.T) {
	_, log, path := openTest(t, Options{MaxBytes: 100_000, PerSecond: 1 << 30})
	for range 500 {
		log.Info("big", "x", strings.Repeat("y", 20_000))
	}
	total := int64(0)
	names, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if info, err := os.Stat(n); err == nil {
			total += info.Size()
		}
	}
	if total > 300_000 {
		t.Errorf("%d bytes in %v", total, names)
	}
}

type shape struct {
	Name string `json:"name"`
	List []string
}

// TestSec_A_SEC_02: secrets are hidden in every part of a record.
func TestSec_A_SEC_02_SecretsAreHidden(t *testing.T) {
	secret := `can"ary\secret` // escaped in JSON, so it must be hidden before that
	redact := func(s string) string {
		return strings.NewReplacer(secret, "[hidden]", "plainary", "[hidden]").Replace(s)
	}
	_, log, path := openTest(t, Options{Redact: redact})
	log.With("w", secret).Info("msg "+secret, "a", secret, "err", fmt.Errorf("wrap: %w", errors.New(secret)),
		slog.Group("g", "b", secret), "s", shape{secret, []string{secret}}, "p", &shape{Name: "x" + secret},
		"m", map[string]any{"plainary": 1}, "plainary", 1, "bad", func() {})
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), `ary`) {
		t.Errorf("a secret was written: %s", b)
	}
	if rs := records(t, path); len(rs) != 1 || rs[0]["msg"] != "msg [hidden]" || rs[0]["err"] != "wrap: [hidden]" {
		t.Errorf("records: %v", rs)
	}
}

func TestSec_A_SEC_02_RedactionThatBreaksALine(t *testing.T) {
	_, log, path := openTest(t, Options{Redact: func(s string) string {
		if i := strings.Index(s, "key="); i >= 0 {
			return s[:i] // as a careless pattern would
		}
		return s
	}})
	log.Info("hello", "key=x", "key=value")
	if rs := records(t, path); len(rs) != 1 || !strings.Contains(rs[0]["msg"].(string), "withheld") {
		t.Errorf("records: %v", rs)
	}
}

// TestSec_A_TTY_03: one record is one line, whatever is in it, and holds no
// character that a terminal obeys.
func TestSec_A_TTY_03_LogForging(t *testing.T) {
	_, log, path := openTest(t, Options{})
	evil := "x\r\n{\"level\":\"INFO\",\"msg\":\"forged\"}\n\x1b]52;c;ZXZpbA==\x07\x1b[2J\x7f\u009b31m\u202egnp\u2028\u2066\xff\x00"
	log.Info(evil, "ua", evil, "err", errors.New(evil), evil, evil)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range strings.TrimSuffix(string(b), "\n") {
		if r < 0x20 || r >= 0x7f && r <= 0x9f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			t.Errorf("the line holds %U", r)
		}
	}
	rs := records(t, path)
	want := strings.ToValidUTF8(evil, "\ufffd")
	if len(rs) != 1 || rs[0]["msg"] != want || rs[0]["ua"] != want || rs[0]["err"] != want {
		t.Errorf("records: %q", rs)
	}
}

func TestLongValuesAreCut(t *testing.T) {
	_, log, path := openTest(t, Options{})
	log.Info("long", "x", strings.Repeat("ä", 100_000))
	var many []any
	for i := range 40 {
		many = append(many, fmt.Sprint("k", i), strings.Repeat("z", maxValue))
	}
	log.Info("many", many...)
	rs := records(t, path)
	x := rs[0]["x"].(string)
	if len(x) > maxValue+50 || !strings.HasSuffix(x, "ä… (191808 bytes more)") {
		t.Errorf("cut to %d bytes: …%s", len(x), x[len(x)-40:])
	}
	if !strings.Contains(rs[1]["msg"].(string), "withheld") {
		t.Errorf("a line of %d bytes was written", 40*maxValue)
	}
}

func TestConcurrentWriters(t *testing.T) {
	_, log, path := openTest(t, Options{MaxBytes: 10_000, Keep: 100, PerSecond: 1 << 30})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				log.Info("w", "g", g, "i", i)
			}
		})
	}
	wg.Wait()
	total := 0
	for i := range 100 {
		if _, err := os.Stat(rotated(path, i)); err == nil {
			total += len(records(t, rotated(path, i)))
		}
	}
	if total != 1600 {
		t.Errorf("%d of 1600 records", total)
	}
}
