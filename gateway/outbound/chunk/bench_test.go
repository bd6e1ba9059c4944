package chunk

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// prose is n bytes of Markdown with everything that one meets.
func prose(n int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < n {
		switch rng.IntN(12) {
		case 0:
			b.WriteString("\n```go\n" + strings.Repeat("\tx := f(y) // and so on\n", 1+rng.IntN(30)) + "```\n\n")
		case 1:
			b.WriteString("\n\n## A heading\n\n")
		case 2:
			b.WriteString("- an item\n- another one with 漢字 and 👍🏽\n")
		default:
			b.WriteString(strings.Repeat("Some words that make a sentence. ", 1+rng.IntN(10)) + "\n")
		}
	}
	return b.String()[:n]
}

func texts() map[string]string {
	const n = 10 << 20
	return map[string]string{
		"prose":    prose(n),
		"no-break": strings.Repeat("x", n),
		"words":    strings.Repeat("word ", n/5),
		"newlines": strings.Repeat("\n", n),
		"cjk":      strings.Repeat("漢", n/3),
		"fence":    "```go\n" + strings.Repeat("x := 1\n", n/7),
		"ticks":    strings.Repeat("`", n),
		"emoji":    strings.Repeat("👨‍👩‍👧‍👦", n/25),
		"marks":    "e" + strings.Repeat("\u0301", n/2),
		"joiners":  strings.Repeat("👩\u200d", n/7),
		"flags":    strings.Repeat("🇩", n/4),
		"quotes":   strings.Repeat("> ", n/2),
		"lists":    strings.Repeat("- ", n/2),
		"links":    strings.Repeat("[a](", n/4),
		"bold":     strings.Repeat("**_", n/3),
		"tables":   strings.Repeat("|", n),
		"fences":   strings.Repeat("```\n````\n~~~\n", n/13),
		"controls": strings.Repeat("\x00\u202e\u200b", n/7),
		"broken":   strings.Repeat("\xf0\x9f", n/2),
	}
}

func BenchmarkSplit(b *testing.B) {
	for name, text := range texts() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Split(text, Limits{Chars: 4096})
			}
		})
	}
}

func BenchmarkFeed(b *testing.B) {
	for name, text := range texts() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				k := New(Options{})
				for rest := text; rest != ""; {
					n := min(len(rest), 64)
					k.Feed(rest[:n])
					rest = rest[n:]
				}
				k.Flush()
			}
		})
	}
}
