package cron

import (
	"cmp"
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// notice is something that the assistant is told by a program.
type notice struct {
	id      string // a second one of the same id changes nothing
	key     string // the conversation
	text    string
	title   string
	now     bool // it is answered at once; otherwise it is read the next time
	outside bool // strangers may have written it
	with    func(tx *store.Tx) error
}

func (n notice) forAgent() string {
	text := n.text
	if n.outside {
		text = untrusted.Wrapper{}.Wrap("“"+untrusted.Clean(n.title)+"”", text)
	}
	return "[This is a message of a program, not of a person. Act on it, or tell the person; reply NO_REPLY if there is nothing to " +
		"tell.]\n" + text
}

// noticed tells the assistant something. When it returns that is on disk.
func (f *feature) noticed(ctx context.Context, n notice) error {
	if n.now {
		_, err := f.Sessions.SubmitWith(ctx, session.Turn{
			RunID: n.id, SessionKey: n.key, Text: n.text, Title: n.title, Owner: true, Mode: session.Followup, ForAgent: n.forAgent(),
			Outside: n.outside,
		}, n.with)
		return err
	}
	_, err := f.Sessions.InjectNote(ctx, n.key, session.Note{
		Label: n.title, Text: n.text, ForAgent: n.forAgent(), Awaits: true, With: n.with,
	})
	return err
}

// wake tells the assistant something: at once, or as a note that it reads with the
// next message of that conversation, or its next heartbeat there.
func (f *feature) wake(ctx context.Context, p protocol.WakeParams) (protocol.OKResult, error) {
	if p.Text == "" || p.Mode != protocol.CronWakeNow && p.Mode != protocol.CronWakeNext {
		return protocol.OKResult{}, protocol.InvalidParams(protocol.MethodWake, "mode is now or next-heartbeat, and text must not be empty")
	}
	agent := cmp.Or(p.AgentID, f.Agents.Book().Default().ID)
	key := rules.Main(f.Settings, agent)
	if p.SessionKey != "" {
		var err error
		if key, err = f.Agents.Canonical(p.SessionKey, agent); err != nil {
			return protocol.OKResult{}, err
		}
	}
	err := f.noticed(ctx, notice{id: "wake:" + uuid.New(), key: key, text: p.Text, title: "Wake", now: p.Mode == protocol.CronWakeNow})
	return protocol.OKResult{OK: err == nil}, err
}

// leave does a job that is only to be read the next time: its words and the end of
// the run are one transaction.
func (f *feature) leave(ctx context.Context, r job.Run) {
	defer f.works(r.RunID, false)
	key, err := f.target(r.JobID, &r, f.agentOf(r.Spec))
	if err == nil {
		err = f.noticed(ctx, notice{
			key: key, title: r.JobName, text: f.said(&r), outside: r.Outside, with: func(tx *store.Tx) error {
				now, ok, err := f.book.FindIn(tx, r.RunID)
				if err != nil || !ok || now.Stage != job.Claimed {
					return cmp.Or(err, job.ErrTaken)
				}
				return f.book.EndIn(tx, r.RunID, job.Result{Status: protocol.CronOK})
			},
		})
	}
	switch {
	case errors.Is(err, job.ErrTaken):
	case err == nil:
		f.book.Wake()
	case ctx.Err() == nil:
		f.end(ctx, r, job.Result{Status: protocol.CronError, Error: protocol.Sentence(err.Error())})
	}
}
