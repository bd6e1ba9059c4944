package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
)

func (f *feature) why(_ context.Context, p protocol.WhyParams) (protocol.Why, error) {
	if p.RunID == "" {
		key, err := f.o.Agents.Canonical(p.Key, "")
		if err != nil {
			return protocol.Why{}, err
		}
		p.Key = key
	}
	return f.explain(p)
}

func (f *feature) cmdWhy(_ context.Context, key, args string) (string, error) {
	w, err := f.explain(protocol.WhyParams{Key: key, RunID: args})
	if errors.Is(err, session.ErrNotFound) {
		return "There is no such message. `/why` alone explains the last one.", nil
	}
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**", w.State)
	if w.Model != "" {
		fmt.Fprintf(&b, " by %s", w.Model)
	}
	b.WriteString("\n\n")
	for _, r := range w.Reasons {
		fmt.Fprintf(&b, "- %s: %s\n", r.Rule, r.Detail)
	}
	fmt.Fprintf(&b, "\nMessage id `%s`", w.RunID)
	return b.String(), nil
}

func (f *feature) explain(p protocol.WhyParams) (protocol.Why, error) {
	rec, err := f.o.Sessions.Why(p.Key, p.RunID)
	if err != nil {
		return protocol.Why{}, err
	}
	w := protocol.Why{
		RunID: rec.ID, SessionKey: rec.SessionKey, State: string(rec.State.Receipt()), Model: rec.AnsweredBy, AcceptedAt: rec.AcceptedAt,
		StartedAt: rec.StartedAt, EndedAt: rec.EndedAt, Attempts: rec.Attempt, AnsweredIn: rec.Into, Reasons: []protocol.WhyReason{},
	}
	for _, r := range rec.Trace {
		w.Reasons = append(w.Reasons, protocol.WhyReason(r))
	}
	return w, nil
}
