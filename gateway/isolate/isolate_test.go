package isolate

import (
	"bytes"
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/internal/rerun"
)

var kept [][]byte

// jobs are what the test's own program does when it is started again.
var jobs = map[string]Job{
	"echo":  func(in []byte) ([]byte, error) { return in, nil },
	"no":    func([]byte) ([]byte, error) { return nil, errors.New("it is not for reading") },
	"panic": func([]byte) ([]byte, error) { panic("index out of range") },
	"spin": func([]byte) ([]byte, error) {
		_, _ = os.Stderr.WriteString("x")
		for spun := 0; ; spun++ { // counts, so that nothing takes it for a mistake
			_ = spun
		}
	},
	"eat": func([]byte) ([]byte, error) {
		for {
			kept = append(kept, bytes.Repeat([]byte{1}, 1<<20))
		}
	},
	"gulp": func([]byte) ([]byte, error) { return bytes.Repeat([]byte{1}, 8<<30), nil },
	"deep": func([]byte) ([]byte, error) { return []byte{byte(down(1 << 30))}, nil },
	"talk": func([]byte) ([]byte, error) { return make([]byte, 9<<20), nil },
	"write": func([]byte) ([]byte, error) {
		if err := os.WriteFile(os.TempDir()+"/isolate-was-here", []byte("x"), 0o600); err == nil {
			_ = os.Remove(os.TempDir() + "/isolate-was-here")
			return []byte("written"), nil
		}
		return []byte("refused"), nil
	},
	"env": func([]byte) ([]byte, error) { return []byte(os.Getenv("HEARTH_TEST_SECRET")), nil },
}

func down(n int) int {
	if n == 0 {
		return 0
	}
	return down(n-1) + 1
}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "isolate" {
		rerun.Exit(Main(jobs))
	}
	os.Exit(m.Run())
}

func runner(t *testing.T) *Runner {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return New([]string{exe, exe, "isolate"})
}

func TestWorkComesBack(t *testing.T) {
	t.Setenv("HEARTH_TEST_SECRET", "sk-1")
	r := runner(t)
	in := bytes.Repeat([]byte("bread\n"), 100_000)
	if out, err := r.Do(t.Context(), "echo", in, Limits{}); err != nil || !bytes.Equal(out, in) {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	if out, err := r.Do(t.Context(), "env", nil, Limits{}); err != nil || len(out) != 0 {
		t.Errorf("it saw the environment: %q, %v", out, err)
	}
	for job, want := range map[string]string{"no": "it is not for reading", "panic": "its reader gave up: index out of range"} {
		var said *JobError
		if _, err := r.Do(t.Context(), job, nil, Limits{}); !errors.As(err, &said) || said.Text != want {
			t.Errorf("%s: %v", job, err)
		}
	}
	if _, err := r.Do(t.Context(), "other", nil, Limits{}); err == nil {
		t.Error("a job that does not exist was done")
	}
	if _, err := New(nil).Do(t.Context(), "echo", nil, Limits{}); err == nil {
		t.Error("work without a program was done")
	}
}

// TestSec_A_DOS_WorkApartIsBounded: memory taken bit by bit or at once, endless
// work, endless depth and a huge result end as what they are.
func TestSec_A_DOS_WorkApartIsBounded(t *testing.T) {
	r := runner(t)
	for job, want := range map[string]string{"eat": Memory, "gulp": Memory, "deep": Memory, "talk": Output, "spin": Time} {
		t.Run(job, func(t *testing.T) {
			l := Limits{Memory: 128 << 20}
			if job == "spin" {
				l.Time = 300 * time.Millisecond
			}
			out, err := r.Do(t.Context(), job, nil, l)
			var much *TooMuchError
			if !errors.As(err, &much) || much.What != want {
				t.Errorf("%d bytes, %v; want too much %s", len(out), err, want)
			}
		})
	}
}

// TestSec_A_DOS_WorkApartEndsWithItsRun: whoever asked for endless work stops it
// without waiting for its limit, also while it waits for its turn.
func TestSec_A_DOS_WorkApartEndsWithItsRun(t *testing.T) {
	r := runner(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	const n = atOnce + 1
	for range n {
		go func() {
			_, err := r.Do(ctx, "spin", nil, Limits{Time: time.Hour})
			ended <- err
		}()
	}
	for len(r.slots) < atOnce {
		runtime.Gosched()
	}
	stop()
	for range n {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	}
}
