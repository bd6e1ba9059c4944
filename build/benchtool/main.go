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
	"slices"
	"strings"
	"time"
)

// figure is one line of the table. Smaller is better for all of them.
type figure struct {
	name     string
	measured float64
	budget   float64 // 0: told for context only, unless none may be
	none     bool    // the budget is 0
	unit     string
	work     bool // it is a process's own processor time, and not what passes meanwhile
	note     string
	err      error
}

func (f figure) judged() bool { return f.none || f.budget > 0 }

// ok reports whether a budget is kept, as far as that can be said on a machine that
// others keep busy.
func (f figure) ok(busy float64) bool {
	return f.err == nil && (!f.judged() || f.measured <= f.budget*f.slackOf(busy))
}

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
		{"jobs", measureJobs},
		{"desktop", measureDesktop},
		{"network", measureNetwork},
		{"channels", measureChannels},
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
	var page string
	flag.StringVar(&b.hearth, "hearth", "build/bin/hearth", "the program to measure")
	flag.StringVar(&b.page, "page", "frontend/dist", "the built page")
	flag.StringVar(&b.cache, "cache", "build/cache/bench", "where the large test store is kept between runs")
	flag.StringVar(&only, "only", "", "comma-separated rows: start, turn, curve, watch, parallel, scale, status, size, tools, codemode, "+
		"nodes, jobs, desktop, network, channels")
	flag.BoolVar(&check, "check", false, "fail when a figure is over its budget, by more than a busy machine excuses")
	flag.StringVar(&page, "write", "", "a page whose tables are brought up to date")
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

	var all []result
	for _, r := range rows() {
		if len(wanted) > 0 && !slices.Contains(wanted, r.id) {
			continue
		}
		fmt.Fprintf(os.Stderr, "→ %s\n", r.id)
		one := result{row: r.id, busy: b.busy(), at: time.Now()}
		figures, err := r.measure(ctx, &b)
		if err != nil {
			figures = append(figures, figure{name: r.id, err: err})
		}
		one.figures, one.busy = figures, (one.busy+b.busy())/2
		fmt.Fprintf(os.Stderr, "✓ %s (%.1f s)\n", r.id, time.Since(one.at).Seconds())
		all = append(all, one)
		if ctx.Err() != nil {
			return errors.New("stopped")
		}
		if page != "" { // at once: the next row may take long
			if err := writePage(page, []result{one}); err != nil {
				return err
			}
		}
	}
	return report(all, check)
}

func report(all []result, check bool) error {
	for _, r := range all {
		fmt.Printf("%s, %s\n\n", r.row, sayBusy(r.busy))
		if err := writeTable(os.Stdout, r); err != nil {
			return err
		}
		fmt.Println()
	}
	n := missed(all)
	if n == 0 {
		fmt.Println("all within budget")
		return nil
	}
	fmt.Printf("%d missed or not measured\n", n)
	if check {
		return fmt.Errorf("%d figures are over budget or could not be measured", n)
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
