package gateway

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
)

func isNotFound(err error) bool { return errors.Is(err, session.ErrNotFound) }

func (g *Gateway) cmdStatus(ctx context.Context, key, _ string) (string, error) {
	if !command.SpeakerIn(ctx).Owner {
		return g.guestStatus(key)
	}
	row, _, err := g.session.Get(key)
	if err != nil {
		return "", err
	}
	p, override := g.session.QueueOf(key)
	queue := string(p.Mode)
	if override != nil {
		queue += " (set for this session)"
	}
	active, queued := g.session.Load()
	var b strings.Builder
	fmt.Fprintf(&b, "**Hearth %s**\n\n", g.opts.Version)
	fmt.Fprintf(&b, "- Model: %s\n", g.choice.Words(row))
	fmt.Fprintf(&b, "- Context: %s\n", g.choice.WindowWords(row))
	fmt.Fprintf(&b, "- Session: `%s`, %d messages\n", key, row.MessageCount)
	fmt.Fprintf(&b, "- Tokens: %d in, %d out; summarized %d times\n", row.InputTokens, row.OutputTokens, row.CompactionCount)
	fmt.Fprintf(&b, "- Thinking: %s, tool activity: %s, reasoning: %s\n", orOff(row.ThinkingLevel), orOff(row.VerboseLevel), orOff(row.ReasoningLevel))
	fmt.Fprintf(&b, "- Queue: %s\n", queue)
	fmt.Fprintf(&b, "- Running: %d answers, %d messages waiting\n", active, queued)
	fmt.Fprintf(&b, "- Up for %s\n", g.opts.Now().Sub(g.started).Round(time.Second))
	for _, pr := range g.problems() {
		fmt.Fprintf(&b, "- **Problem**: %s\n", pr.Message)
	}
	return b.String(), nil
}

func orOff(s string) string {
	if s == "" {
		return "off"
	}
	return s
}

func (g *Gateway) cmdContext(_ context.Context, key, args string) (string, error) {
	parts, err := g.contextParts(key)
	if err != nil {
		return "", err
	}
	if parts, err = g.session.Context(key, parts); err != nil {
		return "", err
	}
	var b strings.Builder
	total := 0
	for _, p := range parts {
		if !p.Detail {
			total += p.Bytes
		}
	}
	fmt.Fprintf(&b, "The model is given about **%d tokens** (%d bytes):\n\n", total/4, total)
	for _, p := range parts {
		if args != "detail" && p.Detail && !p.Listed {
			continue
		}
		indent := ""
		if p.Detail {
			indent = "  "
		}
		fmt.Fprintf(&b, "%s- %s: %d bytes\n", indent, p.Name, p.Bytes)
	}
	if args != "detail" {
		b.WriteString("\n`/context detail` shows each part.")
	}
	return b.String(), nil
}

func (g *Gateway) cmdCompact(ctx context.Context, key, args string) (string, error) {
	if args == "restore" {
		return "The model sees the whole conversation again.", g.session.Restore(ctx, key)
	}
	c, err := g.session.Compact(ctx, key, args)
	switch {
	case errors.Is(err, session.ErrNothingToCompact), isNotFound(err):
		return "There is nothing to summarize yet.", nil
	case err != nil:
		return "", err
	}
	return fmt.Sprintf("Summarized %d entries. Nothing was deleted: `/compact restore` brings them back before the model.", c.Entries), nil
}

// cmdQueue shows or changes how the session queues:
// /queue collect debounce:2s cap:25 drop:old.
func (g *Gateway) cmdQueue(ctx context.Context, key, args string) (string, error) {
	if args == "" {
		p, _ := g.session.QueueOf(key)
		return fmt.Sprintf("Queue: **%s**, debounce %v, cap %d, drop %s. Modes: steer, followup, collect, interrupt.", p.Mode, p.Debounce, p.Cap, p.Drop), nil
	}
	if args == "default" || args == "reset" {
		_, err := g.session.SetQueue(ctx, key, nil)
		return "This session queues like the others again.", err
	}
	o, err := parseQueue(args)
	if err != nil {
		return "Not changed: " + err.Error() + ".", nil
	}
	if _, err := g.session.SetQueue(ctx, key, &o); err != nil {
		return "", err
	}
	p, _ := g.session.QueueOf(key)
	return fmt.Sprintf("Queue: **%s**, debounce %v, cap %d, drop %s.", p.Mode, p.Debounce, p.Cap, p.Drop), nil
}

func parseQueue(args string) (o session.QueueOverride, err error) {
	for _, word := range strings.Fields(strings.ToLower(args)) {
		name, value, isOption := strings.Cut(word, ":")
		switch {
		case !isOption:
			o.Mode = session.Mode(word)
		case name == "debounce":
			d, perr := time.ParseDuration(value)
			if perr != nil {
				ms, nerr := strconv.Atoi(value)
				if nerr != nil {
					return o, fmt.Errorf("debounce takes a time such as 500ms or 2s, not %q", value)
				}
				d = time.Duration(ms) * time.Millisecond
			}
			o.DebounceMs = d.Milliseconds()
		case name == "cap":
			if o.Cap, err = strconv.Atoi(value); err != nil {
				return o, fmt.Errorf("cap takes a number, not %q", value)
			}
		case name == "drop":
			o.Drop = session.Drop(value)
		default:
			return o, fmt.Errorf("%q is not an option of the queue; use debounce, cap or drop", name)
		}
	}
	return o, o.Check()
}

func (g *Gateway) cmdWhy(_ context.Context, key, args string) (string, error) {
	w, err := g.whyOf(protocol.WhyParams{Key: key, RunID: args})
	if isNotFound(err) {
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

func (g *Gateway) whyOf(p protocol.WhyParams) (protocol.Why, error) {
	rec, err := g.session.Why(p.Key, p.RunID)
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
