// Command benchtool measures the figures that docs/bench.md lists, on the real
// gateway in a process of its own, and prints them beside their budgets. It is
// started by build/bench, which builds what it needs. It measures; it does not
// test: a wrong answer is an error of the row, not a figure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// figure is one line of the table. Smaller is better for all of them.
type figure struct {
	name     string
	measured float64
	budget   float64 // 0: told for context only, unless none may be
	none     bool    // the budget is 0
	unit     string
	note     string
	err      error
}

func (f figure) judged() bool { return f.none || f.budget > 0 }
func (f figure) ok() bool     { return f.err == nil && (!f.judged() || f.measured <= f.budget) }

// row is a measurement that yields some figures.
type row struct {
	id      string
	measure func(context.Context, *bench) ([]figure, error)
}

func rows() []row {
	return []row{
		{"start", measureStart},
		{"turn", measureTurn},
		{"curve", measureCurve},
		{"watch", measureWatch},
		{"parallel", measureParallel},
		{"scale", measureScale},
		{"status", measureStatus},
		{"size", measureSize},
		{"tools", measureTools},
		{"codemode", measureCodemode},
		{"nodes", measureNodes},
		{"desktop", measureDesktop},
		{"network", measureNetwork},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var b bench
	var only string
	var check bool
	flag.StringVar(&b.hearth, "hearth", "build/bin/hearth", "the program to measure")
	flag.StringVar(&b.page, "page", "frontend/dist", "the built page")
	flag.StringVar(&b.cache, "cache", "build/cache/bench", "where the large test store is kept between runs")
	flag.StringVar(&only, "only", "", "comma-separated rows: start, turn, curve, watch, parallel, scale, status, size, tools, codemode, "+
		"nodes, desktop, network")
	flag.BoolVar(&check, "check", false, "fail when a figure is over its budget")
	flag.Parse()

	wanted := strings.FieldsFunc(only, func(r rune) bool { return r == ',' })
	for _, w := range wanted {
		if !slices.ContainsFunc(rows(), func(r row) bool { return r.id == w }) {
			return fmt.Errorf("no row is called %q", w)
		}
	}
	if err := b.open(ctx); err != nil {
		return err
	}
	defer b.close()

	var all []figure
	for _, r := range rows() {
		if len(wanted) > 0 && !slices.Contains(wanted, r.id) {
			continue
		}
		fmt.Fprintf(os.Stderr, "→ %s\n", r.id)
		began := time.Now()
		figures, err := r.measure(ctx, &b)
		if err != nil {
			figures = append(figures, figure{name: r.id, err: err})
		}
		fmt.Fprintf(os.Stderr, "✓ %s (%.1f s)\n", r.id, time.Since(began).Seconds())
		all = append(all, figures...)
		if ctx.Err() != nil {
			return errors.New("stopped")
		}
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Printf("%d processors; load of the last 1, 5 and 15 minutes, ours included: %.14s\n\n", runtime.NumCPU(), load)
	}
	return report(all, check)
}

func report(all []figure, check bool) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| figure\t| measured\t| budget\t| ratio\t| ok?\t| note\t|")
	fmt.Fprintln(w, "|---\t|---:\t|---:\t|---:\t|---\t|---\t|")
	missed := 0
	for _, f := range all {
		measured, budget, ratio, ok := show(f.measured, f.unit), "", "", ""
		switch {
		case f.err != nil:
			measured, ok, f.note = "-", "ERROR", f.err.Error()
		case f.judged():
			budget, ok = show(f.budget, f.unit), "yes"
			if !f.ok() {
				ok = "MISSED"
			}
			if !f.none {
				ratio = fmt.Sprintf("%.2f", f.measured/f.budget)
			}
		}
		if !f.ok() {
			missed++
		}
		fmt.Fprintf(w, "| %s\t| %s\t| %s\t| %s\t| %s\t| %s\t|\n", f.name, measured, budget, ratio, ok, f.note)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if missed == 0 {
		fmt.Println("\nall within budget")
		return nil
	}
	fmt.Printf("\n%d missed or not measured\n", missed)
	if check {
		return fmt.Errorf("%d figures are over budget or could not be measured", missed)
	}
	return nil
}

func show(v float64, unit string) string {
	switch {
	case v == 0 || v >= 100:
		return fmt.Sprintf("%.0f %s", v, unit)
	case v >= 10:
		return fmt.Sprintf("%.1f %s", v, unit)
	default:
		return fmt.Sprintf("%.2f %s", v, unit)
	}
}

// quantile of times in milliseconds; it sorts its argument.
func quantile(d []time.Duration, q float64) float64 {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	i := int(q * float64(len(d)-1))
	if q > 0 && i < len(d)-1 && q*float64(len(d)-1) > float64(i) {
		i++ // the next higher one: never kinder than the truth
	}
	return ms(d[i])
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
