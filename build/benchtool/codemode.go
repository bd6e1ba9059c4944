package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/codemode/engine"
)

const (
	codeRounds = 200
	codeColds  = 5
	peerRounds = 7
	peerModule = "quickjs-wasi@3.6.0"
)

// measureCodemode times the engine of code mode, in this process: first cells,
// warm cells, putting away and bringing back, and plain computing beside
// quickjs-wasi in Node, one round of each after the other.
func measureCodemode(ctx context.Context, b *bench) ([]figure, error) {
	dir, err := os.MkdirTemp("", "codemode")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cold, err := firstCells(ctx, dir, true)
	if err != nil {
		return nil, err
	}
	cached, err := firstCells(ctx, dir, false)
	if err != nil {
		return nil, err
	}
	e := engine.New(engine.Options{CacheDir: dir})
	defer e.Close(ctx)
	tiny, err := cellTimes(func() error { return runCell(ctx, e, engine.Program{Code: "return 1+1"}) })
	if err != nil {
		return nil, err
	}
	many := engine.Program{Code: "return 1+1", Catalog: catalogue(300)}
	large, err := cellTimes(func() error { return runCell(ctx, e, many) })
	if err != nil {
		return nil, err
	}
	small, bytes, err := resumes(ctx, e, "return 1 + await tools.call('x')", codeRounds)
	if err != nil {
		return nil, err
	}
	big, _, err := resumes(ctx, e, "const a = []; for (let i = 0; i < 70; i++) a.push(('' + Math.random()).repeat(5500)); return a.length "+
		"+ await tools.call('x')", 50)
	if err != nil {
		return nil, err
	}
	best := func(d []time.Duration) string { return fmt.Sprintf("best %.2f ms", quantile(d, 0)) }
	out := []figure{
		{name: "cell `1+1`, p50", measured: quantile(tiny, 0.5), budget: 0.5, unit: "ms", note: best(tiny)},
		{name: "cell with a catalogue of 300 tools, p50", measured: quantile(large, 0.5), budget: 1, unit: "ms", note: best(large)},
		{name: "first cell, with the disk cache, p50", measured: quantile(cached, 0.5), budget: 60, unit: "ms", note: best(cached)},
		{name: "first cell, without, p50", measured: quantile(cold, 0.5), budget: 800, unit: "ms", note: best(cold)},
		{name: "snapshot, restore and finish, tiny, p50", measured: quantile(small, 0.5), budget: 1.5, unit: "ms", note: best(small)},
		{name: "snapshot, restore and finish, 8 MB, p50", measured: quantile(big, 0.5), budget: 10, unit: "ms", note: best(big)},
		{name: "snapshot of a tiny cell", measured: float64(bytes) / 1024, budget: 64, unit: "KB"},
		{name: "64 suspended cells", measured: 64 * float64(bytes) / (1 << 20), budget: 20, unit: "MB"},
	}
	peer, err := computing(ctx, b, e)
	if err != nil {
		peer = []figure{{name: "computing, beside quickjs-wasi", err: err}}
	}
	return append(out, peer...), nil
}

func cellTimes(f func() error) (out []time.Duration, err error) {
	if err := f(); err != nil {
		return nil, err
	}
	for range codeRounds {
		began := time.Now()
		if err := f(); err != nil {
			return nil, err
		}
		out = append(out, time.Since(began))
	}
	return out, nil
}

func runCell(ctx context.Context, e *engine.Engine, p engine.Program) error {
	v, st, err := e.Start(ctx, p)
	if err != nil {
		return err
	}
	v.Close()
	if !st.Done {
		return errors.New("a cell did not end")
	}
	return nil
}

func firstCells(ctx context.Context, dir string, fresh bool) (out []time.Duration, err error) {
	for i := range codeColds {
		if fresh {
			dir = filepath.Join(dir, strconv.Itoa(i))
		}
		began := time.Now()
		e := engine.New(engine.Options{CacheDir: dir})
		err := runCell(ctx, e, engine.Program{Code: "return 1+1"})
		out = append(out, time.Since(began))
		if err := errors.Join(err, e.Close(ctx)); err != nil {
			return nil, err
		}
	}
	if !fresh {
		out = slices.Delete(out, 0, 1) // that one filled the cache
	}
	return out, nil
}

func catalogue(n int) engine.Catalog {
	var list []map[string]string
	c := engine.Catalog{Shortcuts: map[string]string{}}
	for i := range n {
		id, name := fmt.Sprintf("mcp:server%d:tool_%d", i%7, i), fmt.Sprintf("tool_%d", i)
		c.Shortcuts[name] = id
		list = append(list, map[string]string{"id": id, "name": name, "source": "mcp", "description": "Does something useful with its input " +
			"and gives JSON back, number " + name})
	}
	c.Tools, _ = json.Marshal(list)
	return c
}

