package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/teardown"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// guard keeps the assistant from acting on its own.
type guard struct {
	pause     *pause.Switch
	approvals *approval.Broker
	gate      *gate.Gate // before every call of a tool
}

func openGuard(ctx context.Context, b *base, a *access, ends *teardown.Stack) (g *guard, err error) {
	g = new(guard)
	if g.pause, err = pause.Open(b.store, b.Now); err != nil {
		return nil, err
	}
	ends.Plain(g.pause.Close)
	if b.asleep.Sleeps() {
		g.pause.Hold("it sleeps: it was moved to another machine")
	}
	g.pause.Follow(func(st pause.State) {
		b.audit.Add(audit.Entry{
			Kind: audit.KindPause, What: "the pause is now " + string(st.Level), Who: st.By, Facts: map[string]string{"reason": st.Reason},
		})
		b.Logger.Info("the pause was switched", "to", string(st.Level), "by", st.By)
		a.server.Broadcast(server.Broadcast{Event: protocol.EventPause, Payload: st.Wire()})
	})
	g.approvals, err = approval.New(ctx, approval.Options{
		Name: func(agent string) string { return b.agents.Named(agent).Name },
		DB:   b.store, Now: b.Now, NewID: uuid.New, Logger: b.Logger, Epoch: b.bootID,
		Settings: func(approval.Ask) approval.Settings { return approval.SettingsOf(b.config.Snapshot().Config) },
	})
	if err != nil {
		return nil, err
	}
	ends.Plain(g.approvals.Close)
	g.gate = gate.New(gate.Options{Settings: b.config, Agents: b.agents, Audit: b.audit, Pause: g.pause, Broker: g.approvals})
	return g, nil
}
