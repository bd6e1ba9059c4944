package config

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/internal/seed"
)

func TestSetWholeText(t *testing.T) {
	path := place(t, sample)
	f := open(t, path, Options{})
	base := f.Snapshot().Hash
	next := strings.Replace(sample, "18800", "18801", 1)
	s, err := f.Set(t.Context(), base, next)
	if err != nil {
		t.Fatal(err)
	}
	if get(t, path) != next || door(s.Config).Port != 18801 || f.Snapshot() != s || get(t, path+".last-good") != next {
		t.Error("the new text is not in place everywhere")
	}
	for _, stale := range []string{base, ""} {
		if _, err := f.Set(t.Context(), stale, sample); !errors.Is(err, ErrStale) {
			t.Errorf("base %q: %v", stale, err)
		}
	}
	if _, err := f.MergePatch(t.Context(), base, "{}"); !errors.Is(err, ErrStale) {
		t.Errorf("patch on an old base: %v", err)
	}
	if _, err := f.MergePatch(t.Context(), s.Hash, "{gateway: {port: null}}"); err != nil {
		t.Error(err)
	}
	if got := door(f.Snapshot().Config).Port; got != 0 {
		t.Errorf("port after removal: %d", got)
	}
}

func TestSetOnAMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "er", "hearth.json")
	f := open(t, path, Options{})
	if _, err := f.Set(t.Context(), "", "{gateway:{port:1}}"); err != nil {
		t.Fatal(err)
	}
	if got := get(t, path); got != "{gateway:{port:1}}" {
		t.Errorf("content: %s", got)
	}
}

func TestInvalidEditsWriteNothing(t *testing.T) {
	path := place(t, sample)
	f := open(t, path, Options{})
	ctx := t.Context()
	var invalid *InvalidError
	for name, edit := range map[string]func() error{
		"syntax":    func() error { _, err := f.Set(ctx, f.Snapshot().Hash, "{"); return err },
		"type":      func() error { _, err := f.SetPath(ctx, "gateway.port", `"x"`); return err },
		"range":     func() error { _, err := f.SetPath(ctx, "gateway.port", "65536"); return err },
		"patch":     func() error { _, err := f.MergePatch(ctx, "", "{gateway:{bind:'nowhere'}}"); return err },
		"bad patch": func() error { _, err := f.MergePatch(ctx, "", "[]"); return err },
	} {
		if err := edit(); !errors.As(err, &invalid) {
			t.Errorf("%s: %v", name, err)
		}
		if get(t, path) != sample {
			t.Fatalf("%s: the file was changed", name)
		}
	}
}

// TestPatchesAreRefusedWithoutAPlace: who patches a value has not seen the file.
func TestPatchesAreRefusedWithoutAPlace(t *testing.T) {
	f := open(t, place(t, sample), Options{})
	for patch, want := range map[string]string{
		"{gateway:{port:65536}}":              "the settings were not saved: expected a whole number from 0 to 65535",
		"{gateway:{port:-1,bind:'loopback'}}": "the settings were not saved: gateway.port: expected a whole number from 0 to 65535",
	} {
		if _, err := f.MergePatch(t.Context(), "", patch); err == nil || err.Error() != want {
			t.Errorf("%s: %v", patch, err)
		}
	}
	if _, err := f.SetPath(t.Context(), "gateway.port", "65536"); err == nil || !strings.Contains(err.Error(), "(gateway.port): expected") {
		t.Errorf("an edit of the file: %v", err)
	}
}

