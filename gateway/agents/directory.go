package agents

import (
	"cmp"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// DefaultName and DefaultEmoji are those of the main agent until somebody gives it
// others.
const (
	DefaultName  = "Hearth"
	DefaultEmoji = "🔥"
)

// Directory knows the agents of the settings as they are now. Its methods may be
// called from several goroutines.
type Directory struct {
	settings *config.File
	home     string // of the person
	book     atomic.Pointer[madeBook]
}

// NewDirectory returns the directory of the agents that the settings name; home
// is the folder of the person who runs Hearth, "" for none.
func NewDirectory(settings *config.File, home string) *Directory {
	return &Directory{settings: settings, home: home}
}

// madeBook is a book and the settings that it was made of.
type madeBook struct {
	snap *config.Snapshot
	book *Book
}

// Book is the agents of the settings as they are now.
func (d *Directory) Book() *Book {
	snap := d.settings.Snapshot()
	if m := d.book.Load(); m != nil && m.snap == snap {
		return m.book
	}
	made := &madeBook{snap, New(d.list(snap.Config), BindingsSection.Of(snap.Config), d.agentOf(Entry{ID: Main}, snap.Config))}
	d.book.Store(made)
	return made.book
}

func (d *Directory) list(c config.Config) (out []Agent) {
	for _, a := range Section.Of(c).List {
		out = append(out, d.agentOf(a, c))
	}
	return out
}

// agentOf fills in what an agent does not say.
func (d *Directory) agentOf(a Entry, c config.Config) Agent {
	out := Agent{
		ID: a.ID, Default: a.Default, Name: cmp.Or(a.Identity.Name, a.Name), Emoji: a.Identity.Emoji, Avatar: a.Identity.Avatar,
		Theme: a.Identity.Theme, SkillChars: a.SkillChars,
		Workspace: d.Workspace(a.Workspace), Primary: a.Model.Primary, Fallbacks: a.Model.Fallbacks,
	}
	if a.Skills == nil {
		a.Skills = DefaultsSection.Of(c).Skills
	}
	if out.AllSkills = a.Skills == nil; !out.AllSkills {
		out.Skills = a.Skills
	}
	if a.Workspace == "" {
		out.Workspace = d.Workspace(DefaultsSection.Of(c).Workspace)
		if a.ID != Main {
			out.Workspace += "-" + a.ID
		}
	}
	if a.ID == Main {
		out.Name, out.Emoji = cmp.Or(out.Name, DefaultName), cmp.Or(out.Emoji, DefaultEmoji)
	}
	out.Name = cmp.Or(out.Name, a.ID)
	return out
}

// Named is the agent of an id. One that was taken out of the settings is as the main one, under its
// own name and in its own folder.
func (d *Directory) Named(id string) Agent {
	if a, ok := d.Book().Get(id); ok {
		return a
	}
	return d.agentOf(Entry{ID: id}, d.settings.Snapshot().Config)
}

// OfSession is the agent of a session.
func (d *Directory) OfSession(key string) Agent { return d.Named(session.AgentOf(key)) }

// Canonical is session.Canonical where a key that names no agent belongs to the
// default one.
func (d *Directory) Canonical(key, agentID string) (string, error) {
	return session.Canonical(key, cmp.Or(agentID, d.Book().Default().ID))
}

// Check refuses an agent that the settings do not name, such as a mistyped one.
func (d *Directory) Check(id string) error {
	if _, ok := d.Book().Get(id); ok {
		return nil
	}
	var ids []string
	for _, a := range d.Book().All() {
		ids = append(ids, a.ID)
	}
	return protocol.Invalid("there is no assistant called %q; there is %s (`hearth agents list`)", id, strings.Join(ids, ", ")).
		With("code", "UNKNOWN_AGENT_ID")
}

// Answerer is the agent that answers a message of a network.
func (d *Directory) Answerer(in channel.Inbound) string {
	peer := in.SenderID
	if in.Chat != channel.Direct {
		peer = in.Conversation
	}
	id, _ := d.Book().Route(Source{Channel: in.Channel, Account: in.Account, Kind: string(in.Chat), Peer: peer, Topic: in.Thread})
	return id
}

// Workspace is the folder that a person and an assistant share, as a setting says
// it: "~" is the home, and "" the default one.
func (d *Directory) Workspace(configured string) string {
	if configured == "" {
		return filepath.Join(d.home, "Hearth")
	}
	if rest, ok := strings.CutPrefix(configured, "~"); ok {
		return filepath.Join(d.home, rest)
	}
	return configured
}

// Limits are those of an agent on what its context may hold.
func (d *Directory) Limits(id string) ContextLimits {
	c := d.settings.Snapshot().Config
	below := DefaultsSection.Of(c).ContextLimits
	for _, a := range Section.Of(c).List {
		if a.ID == id {
			return a.ContextLimits.over(below)
		}
	}
	return below
}
