// Package sessions is the feature of conversations as such: the methods
// sessions.*, earlier conversations, exporting a transcript, and the commands
// that show or change a session (/status, /context, /new, /reset, /compact,
// /think, /verbose, /reasoning, /send). Sessions and their transcripts
// are package session's.
package sessions

import (
	"context"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/problem"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/spend"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/subagent"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// Prompt tells what a model is given.
type Prompt interface {
	// Parts are those of the prompt that the next message of a session would get.
	Parts(sessionKey string) ([]session.Part, error)
}

// Options are the parts that the feature needs; all of them.
type Options struct {
	Sessions *session.Manager
	Dispatch *dispatch.Dispatcher
	Agents   *agents.Directory
	Settings *config.File
	Choice   *choice.Chooser
	Models   *provider.Registry
	DB       *store.DB
	Ledger   *spend.Ledger
	Secrets  *redact.Redactor
	Children *subagent.Book // sub-agents
	Clock    *clock.Clock
	Prompt   Prompt
	Problems *problem.Board
	Version  string
	Started  time.Time
	Now      func() time.Time
}

type feature struct{ o Options }

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{o}
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodSessionsList, f.list),
			method.Plain(protocol.MethodSessionsGet, f.get),
			method.Plain(protocol.MethodSessionsCreate, f.create),
			method.Plain(protocol.MethodSessionsPatch, f.patch),
			method.Plain(protocol.MethodSessionsReset, f.reset),
			method.Called(protocol.MethodSessionsDelete, f.remove),
			method.Plain(protocol.MethodSessionsDescribe, f.describe),
			method.Plain(protocol.MethodSessionsResolve, f.resolve),
			method.Plain(protocol.MethodSessionsPreview, f.preview),
			method.Plain(protocol.MethodSessionsCompact, f.compact),
			method.Plain(protocol.MethodSessionsAbort, f.abort),
			method.Plain(protocol.MethodSessionsUsage, f.usage),
			method.Plain(protocol.MethodBranchesList, f.branches),
			method.Plain(protocol.MethodBranchesSwitch, f.switchBranch),
			method.Plain(protocol.MethodSessionsRewind, f.rewind),
			method.Plain(protocol.MethodSessionsFork, f.fork),
			method.Plain(protocol.MethodEarlier, f.earlier),
			method.Plain(protocol.MethodContinue, f.resume),
			method.Plain(protocol.MethodTranscriptExport, f.export),
			watchSessions(protocol.MethodSessionsSubscribe, true),
			watchSessions(protocol.MethodSessionsUnsubscribe, false),
			f.watchMessages(protocol.MethodSessionsMessagesSubscribe, true),
			f.watchMessages(protocol.MethodSessionsMessagesUnsubscribe, false),
		},
		Tools:    f.tools(),
		Commands: f.commands(),
	}
}

const maxLabel = 512

func (f *feature) list(ctx context.Context, p protocol.SessionsListParams) (protocol.SessionsList, error) {
	list, err := f.o.Sessions.List(ctx, p)
	list.Defaults = f.o.Choice.SessionDefaults()
	return list, err
}

func (f *feature) get(ctx context.Context, p protocol.SessionKeyParams) (protocol.SessionsGetResult, error) {
	key, err := f.o.Agents.Canonical(p.Key, p.AgentID)
	if err != nil {
		return protocol.SessionsGetResult{}, err
	}
	h, err := f.o.Sessions.History(ctx, key, protocol.ChatHistoryParams{Limit: p.Limit})
	if err != nil {
		return protocol.SessionsGetResult{}, err
	}
	res := protocol.SessionsGetResult{Messages: h.Messages}
	row, ok, err := f.o.Sessions.Get(key)
	if ok {
		res.Session = &row
	}
	return res, err
}

func (f *feature) create(ctx context.Context, p protocol.SessionsCreateParams) (protocol.SessionsCreateResult, error) {
	key := p.Key
	if key == "" {
		key = "chat:" + uuid.New()
	}
	var res protocol.SessionsCreateResult
	key, err := f.o.Agents.Canonical(key, p.AgentID)
	if err != nil {
		return res, err
	}
	if err := f.o.Dispatch.Answers(key); err != nil {
		return res, err
	}
	if err := checkLabel(protocol.MethodSessionsCreate, p.Label); err != nil {
		return res, err
	}
	if p.Model != "" {
		if err := f.o.Choice.Check(p.Model); err != nil {
			return res, protocol.InvalidParams(protocol.MethodSessionsCreate, "%v", err)
		}
	}
	row, err := f.o.Sessions.Create(ctx, key, p.Label, p.Model)
	if err != nil {
		return res, err
	}
	res = protocol.SessionsCreateResult{OK: true, Key: key, SessionID: row.SessionID, Entry: entryOf(row)}
	if p.Message == "" {
		return res, nil
	}
	if p.IdempotencyKey == "" {
		p.IdempotencyKey = uuid.New()
	}
	turn, err := f.o.Dispatch.Turn(protocol.MethodChatSend, key, "", p.Message, p.IdempotencyKey, 0)
	if err != nil {
		return res, err
	}
	turn.Expected.OrNone = true
	acc, err := f.o.Dispatch.Accept(ctx, turn)
	res.RunStarted, res.RunID = err == nil, acc.Run.ID
	return res, err
}

func entryOf(r session.Row) protocol.SessionEntry {
	return protocol.SessionEntry{SessionID: r.SessionID, UpdatedAt: r.UpdatedAt, CreatedAt: r.CreatedAt, Label: r.Label,
		ArchivedAt: r.WhenArchived()}
}

func checkLabel(method, label string) error {
	if len(label) > maxLabel {
		return protocol.InvalidParams(method, "label has %d bytes, at most %d are allowed", len(label), maxLabel)
	}
	return nil
}
