package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// part is a Go benchmark whose figure is told beside those of whole processes.
type part struct {
	pkg, bench string // as they are printed, without the number of processors
	runs       int
	name       string
	budget     float64 // in unit
	unit       string
}

// parts are what stands between a model's wish and its being done.
func parts() []part {
	return []part{
		{"gateway/tool/policy", "BenchmarkDecide", 5000, "who may use a tool", 20, "µs"},
		{"gateway/approval", "BenchmarkPermitByRule", 5000, "an approval by rule", 20, "µs"},
		{"gateway/approval/plan", "BenchmarkResolve", 5000, "what a known command runs", 20, "µs"},
		{"gateway/tool/file", "BenchmarkRead10MB", 20, "read 10 MB", 30, "ms"},
		{"gateway/tool/file", "BenchmarkEdit1MB", 20, "edit in 1 MB", 5, "ms"},
		{"gateway/secret/redact", "BenchmarkText", 200, "hide secrets in a text", 0, "µs"},
		{"gateway/provider/failover", "BenchmarkDecision", 5000, "choose who answers instead", 0, "µs"},
	}
}

// measureTools runs the benchmarks of single parts. exec is a difference of two.
func measureTools(ctx context.Context, _ *bench) ([]figure, error) {
	var out []figure
	for _, p := range parts() {
		out = append(out, p.figure(ctx))
	}
	ns, err := benchmark(ctx, "gateway/tool/shell", "BenchmarkTrue", 100)
	bare, tool := ns["BenchmarkTrue/bare"], ns["BenchmarkTrue/tool"]
	if err == nil && (bare == 0 || tool == 0) {
		err = fmt.Errorf("BenchmarkTrue printed %v", ns)
	}
	return append(out, figure{
		name: "exec of true, beyond its bare cost", measured: (tool - bare) / 1e6, budget: 10, unit: "ms", err: err,
		note: fmt.Sprintf("with sandbox and guardian; bare %.1f ms", bare/1e6),
	}), nil
}

// figure runs the benchmark.
func (p part) figure(ctx context.Context) figure {
	ns, err := benchmark(ctx, p.pkg, p.bench, p.runs)
	f := figure{name: p.name, budget: p.budget, unit: p.unit, err: err}
	for _, v := range ns { // the slowest, where there are several
		f.measured = max(f.measured, v/map[string]float64{"µs": 1e3, "ms": 1e6}[p.unit])
	}
	return f
}

// benchmark returns nanoseconds by the name of what ran.
func benchmark(ctx context.Context, pkg, name string, runs int) (map[string]float64, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^"+name+"$", "-benchtime", strconv.Itoa(runs)+"x", "./"+pkg)
	raw, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w\n%s", name, pkg, err, bytes.TrimSpace(raw))
	}
	out := readBenchmarks(string(raw))
	if len(out) == 0 {
		return nil, fmt.Errorf("%s of %s printed no figure", name, pkg)
	}
	return out, nil
}

// readBenchmarks reads lines like "BenchmarkTrue/bare-2  100  1588923 ns/op".
func readBenchmarks(text string) map[string]float64 {
	out := map[string]float64{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") || words[3] != "ns/op" {
			continue
		}
		ns, err := strconv.ParseFloat(words[2], 64)
		if err != nil {
			continue
		}
		name := words[0]
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			name = name[:i]
		}
		out[name] = ns
	}
	return out
}
