package plan

import (
	"testing"
	"time"
)

// BenchmarkResolve is what a command costs whose programs were seen before. The
// clock is ahead, so that files written for the test count as settled.
func BenchmarkResolve(b *testing.B) {
	r := New(Options{Confined: true, Home: b.TempDir(), Now: func() time.Time { return time.Now().Add(time.Hour) }})
	req := Request{Command: "git status && ls -la | head", Dir: b.TempDir()}
	for b.Loop() {
		if _, err := r.Resolve(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}
