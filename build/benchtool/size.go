package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const statusRuns = 60

// measureStatus runs the command line as a person does, a process each time.
func measureStatus(ctx context.Context, b *bench) ([]figure, error) {
	dir, err := b.home()
	if err != nil {
		return nil, err
	}
	g, err := b.startGateway(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer g.stop()
	var times []time.Duration
	for range statusRuns {
		cmd := exec.CommandContext(ctx, b.hearth, "status")
		cmd.Env = append(clean(os.Environ()), "HEARTH_HOME="+string(dir))
		began := time.Now()
		out, err := cmd.CombinedOutput()
		times = append(times, time.Since(began))
		if err != nil {
			return nil, fmt.Errorf("hearth status: %w: %s", err, bytes.TrimSpace(out))
		}
	}
	return []figure{{name: "hearth status, p95", measured: quantile(times, 0.95), budget: 30, unit: "ms",
		note: fmt.Sprintf("p50 %.1f ms, %d runs, whole process", quantile(times, 0.5), statusRuns)}}, nil
}

// measureSize weighs the program and what a browser loads first.
func measureSize(_ context.Context, b *bench) ([]figure, error) {
	info, err := os.Stat(b.hearth)
	if err != nil {
		return nil, err
	}
	out := []figure{{name: "the hearth binary, stripped", measured: float64(info.Size()) / 1e6, budget: 40, unit: "MB"}}
	kb, files, err := firstLoad(b.page)
	if err != nil {
		return out, err
	}
	return append(out, figure{name: "the page's first load, gzip", measured: kb, budget: 100, unit: "KB", note: strings.Join(files, ", ")}),
		nil
}

// firstLoad sums the page and everything that its HTML names.
func firstLoad(dist string) (kb float64, files []string, err error) {
	html, err := pageFile(dist, "index.html")
	if err != nil {
		return 0, nil, fmt.Errorf("the page is not built: %w", err)
	}
	files = []string{"index.html"}
	for _, m := range regexp.MustCompile(`(?:src|href)="\.?/?([^":#]+\.(?:js|css))"`).FindAllSubmatch(html, -1) {
		if f := string(m[1]); !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	for _, f := range files {
		data, err := pageFile(dist, f)
		if err != nil {
			return 0, nil, err
		}
		var z bytes.Buffer
		w, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
		if err != nil {
			return 0, nil, err
		}
		if _, err := w.Write(data); err != nil {
			return 0, nil, err
		}
		if err := w.Close(); err != nil {
			return 0, nil, err
		}
		kb += float64(z.Len()) / 1024
	}
	return kb, files, nil
}

// pageFile reads a file of the built page, packed or not.
func pageFile(dist, name string) ([]byte, error) {
	name = filepath.Join(dist, filepath.FromSlash(name))
	f, err := os.Open(name + ".gz")
	if err != nil {
		return os.ReadFile(name)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
