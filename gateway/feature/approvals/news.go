package approvals

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/words"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/question"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// Reachable implements approval.Observer.
func (f *feature) Reachable(a approval.Ask) bool {
	return f.o.Clients.Hears(protocol.EventExecApprovalRequested) || a.Owner && f.o.Owner.Reaches(a.RunID)
}

// Requested implements approval.Observer.
func (f *feature) Requested(rec approval.Record) {
	f.o.Audit.Add(audit.Entry{Kind: audit.KindApproval, What: "asked: " + rec.Ask.Title, Session: rec.Ask.SessionKey, Run: rec.Ask.RunID,
		Facts: askFacts(rec.Ask, rec.ID)})
	shown := approvalOf(rec, f.o.Settings.Snapshot().Config)
	f.o.Clients.Broadcast(server.Broadcast{Event: protocol.EventExecApprovalRequested, Payload: shown})
	f.ask(rec)
}

// Resolved implements approval.Observer.
func (f *feature) Resolved(rec approval.Record) {
	e := audit.Entry{Kind: audit.KindApproval, What: string(rec.State) + ": " + rec.Ask.Title, Who: rec.By, Session: rec.Ask.SessionKey,
		Run: rec.Ask.RunID, Facts: askFacts(rec.Ask, rec.ID)}
	e.Facts["scope"], e.Facts["reason"] = string(rec.Scope), rec.Reason
	f.o.Audit.Add(e)
	f.o.Clients.Broadcast(server.Broadcast{Event: protocol.EventExecApprovalResolved, Payload: protocol.ApprovalResolved{
		ID: rec.ID, Decision: decisionOf(rec), ResolvedBy: rec.By, TS: rec.DecidedAt, HearthScope: string(rec.Scope), State: string(rec.State),
		Reason:  rec.Reason,
		Request: approvalOf(rec, f.o.Settings.Snapshot().Config).Request,
	}})
	f.o.Owner.Over(subject(rec.ID), words.Ended(rec))
	if rec.State != approval.StateExpired {
		return
	}
	f.tell(rec.Ask, "Nobody decided in time, so it was not done: "+rec.Ask.Title)
}

// Used implements approval.Observer.
func (f *feature) Used(a approval.Ask, r approval.Rule) {
	what := "allowed by a rule: "
	if !r.Scope.Allows() {
		what = "forbidden by a rule: "
	}
	f.o.Audit.Add(audit.Entry{Kind: audit.KindApproval, What: what + a.Title, Who: r.By, Session: a.SessionKey, Run: a.RunID,
		Facts: askFacts(a, r.ID)})
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

// subject is what questions about a request are about.
func subject(id string) string { return subjectPrefix + id }

const subjectPrefix = "approval:"

// ask asks the owner who asked for what led to a request.
func (f *feature) ask(rec approval.Record) {
	if !rec.Ask.Owner {
		return
	}
	asked, fits := words.Asked(rec)
	q := question.Question{Subject: subject(rec.ID), Text: asked, Until: time.UnixMilli(rec.ExpiresAt)}
	for _, s := range rec.Ask.Scopes() {
		o := question.Option{Label: capital(words.Scope(s)), Says: words.Answer(rec, s), Tone: channel.Danger}
		if s == approval.ScopeOnce {
			o.Tone = channel.Good
		} else if s.Allows() {
			o.Tone = channel.Plain
		}
		q.Options = append(q.Options, o)
	}
	if !fits {
		q.Options = nil
	}
	f.o.Owner.Ask(rec.Ask.RunID, q, words.Question(rec))
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// takeUp ends the questions that an earlier run of the gateway left: what they were
// about is over.
func (f *feature) takeUp(context.Context) error {
	open, err := f.o.Owner.Open()
	if err != nil {
		return fmt.Errorf("look for questions that were left: %w", err)
	}
	for _, s := range open {
		id, ours := strings.CutPrefix(s, subjectPrefix)
		if !ours {
			continue
		}
		rec, err := f.o.Broker.Get(id)
		switch {
		case err != nil:
			f.o.Owner.Over(s, "Hearth was restarted before anybody decided, so it was not done.")
		case rec.State != approval.StatePending:
			f.o.Owner.Over(s, cmp.Or(rec.Reason, words.Ended(rec)))
		}
	}
	return nil
}

// tell sends words to the owner who asked for what led to a request.
func (f *feature) tell(a approval.Ask, text string) {
	if a.Owner {
		f.o.Owner.Tell(a.RunID, text)
	}
}
