package gateway

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// What keeps the assistant from acting on its own: the audit log, the pause and
// the approvals, and how their news reach people.

// tellWait bounds one message to the owner on a network.
const tellWait = 30 * time.Second

func (g *Gateway) openAudit(ctx context.Context) (err error) {
	g.audit, err = audit.Open(ctx, audit.Options{
		Path: filepath.Join(string(g.opts.Dir), "audit.jsonl"), DB: g.store, Now: g.opts.Now, Redact: g.redactor.Text, Logger: g.log,
	})
	if err != nil {
		return &StartError{What: "The audit log cannot be written", Err: err, Fix: "Check the folder's permissions and free space"}
	}
	return nil
}

// openGuard needs the server, which carries the news.
func (g *Gateway) openGuard(ctx context.Context) (err error) {
	if g.pause, err = pause.Open(g.store, g.opts.Now, g.pauseChanged); err != nil {
		return err
	}
	g.approvals, err = approval.New(ctx, approval.Options{
		DB: g.store, Now: g.opts.Now, NewID: newUUID, Logger: g.log, Epoch: g.bootID,
		Settings:  func(approval.Ask) approval.Settings { return approvalSettings(g.config.Snapshot().Config) },
		Reachable: g.ownerReachable, Requested: g.approvalRequested, Resolved: g.approvalResolved, Used: g.ruleUsed,
	})
	return err
}

func approvalSettings(c config.Config) approval.Settings {
	return approval.Settings{
		Security: approval.Security(c.Tools.Exec.Security), Ask: approval.Mode(c.Tools.Exec.Ask),
		Life: time.Duration(c.Approvals.ExpireSeconds) * time.Second,
	}
}

// ownerReachable reports whether somebody who may decide would hear of an ask.
func (g *Gateway) ownerReachable(a approval.Ask) bool {
	if g.server.Hears(protocol.EventExecApprovalRequested) {
		return true
	}
	_, _, ok := g.ownerChat(a)
	return ok
}

// ownerChat is where on a network the owner wrote what led to an ask; never a
// group, where others read along.
func (g *Gateway) ownerChat(a approval.Ask) (ch channel.Channel, to channel.Target, ok bool) {
	if !a.Owner || a.RunID == "" {
		return nil, to, false
	}
	rec, err := g.session.Why("", a.RunID)
	if err != nil || !rec.Owner {
		return nil, to, false
	}
	r, ok := channel.ParseRoute(rec.Route)
	if !ok || r.Chat != channel.Direct {
		return nil, to, false
	}
	ch = g.channels.find(r.Channel, r.Account)
	return ch, r.Target(""), ch != nil
}

func (g *Gateway) approvalRequested(rec approval.Record) {
	g.audit.Add(audit.Entry{Kind: audit.KindApproval, What: "asked: " + rec.Ask.Title, Session: rec.Ask.SessionKey, Run: rec.Ask.RunID, Facts: askFacts(rec.Ask, rec.ID)})
	g.server.Broadcast(server.Broadcast{Event: protocol.EventExecApprovalRequested, Payload: approvalOf(rec, g.config.Snapshot().Config)})
	if ch, to, ok := g.ownerChat(rec.Ask); ok {
		g.errands.Go(func() { g.tellOwner(ch, to, askWords(rec)) })
	}
}

func (g *Gateway) approvalResolved(rec approval.Record) {
	e := audit.Entry{Kind: audit.KindApproval, What: string(rec.State) + ": " + rec.Ask.Title, Who: rec.By, Session: rec.Ask.SessionKey, Run: rec.Ask.RunID, Facts: askFacts(rec.Ask, rec.ID)}
	e.Facts["scope"], e.Facts["reason"] = string(rec.Scope), rec.Reason
	g.audit.Add(e)
	g.server.Broadcast(server.Broadcast{Event: protocol.EventExecApprovalResolved, Payload: protocol.ApprovalResolved{
		ID: rec.ID, Decision: decisionOf(rec), ResolvedBy: rec.By, TS: rec.DecidedAt, HearthScope: string(rec.Scope), State: string(rec.State), Reason: rec.Reason,
		Request: approvalOf(rec, g.config.Snapshot().Config).Request,
	}})
	if rec.State != approval.StateExpired {
		return
	}
	if ch, to, ok := g.ownerChat(rec.Ask); ok {
		g.errands.Go(func() { g.tellOwner(ch, to, "Nobody decided in time, so it was not done: "+rec.Ask.Title) })
	}
}

func (g *Gateway) ruleUsed(a approval.Ask, r approval.Rule) {
	what := "allowed by a rule: "
	if !r.Scope.Allows() {
		what = "forbidden by a rule: "
	}
	g.audit.Add(audit.Entry{Kind: audit.KindApproval, What: what + a.Title, Who: r.By, Session: a.SessionKey, Run: a.RunID, Facts: askFacts(a, r.ID)})
}

func askFacts(a approval.Ask, id string) map[string]string {
	facts := map[string]string{"id": id, "kind": string(a.Kind), "command": a.Command, "dir": a.Dir, "path": a.Path, "host": a.Host}
	if a.Command == "" {
		facts["command"] = strings.Join(a.Argv, " ")
	}
	for k, v := range facts {
		if v == "" {
			delete(facts, k)
		}
	}
	return facts
}

