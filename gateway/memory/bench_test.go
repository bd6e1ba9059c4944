package memory

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// vocabulary makes text whose frequent words are as frequent as in language.
type vocabulary struct {
	words []string
	zipf  *rand.Zipf
}

func newVocabulary(seed uint64) *vocabulary {
	v := &vocabulary{}
	parts := strings.Fields("ka to mi ren sol ber an ti us lo ver ga ne shi or pla qu em dor fin ex wa")
	rnd := rand.New(rand.NewPCG(seed, 2))
	for i := range 40_000 {
		var b strings.Builder
		for range 2 + i/15_000 {
			b.WriteString(parts[rnd.IntN(len(parts))])
		}
		v.words = append(v.words, fmt.Sprintf("%s%s", b.String(), parts[i%len(parts)]))
	}
	v.zipf = rand.NewZipf(rnd, 1.07, 2, uint64(len(v.words)-1))
	return v
}

// notes writes about so many bytes into files of size bytes.
func (v *vocabulary) notes(b *testing.B, dir string, total, size int) {
	if err := os.MkdirAll(filepath.Join(dir, "memory"), 0o700); err != nil {
		b.Fatal(err)
	}
	for n := 0; total > 0; n++ {
		var text strings.Builder
		for text.Len() < size {
			for range 12 {
				text.WriteString(v.words[v.zipf.Uint64()])
				text.WriteByte(' ')
			}
			text.WriteByte('\n')
		}
		if err := os.WriteFile(filepath.Join(dir, "memory", fmt.Sprintf("n%05d.md", n)), []byte(text.String()), 0o600); err != nil {
			b.Fatal(err)
		}
		total -= size
	}
}

// BenchmarkIndex10MB indexes 10 MB of notes.
func BenchmarkIndex10MB(b *testing.B) {
	for range b.N {
		b.StopTimer()
		r := newRig(b)
		newVocabulary(1).notes(b, r.dir, 10<<20, 50<<10)
		b.StartTimer()
		if err := r.x.Sync(b.Context(), "main"); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(r.x.Status("main").Chunks), "chunks")
	}
}

// BenchmarkSearch100k searches 100,000 chunks, by words and with vectors.
func BenchmarkSearch100k(b *testing.B) {
	r := newRig(b)
	v := newVocabulary(1)
	v.notes(b, r.dir, 150<<20, 300<<10)
	start := time.Now()
	if err := r.x.Sync(b.Context(), "main"); err != nil {
		b.Fatal(err)
	}
	b.Logf("indexed %d chunks in %v", r.x.Status("main").Chunks, time.Since(start))
	run := func(b *testing.B, vector func() []float32) {
		var took []time.Duration
		set := r.x.Settings().filled()
		for range b.N {
			for range 50 {
				q := v.words[v.zipf.Uint64()] + " " + v.words[v.zipf.Uint64()] + " " + v.words[200+v.zipf.Uint64()%2000] + " " + v.words[0]
				var vec []float32
				if vector != nil {
					vec = vector()
				}
				at := time.Now()
				if _, _, err := r.x.searchOnce(Query{Scope: owner, Text: q, Limit: 6}, set, queryWords(q), vec); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(at))
			}
		}
		slices.Sort(took)
		b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
		b.ReportMetric(took[len(took)*95/100].Seconds()*1000, "p95-ms")
	}
	b.Run("words", func(b *testing.B) { run(b, nil) })
	const dims = 768
	rnd := rand.New(rand.NewPCG(5, 6))
	random := func() []float32 {
		out := make([]float32, dims)
		for i := range out {
			out[i] = float32(rnd.NormFloat64())
		}
		return out
	}
	for _, key := range r.x.keys() {
		for _, s := range r.x.files[key].Segs {
			row := newVectorRow(s.N, dims)
			for i := range s.N {
				row.set(i, random())
			}
			if err := r.x.putVectors(b.Context(), s, row); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("hybrid", func(b *testing.B) { run(b, random) })
	b.Run("sync", func(b *testing.B) {
		for range b.N {
			if err := r.x.Sync(b.Context(), "main"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
