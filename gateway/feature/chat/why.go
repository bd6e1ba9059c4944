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
	fmt.Fprintf(&b, "- State: %s\n", stateWords(w.State))
	if w.Model != "" {
		fmt.Fprintf(&b, "- Model: %s\n", w.Model)
	}
	fmt.Fprintf(&b, "- Message id `%s`\n\n", w.RunID)
	if len(w.Reasons) == 0 {
		b.WriteString("No rule had to decide anything.")
		return b.String(), nil
	}
	b.WriteString("What decided:\n\n")
	for _, r := range w.Reasons {
		fmt.Fprintf(&b, "- %s\n", ruleWords(r))
	}
	return b.String(), nil
}

func (f *feature) explain(p protocol.WhyParams) (protocol.Why, error) {
	rec, err := f.o.Sessions.Why(p.Key, p.RunID)
	if err != nil {
		return protocol.Why{}, err
	}
	w := protocol.Why{
		RunID: rec.ID, SessionKey: rec.SessionKey, State: rec.State.Receipt(), Model: rec.AnsweredBy, AcceptedAt: rec.AcceptedAt,
		StartedAt: rec.StartedAt, EndedAt: rec.EndedAt, Attempts: rec.Attempt, AnsweredIn: rec.Into, Reasons: []protocol.WhyReason{},
	}
	for _, r := range rec.Trace {
		w.Reasons = append(w.Reasons, protocol.WhyReason(r))
	}
	return w, nil
}

// stateWords is how far the answer of a message is, as the page has it.
func stateWords(state protocol.ReceiptState) string {
	switch state {
	case protocol.ReceiptAccepted:
		return "Received"
	case protocol.ReceiptAnswering:
		return "Being answered"
	case protocol.ReceiptAnswered:
		return "Answered"
	case protocol.ReceiptFailed:
		return "Not answered"
	case protocol.ReceiptAborted:
		return "Stopped"
	case protocol.ReceiptDropped:
		return "Gave way"
	case protocol.ReceiptInterrupted:
		return "Interrupted"
	}
	return string(state)
}

// ruleWords is what a rule decided, behind what kind of decision it is.
func ruleWords(r protocol.WhyReason) string {
	switch r.Rule {
	case protocol.WhyModel, protocol.WhyLevels:
		return fmt.Sprintf("Model: %s", r.Detail)
	case protocol.WhyTool:
		return fmt.Sprintf("Tool: %s", r.Detail)
	case protocol.WhyFallback, protocol.WhyNotice:
		return fmt.Sprintf("Another model: %s", r.Detail)
	case protocol.WhySkipped:
		return fmt.Sprintf("Not asked: %s", r.Detail)
	case protocol.WhyCompacted:
		return fmt.Sprintf("Summarized: %s", r.Detail)
	case protocol.WhyRetried, protocol.WhyResumed:
		return fmt.Sprintf("Attempts: %s", r.Detail)
	case protocol.WhyEnded, protocol.WhySilent:
		return fmt.Sprintf("Ended: %s", r.Detail)
	case protocol.WhySteer, protocol.WhyFollowup, protocol.WhyCollect, protocol.WhyInterrupt:
		return fmt.Sprintf("Together: %s", r.Detail)
	}
	return string(r.Rule) + ": " + r.Detail
}