func TestEditsOfABrokenFile(t *testing.T) {
	path := place(t, "{gateway: {port: 'x'}, agents: {")
	f := open(t, path, Options{})
	var broken *BrokenError
	if _, err := f.SetPath(t.Context(), "gateway.port", "1"); !errors.As(err, &broken) {
		t.Errorf("edit of a file that does not parse: %v", err)
	}
	put(t, path, "{gateway: {port: 'x'}}")
	if _, err := f.SetPath(t.Context(), "gateway.port", "1"); err != nil {
		t.Errorf("an edit that repairs a wrong value: %v", err)
	}
	if s := f.Snapshot(); !s.Valid || door(s.Config).Port != 1 || get(t, path) != "{gateway: {port: 1}}" {
		t.Errorf("after the repair: %+v", s)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := f.SetPath(t.Context(), "session.mainKey", "'x'"); !errors.As(err, &broken) {
		t.Errorf("edit of a file that was deleted while running: %v", err)
	}
}

func TestHandEditDuringAnEditWins(t *testing.T) {
	path := place(t, "{gateway:{port:1}}")
	f := open(t, path, Options{})
	hand := "{gateway:{port:2}} // by hand"
	f.Subscribe(func(_, _ Config) error { put(t, path, hand); return nil }, nil)
	if _, err := f.SetPath(t.Context(), "gateway.port", "3"); !errors.Is(err, ErrStale) {
		t.Errorf("got %v", err)
	}
	if got := get(t, path); got != hand {
		t.Errorf("the hand edit was lost: %s", got)
	}
}

func TestEditKeepsAnUnseenHandEdit(t *testing.T) {
	path := place(t, "{gateway:{port:1}}")
	f := open(t, path, Options{})
	put(t, path, "{gateway:{port:1}, session:{mainKey:'home'}} // mine")
	if _, err := f.SetPath(t.Context(), "gateway.port", "3"); err != nil {
		t.Fatal(err)
	}
	if got := get(t, path); got != "{gateway:{port:3}, session:{mainKey:'home'}} // mine" {
		t.Errorf("content: %s", got)
	}
	if standIns.chats.Of(f.Snapshot().Config).MainKey != "home" {
		t.Error("the hand edit is not in use")
	}
}

func TestSubscribers(t *testing.T) {
	path := place(t, "{gateway:{port:1}}")
	f := open(t, path, Options{})
	var log []string
	cancel := f.Subscribe(
		func(old, next Config) error {
			log = append(log, fmt.Sprintf("verify %d %d", door(old).Port, door(next).Port))
			if door(next).Port == 9 {
				return errors.New("port 9 is in use")
			}
			return nil
		},
		func(old, next Config) {
			log = append(log, fmt.Sprintf("commit %d %d", door(old).Port, door(next).Port))
		})
	if _, err := f.SetPath(t.Context(), "gateway.port", "2"); err != nil {
		t.Fatal(err)
	}
	var refused *RefusedError
	if _, err := f.SetPath(t.Context(), "gateway.port", "9"); !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
	put(t, path, "{gateway:{port:9}}")
	if err := f.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := f.Snapshot(); s.Valid || door(s.Config).Port != 2 || s.Origin != FromRunning {
		t.Errorf("a refused hand edit is in use: %+v", s)
	}
	cancel()
	if err := f.Reload(t.Context()); err != nil || door(f.Snapshot().Config).Port != 9 {
		t.Errorf("after the refusal is gone: %v, port %d", err, door(f.Snapshot().Config).Port)
	}
	want := []string{"verify 1 2", "commit 1 2", "verify 2 9", "verify 2 9"}
	if diff := cmp.Diff(want, log); diff != "" {
		t.Error(diff)
	}
}

func TestStuckSubscriberBlocksNobody(t *testing.T) {
	path := place(t, "{gateway:{port:1}}")
	synctest.Test(t, func(t *testing.T) {
		f := open(t, path, Options{Patience: time.Second})
		stuck := make(chan struct{})
		defer close(stuck)
		f.Subscribe(func(_, next Config) error {
			if door(next).Port == 2 {
				<-stuck
			}
			return nil
		}, func(_, _ Config) { <-stuck })
		if _, err := f.SetPath(t.Context(), "gateway.port", "2"); !errors.Is(err, errStuck) {
			t.Errorf("got %v", err)
		}
		if _, err := f.SetPath(t.Context(), "gateway.port", "3"); err != nil {
			t.Errorf("with a stuck commit: %v", err)
		}
	})
	if got := get(t, path); got != "{gateway:{port:3}}" {
		t.Errorf("content: %s", got)
	}
}

func TestWaitingEditGivesUpWithItsContext(t *testing.T) {
	f := open(t, place(t, "{}"), Options{})
	done, err := f.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.SetPath(ctx, "gateway.port", "2"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestFault_F_CFG_01: mutated files at start. The gateway always gets settings,
// the file stays as it is, and what guards the machine is never looser.
func TestFault_F_CFG_01_MutatedFiles(t *testing.T) {
	rng := seed.Fixed(t, 1)
	path := place(t, sample)
	before := open(t, path, Options{}).Snapshot().Config
	invalid := 0
	for i := range 400 {
		text := mutate(rng, sample)
		put(t, path+".last-good", sample)
		put(t, path, text)
		f, err := Open(path, Options{Sections: standSections()})
		if err != nil {
			t.Fatalf("mutation %d: %v\n%s", i, err, text)
		}
		s := f.Snapshot()
		if get(t, path) != text {
			t.Fatalf("mutation %d: the file was changed", i)
		}
		if door(s.Config).Bind != "loopback" || door(s.Config).Mode != "token" {
			t.Fatalf("mutation %d opens the gateway: %+v\n%s", i, door(s.Config), text)
		}
		if s.Valid {
			continue
		}
		invalid++
		if diff := cmp.Diff(before, s.Config); diff != "" {
			t.Fatalf("mutation %d: not the last good settings: %s", i, diff)
		}
		if p := s.Problems(); len(p) == 0 || !strings.Contains(p[0].Message, "line ") {
			t.Fatalf("mutation %d: no place is named: %v", i, p)
		}
	}
	if invalid < 200 {
		t.Errorf("only %d mutations were invalid", invalid)
	}
}

func mutate(rng *rand.Rand, s string) string {
	for range 1 + rng.IntN(3) {
		i := rng.IntN(len(s) - 10)
		j := i + 1 + rng.IntN(9)
		switch rng.IntN(6) {
		case 0:
			s = s[:i] + s[j:]
		case 1:
			s = s[:j]
			if len(s) < 40 {
				s += sample
			}
		case 2:
			s = s[:i] + string(`{}[],:"'/\`[rng.IntN(10)]) + s[i:]
		case 3:
			s = s[:i] + string([]byte{byte(rng.IntN(256))}) + s[i+1:]
		case 4:
			s = s[:j] + s[i:]
		default:
			words := strings.Fields("null true 1e999 NaN 'x' [] {} -1 0.5")
			if k := strings.IndexByte(s[i:], ':'); k >= 0 {
				s = s[:i+k+1] + " " + words[rng.IntN(len(words))] + "," + s[i+k+1:]
			}
		}
		if len(s) < 20 {
			return s
		}
	}
	return s
}

// TestFault_F_CFG_04: writers of two processes, whole-text savers among them.
func TestFault_F_CFG_04_NoLostUpdate(t *testing.T) {
	path := place(t, "// start\n{\n}\n")
	files := []*File{open(t, path, Options{Patience: time.Minute}), open(t, path, Options{Patience: time.Minute})}
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			f := files[i%2]
			key, url := fmt.Sprintf("p%d", i), fmt.Sprintf("http://h%d:1", i)
			var err error
			switch i % 3 {
			case 0:
				_, err = f.SetPath(t.Context(), "models.providers."+key+".baseUrl", quote(url))
			case 1:
				_, err = f.MergePatch(t.Context(), "", fmt.Sprintf("{models:{providers:{%s:{baseUrl:%q}}}}", key, url))
			default:
				err = saveWhole(t.Context(), f, path, key, url)
			}
			if err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	s := open(t, path, Options{}).Snapshot()
	if len(standIns.models.Of(s.Config).Services) != 100 || !strings.HasPrefix(s.Raw, "// start\n") {
		t.Errorf("%d of 100 updates are there", len(standIns.models.Of(s.Config).Services))
	}
}

// saveWhole edits as the page does: read, change, save, again when stale.
func saveWhole(ctx context.Context, f *File, path, key, url string) error {
	for {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		p := Path{Key("models"), Key("providers"), Key(key), Key("baseUrl")}
		text, err := edited(string(b), []op{{p, &node{kind: kindString, text: url}}})
		if err != nil {
			return err
		}
		if _, err = f.Set(ctx, hashOf(string(b)), text); !errors.Is(err, ErrStale) {
			return err
		}
	}
}

func TestSweepRemovesOnlyOldLeftovers(t *testing.T) {
	path := place(t, "{}")
	dir := filepath.Dir(path)
	old, fresh, other := filepath.Join(dir, ".hearth.json.123"), filepath.Join(dir, ".hearth.json.456"), filepath.Join(dir, ".hearth.json.swp")
	for _, p := range []string{old, fresh, other} {
		put(t, p, "x")
	}
	past := time.Now().Add(-time.Hour)
	for _, p := range []string{old, other} {
		if err := os.Chtimes(p, past, past); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := open(t, path, Options{}).SetPath(t.Context(), "gateway.port", "1"); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]bool{old: false, fresh: true, other: true} {
		if _, err := os.Stat(p); (err == nil) != want {
			t.Errorf("%s is there: %v", filepath.Base(p), err == nil)
		}
	}
}
