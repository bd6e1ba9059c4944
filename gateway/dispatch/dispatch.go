// Package dispatch is the one entrance of messages. Whoever has one for an
// assistant (the page, a terminal, a messaging network, a program, another
// session) hands it in here; a command, a word that begins a new session, levels
// asked for in the text and the slash command of a skill are carried out, a
// session that has become old begins anew, and everything else is accepted by
// package session, which is durable when Accept returns.
//
// It does not own who may write (package inbound), what commands do (their
// features) nor how answers are made (package session).
package dispatch

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/attachment/handin"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/document"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/incident"
	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/scope"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/skill"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// MaxTimeout is the longest that a message may ask an answer to take.
const MaxTimeout = 24 * time.Hour

// Secrets knows what looks like a key.
type Secrets interface {
	Has(text string) bool
}

// Skills are those that a slash calls.
type Skills interface {
	// Called finds the skill that a slash command means in a session, by the name
	// behind the slash.
	Called(scope tool.Scope, name string) (skill.Command, bool)
	// Commands are the slash commands of the default agent's skills.
	Commands() []skill.Command
	// Run has the tool that a skill names do its work, and returns what it says.
	Run(ctx context.Context, scope tool.Scope, s skill.Status, name, args string) (string, error)
}

// Groups say which skills may be called in the group of a route, and what people call a
// network.
type Groups interface {
	GroupSkill(r channel.Route, skill string) bool
	Label(network string) string
}

// Notes are what an assistant remembers of the last days.
type Notes interface {
	// Recent are those that the agent of a turn may read, "" for none.
	Recent(ctx context.Context, turn session.Turn) string
}

// Options are the parts that a Dispatcher needs; all of them.
type Options struct {
	Settings  *config.File
	Agents    *agents.Directory
	Sessions  *session.Manager
	Models    *choice.Chooser
	Registry  *provider.Registry
	Contacts  *contact.Book
	Media     *media.Store // pictures of messages
	Dir       statedir.Dir // of files that wait for their message
	Reader    *document.Reader
	Incidents *incident.Log
	Secrets   Secrets
	Scopes    *scope.Scopes
	Groups    Groups
	Logger    *slog.Logger
	Now       func() time.Time
}

// Dispatcher takes messages. Its methods may be called from several goroutines,
// once SetCommands was.
type Dispatcher struct {
	settings  *config.File
	agents    *agents.Directory
	sessions  *session.Manager
	models    *choice.Chooser
	registry  *provider.Registry
	contacts  *contact.Book
	media     *media.Store
	desk      *handin.Desk
	incidents *incident.Log
	secrets   Secrets
	scopes    *scope.Scopes
	groups    Groups
	notes     Notes
	log       *slog.Logger
	now       func() time.Time

	commands *command.Set
	skills   Skills   // nil for none
	pasted   sync.Map // ids of runs whose message holds what looks like a key
}

// New returns a dispatcher that knows no commands yet.
func New(o Options) *Dispatcher {
	desk := handin.New(handin.Options{Dir: o.Dir, Reader: o.Reader, Now: o.Now, Workspace: func(key string) string {
		return o.Agents.Named(session.AgentOf(key)).Workspace
	}})
	return &Dispatcher{
		settings: o.Settings, agents: o.Agents, sessions: o.Sessions, models: o.Models, registry: o.Registry, contacts: o.Contacts,
		media: o.Media, desk: desk,
		incidents: o.Incidents, secrets: o.Secrets, scopes: o.Scopes, groups: o.Groups, log: o.Logger, now: o.Now, commands: command.NewSet(),
	}
}

// SetCommands says what the slash commands are. It is called once, before the
// first message.
func (d *Dispatcher) SetCommands(all *command.Set) { d.commands = all }

// SetNotes says who remembers the last days, nil for nobody. It is called before
// the first message.
func (d *Dispatcher) SetNotes(n Notes) { d.notes = n }

// SetSkills says which skills there are, nil for none. It is called before the
// first message.
func (d *Dispatcher) SetSkills(s Skills) { d.skills = s }

// SkillCommands are the slash commands of the default agent's skills.
func (d *Dispatcher) SkillCommands() []skill.Command {
	if d.skills == nil {
		return nil
	}
	return d.skills.Commands()
}

// Commands are the slash commands.
func (d *Dispatcher) Commands() *command.Set { return d.commands }

// Desk takes files for messages that are not sent yet.
func (d *Dispatcher) Desk() *handin.Desk { return d.desk }

