package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/session"
)

func (f *feature) cmdStatus(ctx context.Context, key, _ string) (string, error) {
	if !command.SpeakerIn(ctx).Owner {
		return f.guestStatus(key)
	}
	row, _, err := f.o.Sessions.Get(key)
	if err != nil {
		return "", err
	}
	p, override := f.o.Sessions.QueueOf(key)
	queue := string(p.Mode)
	if override != nil {
		queue += ", set for this session"
	}
	active, queued := f.o.Sessions.Load()
	var b strings.Builder
	fmt.Fprintf(&b, "**Hearth %s**\n\n", f.o.Version)
	fmt.Fprintf(&b, "- Model: %s\n", f.o.Choice.Words(row))
	fmt.Fprintf(&b, "- Context: %s\n", f.o.Choice.WindowWords(row))
	fmt.Fprintf(&b, "- Session: `%s`, %d messages\n", key, row.MessageCount)
	fmt.Fprintf(&b, "- Tokens: %d in, %d out; summaries: %d\n", row.InputTokens, row.OutputTokens, row.CompactionCount)
	fmt.Fprintf(&b, "- Thinking: %s, tool activity: %s, reasoning: %s\n", orOff(row.ThinkingLevel), orOff(row.VerboseLevel),
		orOff(row.ReasoningLevel))
	fmt.Fprintf(&b, "- Queue: %s\n", queue)
	fmt.Fprintf(&b, "- Running: %d answers, %d messages waiting\n", active, queued)
	fmt.Fprintf(&b, "- Up for %s\n", f.o.Now().Sub(f.o.Started).Round(time.Second))
	for _, pr := range f.o.Problems.All() {
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

func (f *feature) cmdContext(_ context.Context, key, args string) (string, error) {
	parts, err := f.o.Prompt.Parts(key)
	if err != nil {
		return "", err
	}
	if parts, err = f.o.Sessions.Context(key, parts); err != nil {
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
		b.WriteString(indent)
		fmt.Fprintf(&b, "- %s: %d bytes\n", p.Name, p.Bytes)
	}
	if args != "detail" {
		b.WriteString("\n`/context detail` shows each part.")
	}
	return b.String(), nil
}

func (f *feature) cmdCompact(ctx context.Context, key, args string) (string, error) {
	if args == "restore" {
		return "The model sees the whole conversation again.", f.o.Sessions.Restore(ctx, key)
	}
	c, err := f.o.Sessions.Compact(ctx, key, args)
	switch {
	case errors.Is(err, session.ErrNothingToCompact), errors.Is(err, session.ErrNotFound):
		return "There is nothing to summarize yet.", nil
	case err != nil:
		return "", err
	}
	return fmt.Sprintf("Summarized %d entries. Nothing was deleted: `/compact restore` brings them back before the model.", c.Entries), nil
}

// guestStatus tells about the conversation and nothing of the settings, the
// other conversations or the computer.
func (f *feature) guestStatus(key string) (string, error) {
	row, _, err := f.o.Sessions.Get(key)
	if err != nil {
		return "", err
	}
	state := "Hearth is here."
	if row.HasActiveRun {
		state = "Hearth is answering."
	}
	return fmt.Sprintf("%s This conversation has %s.", state, command.Counted(row.MessageCount, "message")), nil
}
