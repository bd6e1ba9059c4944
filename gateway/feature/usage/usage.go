// Package usage is the feature that tells what models cost and keeps it within
// what the person allows: the methods usage.*, the command /usage, and what
// status says of messages that wait. The ledger is package spend's, the
// allowance package budget's.
package usage

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/spend"
	"github.com/hearth-assistant/hearth/gateway/spend/budget"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Budget   *budget.Budget
	Sessions *session.Manager
	Settings *config.File
	Clock    *clock.Clock
}

type feature struct{ Options }

// New makes the feature.
func New(o Options) host.Feature {
	f := feature{o}
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodUsageCost, f.cost),
			method.Plain(protocol.MethodUsageStatus, f.status),
			method.Plain(protocol.MethodUsageAllow, f.allow),
		},
		Commands: []command.Command{{Spec: command.Spec{
			Name: "usage", Args: "[allow once|daily n|monthly n]", Description: "Show what this session used and cost, or allow more",
			Category: "status", Choices: []string{"allow"},
		}, Do: f.cmdUsage}},
		Problems: f.problems,
	}
}

// problems says that messages wait.
func (f feature) problems() []protocol.Problem {
	if words := f.Budget.Problem(); words != "" {
		return []protocol.Problem{{Code: "ALLOWANCE", Message: words}}
	}
	return nil
}

const (
	usageDays    = 30
	maxUsageDays = 3660
)

// cost tells what was used and what it cost, by day and by what was asked
// for.
func (f feature) cost(_ context.Context, p protocol.UsageCostParams) (protocol.UsageCost, error) {
	out := protocol.UsageCost{UpdatedAt: f.Clock.Now().UnixMilli(), Daily: []protocol.UsageDay{}}
	q, days, err := f.query(p)
	if err != nil {
		return out, err
	}
	name, ok := groupings()[p.GroupBy]
	if !ok {
		return out, protocol.InvalidParams(protocol.MethodUsageCost, "groupBy must be model, session, account or day")
	}
	rows, err := f.Budget.Rows(q)
	if err != nil {
		return out, err
	}
	out.Days, out.Totals = days, usageTotals(spend.Total(rows))
	for _, d := range spend.By(rows, func(r spend.Row) string { return r.Day }) {
		out.Daily = append(out.Daily, protocol.UsageDay{Date: d.Name, UsageTotals: usageTotals(d.Sum)})
	}
	groups := spend.By(rows, name)
	if p.GroupBy != "day" {
		groups = spend.Dearest(groups)
	}
	out.Hearth = &protocol.UsageDetail{Currency: f.Budget.Allowance().Currency, Groups: []protocol.UsageGroup{}}
	of := map[string][]spend.Row{} // by model
	if p.GroupBy == "model" {
		for _, r := range rows {
			of[name(r)] = append(of[name(r)], r)
		}
	}
	for _, x := range groups {
		out.Hearth.Groups = append(out.Hearth.Groups, protocol.UsageGroup{
			Name: x.Name, Calls: x.Calls, Failed: x.Failed, LastAt: x.Last.UnixMilli(), UsageTotals: usageTotals(x.Sum), Daily: daysOf(of[x.Name]),
		})
	}
	return out, nil
}

// daysOf adds the rows of a model up by day.
func daysOf(rows []spend.Row) (out []protocol.UsageGroupDay) {
	for _, d := range spend.By(rows, func(r spend.Row) string { return r.Day }) {
		out = append(out, protocol.UsageGroupDay{Date: d.Name, TotalTokens: d.Usage.Total(), TotalCost: d.Cost().Units()})
	}
	return out
}

func groupings() map[string]func(spend.Row) string {
	byModel := func(r spend.Row) string { return r.Model.String() }
	return map[string]func(spend.Row) string{
		"": byModel, "model": byModel,
		"session": func(r spend.Row) string { return r.Session },
		"account": func(r spend.Row) string { return r.Account },
		"day":     func(r spend.Row) string { return r.Day },
	}
}

func (f feature) query(p protocol.UsageCostParams) (q spend.Query, days int, err error) {
	for name, s := range map[string]string{"startDate": p.StartDate, "endDate": p.EndDate} {
		if _, err := time.Parse(time.DateOnly, s); s != "" && err != nil {
			return q, 0, protocol.InvalidParams(protocol.MethodUsageCost, "%s must be a day like 2026-03-02", name)
		}
	}
	today := f.Clock.Now()
	q = spend.Query{From: p.StartDate, To: p.EndDate, Agent: p.AgentID}
	if q.To == "" {
		q.To = today.Format(time.DateOnly)
	}
	days = p.Days
	if days <= 0 {
		days = usageDays
	}
	days = min(days, maxUsageDays)
	if q.From == "" {
		q.From = today.AddDate(0, 0, 1-days).Format(time.DateOnly)
	}
	return q, days, nil
}

func usageTotals(s spend.Sum) protocol.UsageTotals {
	return protocol.UsageTotals{
		Input: s.Input, Output: s.Output, CacheRead: s.CacheRead, CacheWrite: s.CacheWrite, TotalTokens: s.Usage.Total(),
		TotalCost: s.Cost().Units(), InputCost: s.InputCost.Units(), OutputCost: s.OutputCost.Units(),
		CacheReadCost: s.CacheReadCost.Units(), CacheWriteCost: s.CacheWriteCost.Units(), MissingCostEntries: s.Unpriced,
	}
}

// status tells how the allowance stands.
func (f feature) status(context.Context, method.None) (protocol.UsageStatus, error) {
	out := protocol.UsageStatus{UpdatedAt: f.Clock.Now().UnixMilli(), Providers: []any{}}
	st, err := f.Budget.Standing()
	if err != nil {
		return out, err
	}
	a := f.Budget.Allowance()
	u := &protocol.UsageAllowance{
		Level: map[spend.Level]string{spend.Free: "free", spend.Sparing: "sparing", spend.Used: "used"}[st.Level], Currency: a.Currency,
		Today: st.Day.Units(), Month: st.Month.Units(), Daily: a.Daily.Units(), Monthly: a.Monthly.Units(),
	}
	if ref, ok := f.Budget.Cheap(); ok && a.Any() {
		u.CheapModel = ref.String()
	}
	if !st.Ends.IsZero() {
		u.EndsAt = st.Ends.UnixMilli()
	}
	switch st.Level {
	case spend.Used:
		u.Message = budget.Words(st) + " " + budget.HowOn
	case spend.Sparing:
		u.Message = fmt.Sprintf("%s of the %s allowed for %s are spent; the cheap model answers.", spend.Money(st.Spent, st.Currency),
			spend.Money(st.Limit, st.Currency), st.Period)
	}
	out.Hearth = u
	return out, nil
}

// allow changes the limits, or lets one answer through.
func (f feature) allow(ctx context.Context, p protocol.UsageAllowParams) (protocol.UsageStatus, error) {
	set := func(key string, v *float64) error {
		if v == nil {
			return nil
		}
		path := config.Path{config.Key("hearth"), config.Key("allowance"), config.Key(key)}.String()
		_, err := f.Settings.SetPath(ctx, path, strconv.FormatFloat(*v, 'f', -1, 64))
		return err
	}
	if err := set("daily", p.Daily); err != nil {
		return protocol.UsageStatus{}, err
	}
	if err := set("monthly", p.Monthly); err != nil {
		return protocol.UsageStatus{}, err
	}
	if p.Once {
		f.Budget.Ledger.Pass()
	}
	return f.status(ctx, method.None{})
}
