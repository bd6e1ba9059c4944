package approvals

import (
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/words"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/protocol"
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
	f.tell(rec.Ask, words.Question(rec))
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

// tell sends words to the owner who asked for what led to a request.
func (f *feature) tell(a approval.Ask, text string) {
	if a.Owner {
		f.o.Owner.Tell(a.RunID, text)
	}
}
