package shell_test

import (
	"os/exec"
	"testing"
)

// What running `true` costs with all that is around it, and what it costs bare.
func BenchmarkTrue(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			if err := exec.CommandContext(b.Context(), "/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("tool", func(b *testing.B) {
		bench := newBench(b)
		for b.Loop() {
			if text, _, err := bench.exec(args{"command": "true"}); err != nil || text != "[no output]" {
				b.Fatal(text, err)
			}
		}
	})
}
