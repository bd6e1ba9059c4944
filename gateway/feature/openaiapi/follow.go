package openaiapi

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// follower looks after the runs of programs.
type follower struct{ f *feature }

// Begin stops a run that nobody waits for any more: it was accepted before a
// restart, and its program has left with it.
func (a follower) Begin(run session.Run) {
	if channel.IsAPI(run.Route) && !a.f.o.Server.Begin(run.ID) {
		a.f.o.Work.Go(func(ctx context.Context) { a.f.Stop(ctx, run.SessionKey, run.ID) })
	}
}
func (follower) Think(string, string)                                      {}
func (follower) Tool(string, string, []byte)                               {}
func (follower) End(context.Context, session.Run, *protocol.Message, bool) {}
func (a follower) Say(id, words string)                                    { a.f.o.Server.Say(id, words) }
func (a follower) Intend(id string, msg model.Message, u model.Usage) {
	a.f.o.Server.Intend(id, a.f.o.Code.WithoutPrograms(id, msg), u)
}
func (a follower) Done(id string) { a.f.o.Server.Done(id) }