func resumes(ctx context.Context, e *engine.Engine, code string, n int) (out []time.Duration, size int, err error) {
	v, _, err := e.Start(ctx, engine.Program{Code: code})
	if err != nil {
		return nil, 0, err
	}
	defer v.Close()
	for range n {
		began := time.Now()
		data, err := v.Snapshot(ctx, "bench")
		if err != nil {
			return nil, 0, err
		}
		w, err := e.Restore(ctx, data, engine.Limits{}, "bench")
		if err != nil {
			return nil, 0, err
		}
		_, err = w.Settle(ctx, []engine.Settled{{ID: 1, Value: json.RawMessage("1")}})
		w.Close()
		if err != nil {
			return nil, 0, err
		}
		out, size = append(out, time.Since(began)), len(data)
	}
	return out, size, nil
}

// computations are bodies of functions; both engines run the same text.
var computations = []struct{ name, code string }{
	{"fib(25)", "function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) } return f(25)"},
	{"a loop of 3 million", "let s = 0; for (let i = 0; i < 3e6; i++) s = (s + i) | 0; return s"},
	{"JSON of 1 MB", "const a = []; for (let i = 0; i < 8000; i++) a.push({ id: i, name: 'item ' + i, tags: ['a', 'b', 'c'], n: i / 3 }); " +
		"let t = 0; for (let i = 0; i < 3; i++) t += JSON.stringify(JSON.parse(JSON.stringify(a))).length; return t"},
	{"sorting 100,000", "let x = 1; const a = []; for (let i = 0; i < 1e5; i++) { x = (x * 1103515245 + 12345) & 0x7fffffff; a.push(x) } " +
		"a.sort((p, q) => p - q); return a[5]"},
	{"a Map of 200,000", "const m = new Map(); for (let i = 0; i < 2e5; i++) m.set('k' + i, i); let s = 0; for (const v of m.values()) s " +
		"+= v; return s"},
	{"an expression over 40 KB", "let n = 0; const s = 'foo bar@baz.com qux '.repeat(2000); for (const m of " +
		"s.matchAll(/(\\w+)@(\\w+)\\.com/g)) n += m[0].length; return n"},
	{"appending 200,000 times", "let s = ''; for (let i = 0; i < 2e5; i++) s += 'x'; return s.length"},
}

//go:embed codemode_peer.mjs
var peerScript string

// computing gives how many times as long ours takes: the median of rounds.
func computing(ctx context.Context, b *bench, e *engine.Engine) ([]figure, error) {
	ask, stop, err := startPeer(ctx, filepath.Join(b.cache, "quickjs-wasi"))
	if err != nil {
		return nil, err
	}
	defer stop()
	var out []figure
	for _, c := range computations {
		var ratios, ours []float64
		for range peerRounds {
			began := time.Now()
			if err := runCell(ctx, e, engine.Program{Code: c.code}); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			mine := float64(time.Since(began).Microseconds()) / 1000
			theirs, err := ask(c.code)
			if err != nil {
				return nil, fmt.Errorf("%s in Node: %w", c.name, err)
			}
			ratios, ours = append(ratios, mine/theirs), append(ours, mine)
		}
		slices.Sort(ratios)
		out = append(out, figure{
			name: c.name + ", beside quickjs-wasi", measured: ratios[len(ratios)/2], unit: "times",
			note: fmt.Sprintf("best %.1f ms", slices.Min(ours)),
		})
	}
	return out, nil
}

// startPeer gives a function that runs a program in quickjs-wasi and says how
// many milliseconds it took.
func startPeer(ctx context.Context, dir string) (ask func(string) (float64, error), stop func(), err error) {
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "quickjs-wasi")); err != nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, nil, err
		}
		if out, err := exec.CommandContext(ctx, "npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", dir,
			peerModule).CombinedOutput(); err != nil {
			return nil, nil, fmt.Errorf("npm install %s: %w: %s", peerModule, err, out)
		}
	}
	script := filepath.Join(dir, "peer.mjs")
	if err := os.WriteFile(script, []byte(peerScript), 0o644); err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, "node", script)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	outPipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	lines := bufio.NewReader(outPipe)
	ask = func(code string) (float64, error) {
		line, err := json.Marshal(code)
		if err != nil {
			return 0, err
		}
		if _, err := io.WriteString(in, string(line)+"\n"); err != nil {
			return 0, err
		}
		answer, err := lines.ReadString('\n')
		if err != nil {
			return 0, err
		}
		return strconv.ParseFloat(strings.TrimSpace(answer), 64)
	}
	return ask, func() { in.Close(); _ = cmd.Wait() }, nil
}
