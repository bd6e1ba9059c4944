package search

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const (
	benchEntries  = 1_000_000
	benchSessions = 2_000
)

// library is a Source of generated messages that holds none of them.
type library struct{ words []string }

func newLibrary() *library {
	l := &library{words: make([]string, 60_000)}
	rnd := rand.New(rand.NewPCG(1, 2))
	parts := strings.Fields("ka to mi ren sol ber an ti us lo ver ga ne shi or pla qu em dor fin ex wa")
	for i := range l.words {
		var b strings.Builder
		for range 1 + rnd.IntN(2) + i/20_000 {
			b.WriteString(parts[rnd.IntN(len(parts))])
		}
		if i >= 2000 {
			fmt.Fprintf(&b, "%s", parts[i%len(parts)])
		}
		l.words[i] = b.String()
	}
	return l
}

func (l *library) Transcripts(key string, fn func(key, id, title string) error) error {
	for n := range benchSessions {
		if k := fmt.Sprint("s", n); key == "" || key == k {
			if err := fn(k, idOf(n), "title"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *library) Transcript(key, id string) (string, bool, error) { return "title", true, nil }

func (l *library) Entries(id string, after int64, limit int) (msgs []protocol.Message, settled int, err error) {
	for seq := after + 1; seq <= benchEntries/benchSessions && len(msgs) < limit; seq++ {
		m, _, _ := l.Entry(id, seq)
		msgs = append(msgs, m)
	}
	return msgs, len(msgs), nil
}

func (l *library) Shown(string, string) (func(int64) bool, error) {
	return func(int64) bool { return true }, nil
}

// Entry makes 6 to 60 words, the frequent ones as frequent as in language.
func (l *library) Entry(id string, seq int64) (protocol.Message, bool, error) {
	n := binary.BigEndian.Uint64(rawID(id)[8:])
	rnd := rand.New(rand.NewPCG(n, uint64(seq)))
	zipf := rand.NewZipf(rnd, 1.07, 2, uint64(len(l.words)-1))
	var b strings.Builder
	for range 6 + rnd.IntN(55) {
		b.WriteString(l.words[zipf.Uint64()])
		b.WriteByte(' ')
	}
	return protocol.Message{
		Role: protocol.MessageUser, Content: protocol.TextBlocks(b.String()), Timestamp: int64(n)<<20 + seq,
		Meta: &protocol.MessageMeta{ID: "m", Seq: seq},
	}, true, nil
}

// BenchmarkMillion builds an index of a million messages and searches it. It
// reports the 95th percentile of a mix of queries, what the index takes on disk
// and in memory, and how long the build took.
func BenchmarkMillion(b *testing.B) {
	l := newLibrary()
	x := newIndex(b, l)
	start := time.Now()
	if err := x.catchUpAll(b.Context()); err != nil {
		b.Fatal(err)
	}
	build := time.Since(start)
	queries := mix(l)
	var took []time.Duration
	b.ResetTimer()
	for i := range b.N {
		for j := range queries {
			at := time.Now()
			res, err := x.Find(b.Context(), Params{Query: queries[(i+j)%len(queries)]})
			if err != nil {
				b.Fatal(err)
			}
			_ = res
			took = append(took, time.Since(at))
		}
	}
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
	b.ReportMetric(took[len(took)*95/100].Seconds()*1000, "p95-ms")
	b.ReportMetric(took[len(took)-1].Seconds()*1000, "max-ms")
	b.ReportMetric(build.Seconds(), "build-s")
	b.ReportMetric(float64(x.DB.Size())/(1<<20), "index-MB")
	runtime.GC()
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms)
	b.ReportMetric(float64(ms.HeapInuse)/(1<<20), "heap-MB")
	if s, err := os.ReadFile("/proc/self/status"); err == nil {
		for _, line := range strings.Split(string(s), "\n") {
			if strings.HasPrefix(line, "RssAnon") || strings.HasPrefix(line, "RssFile") {
				b.Log(line)
			}
		}
	}
}

// mix is what people type: frequent words, rare ones, beginnings, several.
func mix(l *library) (out []string) {
	rnd := rand.New(rand.NewPCG(3, 4))
	common := func() string { return l.words[rnd.IntN(30)] }
	middle := func() string { return l.words[100+rnd.IntN(2000)] }
	rare := func() string { return l.words[20_000+rnd.IntN(40_000)] }
	for range 20 {
		out = append(out, common()+" ", common()+" "+common()+" ", middle()+" "+common(), middle()+" "+middle(), rare(), rare()+" "+common(),
			middle()[:2], rare()[:3], common()+" "+common()+" "+common()+" "+common()+" "+common(), l.words[0][:1], "nothing here")
	}
	return out
}
