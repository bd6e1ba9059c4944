package gateway

import (
	"context"
	"path/filepath"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
)

// What keeps the assistant from acting on its own: the audit log, the pause and
// the approvals, and how their news reach people.

func (g *Gateway) openAudit(ctx context.Context) (err error) {
	g.audit, err = audit.Open(ctx, audit.Options{
		Path: filepath.Join(string(g.opts.Dir), "audit.jsonl"), DB: g.store, Now: g.opts.Now, Redact: g.redactor.Text, Logger: g.log,
	})
	if err != nil {
		return &StartError{What: "The audit log cannot be written", Err: err, Fix: "Check the folder's permissions and free space"}
	}
	g.config.Follow(func(s *config.Snapshot) {
		g.audit.Add(audit.Entry{Kind: audit.KindConfig, What: "the settings changed", Facts: map[string]string{"hash": s.Hash, "file": s.Path}})
	})
	return nil
}

// openGuard needs the server, which carries the news.
func (g *Gateway) openGuard(ctx context.Context) (err error) {
	g.pause.Follow(g.pauseChanged)
	g.approvals, err = approval.New(ctx, approval.Options{
		DB: g.store, Now: g.opts.Now, NewID: newUUID, Logger: g.log, Epoch: g.bootID,
		Settings: func(approval.Ask) approval.Settings { return approvalSettings(g.config.Snapshot().Config) },
	})
	g.toolGate = gate.New(gate.Options{Settings: g.config, Agents: g.agents, Audit: g.audit, Pause: g.pause, Broker: g.approvals})
	return err
}

func approvalSettings(c config.Config) approval.Settings {
	return approval.Settings{
		Security: approval.Security(c.Tools.Exec.Security), Ask: approval.Mode(c.Tools.Exec.Ask),
		Life: time.Duration(c.Approvals.ExpireSeconds) * time.Second,
	}
}

func (g *Gateway) pauseChanged(st pause.State) {
	g.audit.Add(audit.Entry{Kind: audit.KindPause, What: "the pause is now " + string(st.Level), Who: st.By,
		Facts: map[string]string{"reason": st.Reason}})
	g.log.Info("the pause was switched", "level", string(st.Level), "by", st.By)
	g.server.Broadcast(server.Broadcast{Event: protocol.EventPause, Payload: st.Wire()})
}
