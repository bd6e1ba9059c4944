// Package memory is the feature that remembers: the methods hearth.memory.*, the
// tools memory_search, memory_get and memory_note, the notes of a conversation
// before its summary, and those of the last days for a new session. The files,
// their index and the search are package gateway/memory's.
package memory

import (
	"context"
	"log/slog"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/memory"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/vectors"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/scope"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/taint"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
	memorytool "github.com/hearth-assistant/hearth/gateway/tool/memory"
	"github.com/hearth-assistant/hearth/gateway/tool/policy"
	"github.com/hearth-assistant/hearth/gateway/undo"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	DB       *store.DB
	Finder   safepath.Finder
	Undo     *undo.Log
	Settings *config.File
	Agents   *agents.Directory
	Contacts *contact.Book
	Vectors  *vectors.Maker
	Gate     *gate.Gate
	Scopes   *scope.Scopes
	Taint    *taint.Tracker // hears of notes
	Secrets  *redact.Redactor
	Now      func() time.Time
	Log      *slog.Logger
}

// Memory is the feature.
type Memory struct {
	o     Options
	index *memory.Index
}

// New makes the feature; the index is brought up to date by its Run.
func New(o Options) *Memory {
	f := &Memory{o: o}
	f.index = memory.New(memory.Options{
		DB: o.DB, Finder: o.Finder, Undo: o.Undo, Now: o.Now, NewID: uuid.New, Logger: o.Log,
		Workspace: f.workspaceOf, Settings: f.settings, Embedder: o.Vectors.Embedder,
	})
	o.Gate.AddRule(f.rule)
	return f
}

// Feature is what it adds.
func (f *Memory) Feature() host.Feature {
	return host.Feature{Methods: f.methods(), Tools: f.tools(), Run: func(ctx context.Context) error {
		f.index.Run(ctx, session.DefaultAgent)
		return nil
	}}
}

func (f *Memory) methods() []method.Method {
	return []method.Method{
		method.Plain(protocol.MethodMemoryList, f.list),
		method.Plain(protocol.MethodMemorySearch, f.Search),
		method.Plain(protocol.MethodMemoryGet, f.get),
		method.Plain(protocol.MethodMemorySet, f.set),
		method.Plain(protocol.MethodMemoryForget, f.forget),
		method.Plain(protocol.MethodMemoryStatus, f.status),
		method.Plain(protocol.MethodMemoryIndex, f.reindex),
		method.Plain(protocol.MethodMemorySearchFlat, f.Search),
	}
}

// workspaceOf is the folder of an agent.
func (f *Memory) workspaceOf(agent string) string { return f.o.Agents.Named(agent).Workspace }

func (f *Memory) settings() memory.Settings {
	s := memory.SearchSection.Of(f.o.Settings.Snapshot().Config)
	return memory.Settings{
		Tokens: s.Tokens, Overlap: s.Overlap, MaxResults: s.MaxResults, MinScore: s.MinScore,
		VectorWeight: s.VectorWeight, TextWeight: s.TextWeight,
	}
}

// rule refuses the tools of the memory where nothing may be remembered.
func (f *Memory) rule(name string, s tool.Scope) string {
	switch {
	case policy.GroupOf(name) != "group:memory":
		return ""
	case !memory.SearchSection.Of(f.o.Settings.Snapshot().Config).Enabled:
		return name + " is switched off in agents.defaults.memorySearch.enabled"
	case s.Surface == channel.API && !s.Owner:
		return "nothing is remembered of a program's users: Hearth cannot tell one from another"
	}
	return ""
}

// tools are the tools that look into what is remembered.
func (f *Memory) tools() []tool.Tool {
	return memorytool.New(memorytool.Options{
		Memory: f.index, Secret: f.o.Secrets.Has, Cite: f.cites, Written: f.o.Taint.Noted,
		Lines: func(s tool.Scope) int { return f.o.Agents.Limits(s.AgentID).MemoryGetDefaultLines },
	})
}

// cites reports whether a run is told where something stands.
func (f *Memory) cites(s tool.Scope) bool {
	switch memory.Section.Of(f.o.Settings.Snapshot().Config).Citations {
	case "on":
		return true
	case "off":
		return false
	}
	return !s.Group // places say little to others
}
