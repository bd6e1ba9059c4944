package engine

import (
	"encoding/json"
	"fmt"
	"testing"
)

func bigCatalog(n int) Catalog {
	var list []map[string]string
	c := Catalog{Shortcuts: map[string]string{}}
	for i := range n {
		id := fmt.Sprintf("mcp:server%d:tool_%d", i%7, i)
		list = append(list, map[string]string{
			"id": id, "name": fmt.Sprintf("tool_%d", i), "source": "mcp", "sourceName": "server",
			"description": fmt.Sprintf("Does something useful with its input and gives JSON back, number %d of many.", i),
		})
		c.Shortcuts[fmt.Sprintf("tool_%d", i)] = id
	}
	c.Tools, _ = json.Marshal(list)
	return c
}

func benchEngine(b *testing.B) *Engine {
	e := New(Options{CacheDir: b.TempDir()})
	b.Cleanup(func() {
		if err := e.Close(b.Context()); err != nil {
			b.Error(err)
		}
	})
	if err := e.Warm(b.Context()); err != nil {
		b.Fatal(err)
	}
	return e
}

func benchCell(b *testing.B, p Program) {
	e := benchEngine(b)
	run := func() {
		v, st, err := e.Start(b.Context(), p)
		if err != nil || !st.Done {
			b.Fatal(st, err)
		}
		v.Close()
	}
	run()
	done := cpu(b)
	for b.Loop() {
		run()
	}
	done()
}

func BenchmarkWarmCell(b *testing.B) { benchCell(b, Program{Code: "return 1+1"}) }

func BenchmarkWarmCell300Tools(b *testing.B) {
	benchCell(b, Program{Code: "return 1+1", Catalog: bigCatalog(300)})
}

func benchResume(b *testing.B, code string) {
	e := benchEngine(b)
	v, _, err := e.Start(b.Context(), Program{Code: code})
	if err != nil {
		b.Fatal(err)
	}
	defer v.Close()
	var size int
	done := cpu(b)
	for b.Loop() {
		data, err := v.Snapshot(b.Context(), "scope")
		if err != nil {
			b.Fatal(err)
		}
		size = len(data)
		w, err := e.Restore(b.Context(), data, Limits{}, "scope")
		if err != nil {
			b.Fatal(err)
		}
		st, err := w.Settle(b.Context(), []Settled{{ID: 1, Value: json.RawMessage("1")}})
		if err != nil || !st.Done {
			b.Fatal(st, err)
		}
		w.Close()
	}
	done()
	b.ReportMetric(float64(size), "snapshot-bytes")
	b.ReportMetric(float64(v.mem.Size()), "memory-bytes")
}

func BenchmarkResumeTiny(b *testing.B) {
	benchResume(b, "return 1 + await tools.call('a')")
}

func BenchmarkResume8MB(b *testing.B) {
	benchResume(b, "const a = []; for (let i = 0; i < 14000; i++) a.push({ id: i, name: 'item ' + i, tags: ['a', 'b', String(i)] }); "+
		"return a.length + await tools.call('a')")
}
func BenchmarkResume8MBText(b *testing.B) {
	benchResume(b, "const a = []; for (let i = 0; i < 70; i++) a.push(('' + Math.random()).repeat(5500)); return a.length + await "+
		"tools.call('a')")
}

func BenchmarkFirstCell(b *testing.B) {
	dir := b.TempDir()
	e := New(Options{CacheDir: dir})
	e.Warm(b.Context())
	e.Close(b.Context())
	for b.Loop() {
		e := New(Options{CacheDir: dir})
		v, _, err := e.Start(b.Context(), Program{Code: "return 1+1"})
		if err != nil {
			b.Fatal(err)
		}
		v.Close()
		e.Close(b.Context())
	}
}
