package hooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/handler"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/uuid"
	"github.com/hearth-assistant/hearth/gateway/workspace"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// bootFile is what boot-md does.
const bootFile = "BOOT.md"

// settleDown is how long Hearth has to work before a start asks a model by itself,
// unless somebody is there: one that crashes at once must not spend money each time.
const settleDown = time.Minute

// bootPrompt is what a model reads before what stands in BOOT.md.
const bootPrompt = "[Hearth has just started. Nobody reads along. Do what BOOT.md says, exactly and nothing more. Your last reply is " +
	"told to the person; reply NO_REPLY if there is nothing to tell.]\n\nBOOT.md:\n"

// bootMD hands BOOT.md to the assistants after a start.
type bootMD struct{ i *inside }

func (b bootMD) do(ctx context.Context, _ event) (handler.Reply, error) {
	done := map[string]bool{}
	var failed error
	for _, who := range b.i.o.Agents.Book().All() {
		text := b.read(who.Workspace)
		if done[who.Workspace] || text == "" {
			continue
		}
		done[who.Workspace] = true
		if err := b.settled(ctx); err != nil {
			return handler.Reply{}, err
		}
		if err := b.one(ctx, who, text); err != nil {
			failed = errors.Join(failed, fmt.Errorf("BOOT.md of %s: %w", who.ID, err))
		}
	}
	return handler.Reply{}, failed
}

// read is what stands in a BOOT.md, "" for nothing.
func (b bootMD) read(dir string) string {
	for _, f := range b.i.o.Inside.Files.Load(dir, []string{bootFile}, workspace.Limits{}) {
		return strings.TrimSpace(f.Text)
	}
	return ""
}

// settled waits until a model may be asked.
func (b bootMD) settled(ctx context.Context) error {
	for end := time.Now().Add(settleDown); time.Now().Before(end); {
		for _, p := range b.i.o.Inside.Clients.Presence() {
			if p.Reason != "self" {
				end = time.Time{}
			}
		}
		if end.IsZero() {
			break
		}
		if err := sleep.For(ctx, time.Second); err != nil {
			return err
		}
	}
	return b.i.o.Inside.Pause.Check(pause.CallModel)
}

func (b bootMD) one(ctx context.Context, who agents.Agent, text string) error {
	o := b.i.o
	id := uuid.New()
	key, err := o.Agents.Canonical("boot:"+id, who.ID)
	if err != nil {
		return err
	}
	main := rules.Main(o.Settings, who.ID)
	defer func() { _, _ = o.Sessions.Delete(context.WithoutCancel(ctx), key, false) }()
	acc, err := o.Dispatch.AcceptWords(ctx, session.Turn{
		RunID: "boot:" + id, SessionKey: key, Title: "Boot", Text: "Boot", ForAgent: bootPrompt + text, Owner: true, Mode: session.Followup,
		Relay: session.Relay{From: main, Tool: "boot"},
	}, false)
	if err != nil {
		return err
	}
	out, err := o.Sessions.Wait(ctx, acc.Run.ID)
	switch {
	case err != nil:
		return err
	case out.Message == nil || out.Run.State != session.RunAnswered:
		return fmt.Errorf("it was not answered: %s", out.Run.ErrorText)
	}
	said := strings.TrimSpace(out.Message.Text())
	if said == "" || strings.EqualFold(said, "NO_REPLY") {
		return nil
	}
	_, err = o.Sessions.Inject(ctx, main, said, "Boot")
	return err
}
