package provider_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// 500 streams at once, all dialects: every one comes whole.
func TestManyStreams(t *testing.T) {
	s := newServer(t)
	s.http.Transport.(*http.Transport).MaxConnsPerHost = 0
	ps := s.dialects(noLimits)
	names := []string{"openai", "anthropic", "ollama"}
	var want strings.Builder
	for i := 1; i <= 20; i++ {
		fmt.Fprintf(&want, "w%d ", i)
	}
	var wg sync.WaitGroup
	for i := range 500 {
		wg.Go(func() {
			text := fmt.Sprintf("stream %d", i)
			got := ""
			for ev, err := range ps[names[i%3]].Stream(t.Context(), ask("stream-20-5", text)) {
				if err != nil {
					t.Error(err)
				}
				got += ev.Text
			}
			if got != "re: "+text+"\n"+want.String() {
				t.Errorf("got %q", got)
			}
		})
	}
	wg.Wait()
	if st := s.Snapshot(); st.Requests != 500 || st.InFlight != 0 {
		t.Errorf("stats %+v", st)
	}
}

// The cost of reading an answer of 1000 words, without a network.
func BenchmarkRead(b *testing.B) {
	for _, c := range cassettes(b) {
		if !strings.HasSuffix(c.path, "/text.txtar") {
			continue
		}
		b.Run(c.dialect, func(b *testing.B) {
			c.set("response", manyWords(c.section("response")))
			body := c.response()
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				p, _ := c.provider(strings.NewReader(body))
				n := 0
				for ev, err := range p.Stream(b.Context(),
					model.Request{Messages: []model.Message{{Role: model.RoleUser, Blocks: []model.Block{{Text: "x"}}}}}) {
					if err != nil {
						b.Fatal(err)
					}
					if ev.Kind == model.EventText {
						n++
					}
				}
				if n < 1000 {
					b.Fatal(n, "words")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/word")
		})
	}
}

// manyWords repeats the record that holds "llo" or "lo".
func manyWords(response string) string {
	sep := "\n\n"
	if strings.HasPrefix(response, "{") || strings.HasPrefix(response, "message") {
		sep = "\n"
	}
	var out strings.Builder
	for rec := range strings.SplitAfterSeq(response, sep) {
		n := 1
		if strings.Contains(rec, "lo 🏠") || strings.Contains(rec, `"lo."`) {
			n = 1000
		}
		for range n {
			out.WriteString(rec)
		}
	}
	return out.String()
}

// What a stream that waits holds in memory.
func TestMemoryOfAStream(t *testing.T) {
	const n = 200
	s := newServer(t)
	p := s.dialects(nil)["openai"]
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var begun, done sync.WaitGroup
	release := make(chan struct{})
	for range n {
		begun.Add(1)
		done.Go(func() {
			first := true
			for _, err := range p.Stream(t.Context(), ask("stream-2-0", "x")) {
				if err != nil {
					t.Error(err)
				}
				if first {
					first = false
					begun.Done()
					<-release
				}
			}
		})
	}
	begun.Wait()
	runtime.GC()
	runtime.ReadMemStats(&after)
	close(release)
	done.Wait()
	per := (int64(after.HeapAlloc+after.StackInuse) - int64(before.HeapAlloc+before.StackInuse)) / n
	t.Logf("%d KiB a stream, server included", per>>10)
	if per > 256<<10 {
		t.Errorf("a stream holds %d bytes", per)
	}
}
