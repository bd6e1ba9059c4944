package usage

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/spend"
	"github.com/hearth-assistant/hearth/gateway/spend/budget"
)

// cmdUsage tells what the session used and what it cost, or allows more:
// /usage allow once, /usage allow daily 5.
func (f feature) cmdUsage(ctx context.Context, key, args string) (string, error) {
	words := strings.Fields(strings.ToLower(args))
	if len(words) > 0 && words[0] == "allow" {
		return f.cmdAllow(ctx, words[1:])
	}
	row, _, err := f.Sessions.Get(key)
	if err != nil {
		return "", err
	}
	rows, err := f.Budget.Rows(spend.Query{Session: key})
	if err != nil {
		return "", err
	}
	st, err := f.Budget.Standing()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "This session read **%d** tokens and wrote **%d**. It cost **%s**.\n", row.InputTokens, row.OutputTokens,
		costWords(spend.Total(rows), st.Currency))
	a := f.Budget.Allowance()
	fmt.Fprintf(&b, "\nToday all sessions cost %s, this month %s.", ofLimit(st.Day, a.Daily, st.Currency),
		ofLimit(st.Month, a.Monthly, st.Currency))
	if st.Level == spend.Used {
		b.WriteString("\n\n" + budget.Words(st) + " " + budget.HowOn)
	}
	return b.String(), nil
}

// costWords never shows an unknown price as nothing.
func costWords(s spend.Sum, currency string) string {
	switch {
	case s.Unpriced > 0 && s.Cost() == 0:
		return "an amount that is not known"
	case s.Unpriced > 0:
		return fmt.Sprintf("%s and what %d calls of unknown price cost", spend.Money(s.Cost(), currency), s.Unpriced)
	}
	return spend.Money(s.Cost(), currency)
}

func ofLimit(spent, most spend.Nano, currency string) string {
	if most > 0 {
		return spend.Money(spent, currency) + " of " + spend.Money(most, currency)
	}
	return spend.Money(spent, currency)
}

// cmdAllow spends the person's money, so it counts only from those who may change
// settings, as hearth.usage.allow does (A-DOS-09).
func (f feature) cmdAllow(ctx context.Context, words []string) (string, error) {
	if d, ok := approval.DeciderIn(ctx); !ok || !d.Settings {
		return "You cannot allow more from here: this client has no right to. Use the page on this machine, or `hearth usage allow`.", nil
	}
	var p protocol.UsageAllowParams
	amount := func() (*float64, bool) {
		if len(words) != 2 {
			return nil, false
		}
		v, err := strconv.ParseFloat(words[1], 64)
		return &v, err == nil && v >= 0 && v < 1e9
	}
	ok := len(words) > 0
	if ok {
		switch words[0] {
		case "once":
			p.Once, ok = true, len(words) == 1
		case "daily", "day":
			p.Daily, ok = amount()
		case "monthly", "month":
			p.Monthly, ok = amount()
		default:
			ok = false
		}
	}
	if !ok {
		return "Allow what? `/usage allow once` lets one answer through, `/usage allow daily 5` and `/usage allow monthly 50` set the limits.",
			nil
	}
	if _, err := f.allow(ctx, p); err != nil {
		return "", err
	}
	if p.Once {
		return "One answer may go beyond the allowance. A message that waits is answered now.", nil
	}
	return "The allowance is changed. Messages that wait are answered as far as it goes.", nil
}
