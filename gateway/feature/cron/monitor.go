package cron

import (
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// Monitor is who has jobs of Hearth's own: heartbeats.
type Monitor interface {
	// Jobs are those that are to be, and what their declaration keys begin with.
	Jobs() (prefix string, specs []protocol.CronSpec)
	// Skips says why a look is not worth asking a model, "" when it is.
	Skips(ctx context.Context, j *job.Job) string
	// Turn is what is asked; it says with r.Keeps what is to be known the next time.
	Turn(ctx context.Context, j *job.Job, r *job.Run) (session.Turn, error)
	// Tells is what of an answer a person sees, "" for nothing.
	Tells(agent, answer string) string
	// MayWrite reports whether what was found may go to a chat.
	MayWrite(agent string, r channel.Route) bool
	// Over hears what came of a look.
	Over(ctx context.Context, r job.Run)
}

// monitors reports whether a job is one of Hearth's own.
func monitors(s *protocol.CronSpec) bool { return s != nil && s.Payload.Kind == protocol.CronHeartbeat }

// errNoHeartbeats is why one of Hearth's own jobs does not run.
var errNoHeartbeats = errors.New("heartbeats are switched off; `hearth config set features.heartbeat true` and a restart bring them back")

// declare keeps Hearth's own jobs as the settings have them, until ctx ends.
func (f *feature) declare(ctx context.Context) {
	for {
		var prefix string
		var specs []protocol.CronSpec
		if f.Monitor != nil {
			prefix, specs = f.Monitor.Jobs()
		} else {
			prefix = protocol.CronHeartbeat + ":" // the feature is switched off, and what it left rests
		}
		if err := f.book.Declare(ctx, prefix, specs); err != nil && ctx.Err() == nil {
			f.Logger.Error("Hearth's own jobs are not as the settings have them", "err", err)
		}
		select {
		case <-f.own:
		case <-ctx.Done():
			return
		}
	}
}

// redeclare says that the settings are others now. It does not block.
func (f *feature) redeclare() {
	select {
	case f.own <- struct{}{}:
	default:
	}
}

// monitored makes the turn of one of Hearth's own jobs.
func (f *feature) monitored(ctx context.Context, j *job.Job, r *job.Run) (session.Turn, error) {
	t, err := f.Monitor.Turn(ctx, j, r)
	if err != nil {
		return t, err
	}
	p := r.Spec.Payload
	if t.TimeoutMs = longest.Milliseconds(); p.TimeoutSeconds != nil && *p.TimeoutSeconds > 0 {
		t.TimeoutMs = int64(*p.TimeoutSeconds * 1000)
	}
	if t.Model = p.Model; p.Model != "" {
		if ref, ok := f.Models.Meant(t.SessionKey, p.Model); ok {
			t.Model = ref
		}
	}
	t.Terms = f.terms(j, p, t.SessionKey)
	return t, nil
}

// kept refuses a change of one of Hearth's own jobs.
func kept(j *job.Job) error {
	if !j.System {
		return nil
	}
	return protocol.Invalid("%s is Hearth's own job: agents.defaults.heartbeat in the settings says how often it looks (every: \"0m\" is "+
		"never), and where what it finds goes", j.Name)
}