// Accept takes a message: a command is carried out, anything else is queued, in
// a new session when the old one has become stale.
func (d *Dispatcher) Accept(ctx context.Context, turn session.Turn) (session.Accepted, error) {
	if acc, ok, err := d.guarded(ctx, &turn); ok || err != nil {
		return acc, err
	}
	if turn.Expected.SessionID == "" { // whoever names a transcript means to go on in it
		if err := d.renew(ctx, turn); err != nil {
			return session.Accepted{}, err
		}
	}
	if d.secrets.Has(turn.Text) {
		d.pasted.Store(turn.RunID, true)
	}
	acc, err := d.sessions.Submit(ctx, turn)
	if err != nil || acc.Duplicate {
		d.pasted.Delete(turn.RunID)
		return acc, err
	}
	d.received(turn)
	return acc, nil
}

// AcceptWords takes what is never a command, because a program does not know that
// its user's words could be one. With renew, a session that has become old begins
// anew.
func (d *Dispatcher) AcceptWords(ctx context.Context, turn session.Turn, renew bool) (session.Accepted, error) {
	if renew {
		if err := d.renew(ctx, turn); err != nil {
			return session.Accepted{}, err
		}
	}
	return d.sessions.Submit(ctx, turn)
}

// AcceptAgain takes a message in the place of an earlier one: the same or, with
// turn.Again.Words, another one, which is no command.
func (d *Dispatcher) AcceptAgain(ctx context.Context, turn session.Turn) (session.Accepted, error) {
	if turn.Again.Words {
		if turn = d.Hinted(turn); d.secrets.Has(turn.Text) {
			d.pasted.Store(turn.RunID, true)
		}
	}
	acc, err := d.sessions.AnswerAgain(ctx, turn)
	if err != nil || acc.Duplicate {
		d.pasted.Delete(turn.RunID)
		return acc, err
	}
	turn.Text = acc.Text
	d.received(turn)
	return acc, nil
}

// Pasted reports, once, whether the message of a run holds what looks like a key.
func (d *Dispatcher) Pasted(runID string) bool {
	_, ok := d.pasted.LoadAndDelete(runID)
	return ok
}

// Turn checks a message from outside.
func (d *Dispatcher) Turn(method, key, agentID, text, runID string, timeoutMs int64) (session.Turn, error) {
	canonical, err := d.agents.Canonical(key, agentID)
	switch {
	case err != nil:
		return session.Turn{}, err
	case runID == "" || len(runID) > protocol.MaxIdempotencyID || !utf8.ValidString(runID):
		return session.Turn{}, protocol.InvalidParams(method, "idempotencyKey must be 1 to %d bytes of text", protocol.MaxIdempotencyID)
	case strings.TrimSpace(text) == "":
		return session.Turn{}, protocol.InvalidParams(method, "message is empty")
	case len(text) > protocol.MaxMessageText:
		return session.Turn{}, protocol.InvalidParams(method, "message has %d bytes, at most %d are allowed; send it in parts", len(text),
			protocol.MaxMessageText)
	case timeoutMs < 0 || timeoutMs > MaxTimeout.Milliseconds():
		return session.Turn{}, protocol.InvalidParams(method, "the time-out must be between 0 and 24 hours")
	}
	if err := d.talks(canonical); err != nil {
		return session.Turn{}, err
	}
	return session.Turn{RunID: runID, SessionKey: canonical, Text: text, TimeoutMs: timeoutMs, Owner: true}, nil
}

// talks refuses a message to an agent that there is not, and says of one that was
// taken out of the settings what becomes of its sessions.
func (d *Dispatcher) talks(key string) error {
	gone, err := d.gone(key)
	if err != nil || !gone {
		return err
	}
	return protocol.Invalid("The assistant %q of this chat was removed. Start a new chat; this one can still be read and exported.",
		session.AgentOf(key)).With("code", "UNKNOWN_AGENT_ID")
}

// Answers refuses to begin a session with an agent that there is not. The sessions of
// one that was taken out of the settings stay, and can be named and put away.
func (d *Dispatcher) Answers(key string) error {
	_, err := d.gone(key)
	return err
}

// gone reports whether a session is one of an agent that was taken out of the settings;
// an error says that there are neither the agent nor the session.
func (d *Dispatcher) gone(key string) (bool, error) {
	err := d.agents.Check(session.AgentOf(key))
	if err == nil {
		return false, nil
	}
	if _, there, failed := d.sessions.Get(key); there || failed != nil {
		return there, failed
	}
	return false, err
}