// tellOwner does not pass the outbox: a question that is lost expires.
func (g *Gateway) tellOwner(ch channel.Channel, to channel.Target, text string) {
	ctx, cancel := context.WithTimeout(g.life, tellWait)
	defer cancel()
	if _, err := ch.Send(ctx, channel.Message{To: to, Text: text}); err != nil {
		g.log.Warn("the owner could not be asked on a network", "channel", ch.ID(), "err", err)
	}
}

// shownBytes is how much of a question stands in one message; more is decided
// where all of it can be read (A-EXEC-13). shownRows are the lines of a script
// that stand there; the whole is elsewhere.
const (
	shownBytes = 3000
	shownRows  = 12
)

// tooLong is said where a question does not fit, so that it cannot be answered there.
const tooLong = "It is too long to show here: read it and decide in the page or with `hearth approvals`."

// askBody is all of a request, and whether it fits into a message.
func askBody(rec approval.Record) (string, bool) {
	var b strings.Builder
	title, cut := rec.Ask.Title, false
	if first, _, more := strings.Cut(title, " ⏎ "); more || len(title) > 400 {
		title, cut = first[:min(len(first), 400)], true // the lines say it whole
	}
	b.WriteString(strings.ToValidUTF8(title, ""))
	if cut {
		b.WriteString(" …")
	}
	b.WriteString("\n\n")
	for _, l := range rec.Ask.Lines {
		if slices.Contains(rec.Ask.Warnings, l) {
			l = "⚠ " + l
		}
		b.WriteString(l + "\n")
	}
	for _, s := range rec.Ask.Scripts {
		b.WriteString("\nThe text of " + s.Path + ":\n")
		for _, l := range s.Head(shownRows, "`hearth approvals show "+approval.ShortID(rec.ID)+"` and the page have the whole") {
			b.WriteString("  " + l + "\n")
		}
		if s.Text == "" {
			b.WriteString("  " + s.Why + "\n")
		}
	}
	if rec.Ask.Why != "" {
		b.WriteString("\nWhy: " + plan.Show(rec.Ask.Why) + "\n")
	}
	return b.String(), b.Len() <= shownBytes
}

// askWords is a request as a message.
func askWords(rec approval.Record) string {
	body, fits := askBody(rec)
	if !fits {
		return "May I do something? " + tooLong
	}
	var b strings.Builder
	b.WriteString("May I do this?\n\n" + body)
	if rec.Asked > 1 {
		fmt.Fprintf(&b, "\nThis is question %d of this answer.\n", rec.Asked)
	}
	b.WriteString("\nAnswer with one of:\n")
	for _, s := range rec.Ask.Scopes() {
		fmt.Fprintf(&b, "/approve %s %s — %s\n", approval.ShortID(rec.ID), s, scopeWords(s))
	}
	return b.String()
}

func scopeWords(s approval.Scope) string {
	switch s {
	case approval.ScopeOnce:
		return "this time"
	case approval.ScopeSession:
		return "exactly this, in this session"
	case approval.ScopeHere:
		return "exactly this here, for 90 days"
	case approval.ScopeProgram:
		return "this program with any arguments in this folder, for 90 days"
	case approval.ScopeFolder:
		return "reading all that is in this folder, for 90 days"
	case approval.ScopeDeny:
		return "no"
	case approval.ScopeNever:
		return "never exactly this here"
	}
	return string(s)
}

func (g *Gateway) pauseChanged(st pause.State) {
	g.audit.Add(audit.Entry{Kind: audit.KindPause, What: "the pause is now " + string(st.Level), Who: st.By, Facts: map[string]string{"reason": st.Reason}})
	g.log.Info("the pause was switched", "level", string(st.Level), "by", st.By)
	g.server.Broadcast(server.Broadcast{Event: protocol.EventPause, Payload: st.Wire()})
}

// audited notes who was let in, and who was not.
type audited struct{ g *Gateway }

func (a audited) Authenticate(ctx context.Context, at pairing.Attempt) (*pairing.Grant, *protocol.Error) {
	grant, err := a.g.pairing.Authenticate(ctx, at)
	e := audit.Entry{Kind: audit.KindAuth, Facts: map[string]string{"from": at.Source.String(), "origin": at.Origin}}
	if at.Params != nil {
		e.Who = at.Params.Client.ID
	}
	if err != nil {
		e.What, e.Facts["code"] = "a client was turned away: "+err.Message, string(err.Code)
		a.g.audit.Add(e)
		return grant, err
	}
	e.What = "a client was let in"
	e.Facts["method"], e.Facts["device"], e.Facts["scopes"] = grant.Method, grant.DeviceID, scopeList(grant.Scopes)
	a.g.audit.Add(e)
	return grant, err
}

func scopeList(scopes []protocol.Scope) string {
	list := make([]string, len(scopes))
	for i, s := range scopes {
		list[i] = string(s)
	}
	return strings.Join(list, " ")
}
