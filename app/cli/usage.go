package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

type usageOptions struct {
	days int
	by   string
}

func newUsage(a *app) *cobra.Command {
	o := usageOptions{}
	show := &cobra.Command{
		Use: "usage", Short: "Show what models used and what it cost", Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return runUsage(ctx, a, o) }),
	}
	show.Flags().IntVar(&o.days, "days", 30, "how many days, today included")
	show.Flags().StringVar(&o.by, "by", "model", "model, session, account or day")
	var p protocol.UsageAllowParams
	var daily, monthly float64
	allow := &cobra.Command{Use: "allow", Short: "Set what models may cost, or let one answer go beyond it", Args: cobra.NoArgs}
	allow.Flags().Float64Var(&daily, "daily", 0, "for a day; 0: no limit")
	allow.Flags().Float64Var(&monthly, "monthly", 0, "for a calendar month; 0: no limit")
	allow.Flags().BoolVar(&p.Once, "once", false, "let the next answer go beyond the limits")
	allow.RunE = a.run(func(ctx context.Context, _ []string) error {
		if allow.Flags().Changed("daily") {
			p.Daily = &daily
		}
		if allow.Flags().Changed("monthly") {
			p.Monthly = &monthly
		}
		return runUsageAllow(ctx, a, p)
	})
	show.AddCommand(allow)
	return show
}

func runUsage(ctx context.Context, a *app, o usageOptions) error {
	var cost protocol.UsageCost
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodUsageCost, protocol.UsageCostParams{Days: o.days, GroupBy: o.by},
		&cost); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(cost)
	}
	if cost.Hearth == nil || len(cost.Hearth.Groups) == 0 {
		return a.out().print("No model was asked in this time.\n")
	}
	var rows [][]string
	for _, g := range cost.Hearth.Groups {
		name := g.Name
		if name == "" {
			name = "-"
		}
		rows = append(rows, usageRow(text.Ellipsis(line(name), 60), g.Calls, g.UsageTotals, cost.Hearth.Currency))
	}
	calls := 0
	for _, g := range cost.Hearth.Groups {
		calls += g.Calls
	}
	rows = append(rows, usageRow("together", calls, cost.Totals, cost.Hearth.Currency))
	head := map[string]string{"session": "SESSION", "account": "ACCOUNT", "day": "DAY"}[o.by]
	if head == "" {
		head = "MODEL"
	}
	if err := a.out().table([]string{head, "CALLS", "READ", "FROM CACHE", "WRITTEN", "COST"}, rows); err != nil {
		return err
	}
	var st protocol.UsageStatus
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodUsageStatus, nil, &st); err != nil {
		return err
	}
	return printAllowance(a, st)
}

func usageRow(name string, calls int, u protocol.UsageTotals, currency string) []string {
	return []string{name, strconv.Itoa(calls), strconv.Itoa(u.Input + u.CacheWrite), strconv.Itoa(u.CacheRead), strconv.Itoa(u.Output),
		money(u, currency)}
}

// money never shows an unknown price as nothing.
func money(u protocol.UsageTotals, currency string) string {
	s := fmt.Sprintf("%.4f %s", u.TotalCost, currency)
	switch {
	case u.MissingCostEntries > 0 && u.TotalCost == 0:
		return "not known"
	case u.MissingCostEntries > 0:
		return fmt.Sprintf("%s and what %d calls of unknown price cost", s, u.MissingCostEntries)
	}
	return s
}

func printAllowance(a *app, st protocol.UsageStatus) error {
	h := st.Hearth
	if h == nil {
		return nil
	}
	limit := func(spent, most float64) string {
		s := fmt.Sprintf("%.2f %s", spent, h.Currency)
		if most > 0 {
			s += fmt.Sprintf(" of %.2f", most)
		}
		return s
	}
	if err := a.out().print("\nToday ", limit(h.Today, h.Daily), ", this month ", limit(h.Month, h.Monthly), ".\n"); err != nil ||
		h.Message == "" {
		return err
	}
	return a.out().print(line(h.Message), "\n")
}

func runUsageAllow(ctx context.Context, a *app, p protocol.UsageAllowParams) error {
	if p.Daily == nil && p.Monthly == nil && !p.Once {
		return &failure{exitUsage, "say what to allow", "for example `hearth usage allow --daily 2`, or `--once` for one more answer"}
	}
	var st protocol.UsageStatus
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodUsageAllow, p, &st); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(st)
	}
	if p.Once {
		if err := a.out().print("One answer may go beyond the allowance. A message that waits is answered now.\n"); err != nil {
			return err
		}
	}
	return printAllowance(a, st)
}
