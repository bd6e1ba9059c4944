package gateway

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/memory"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/place"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
)

func (g *Gateway) memoryMethods() []method.Method {
	return []method.Method{
		method.Plain(protocol.MethodMemoryList, g.memoryList),
		method.Plain(protocol.MethodMemorySearch, g.memorySearch),
		method.Plain(protocol.MethodMemoryGet, g.memoryGet),
		method.Plain(protocol.MethodMemorySet, g.memorySet),
		method.Plain(protocol.MethodMemoryForget, g.memoryForget),
		method.Plain(protocol.MethodMemoryStatus, g.memoryStatus),
		method.Plain(protocol.MethodMemoryIndex, g.memoryIndex),
		method.Plain(protocol.MethodMemorySearchFlat, g.memorySearch),
	}
}

// memoryScope is the owner's, who may look at everybody's.
func memoryScope(agent string, all bool) memory.Scope {
	if agent == "" {
		agent = session.DefaultAgent
	}
	return memory.Scope{Agent: agent, All: all}
}

// memoryOf is memoryScope, or that of somebody else whom the owner names.
func (g *Gateway) memoryOf(ctx context.Context, agent, who string, all bool) (memory.Scope, error) {
	s := memoryScope(agent, all && who == "")
	of, err := g.memory.Who(ctx, s.Agent, who)
	if errors.Is(err, memory.ErrNobody) { // what people call themselves comes last
		contacts, cerr := g.contacts.Contacts()
		if cerr != nil {
			return s, cerr
		}
		for _, c := range contacts {
			if !strings.EqualFold(c.Name, who) && (c.Handle == "" || !strings.EqualFold(c.Handle, strings.TrimPrefix(who, "@"))) {
				continue
			}
			if found, ferr := g.memory.Who(ctx, s.Agent, c.Channel+":"+c.ID); ferr == nil {
				of, err = found, nil
				break
			}
		}
	}
	s.Of = of
	return s, err
}

// memoryError says what a person can do about.
func memoryError(err error) error {
	for _, known := range []error{memory.ErrNoFile, memory.ErrNoWorkspace, memory.ErrNobody} {
		if errors.Is(err, known) {
			return protocol.Invalid("%v", err).With("code", "NOT_FOUND")
		}
	}
	for _, known := range []error{memory.ErrNotMemory, memory.ErrNoWords, memory.ErrChanged, memory.ErrTooLarge, place.ErrPath, place.ErrNotFile, place.ErrPrivate, place.ErrEscape, place.ErrMoved, fs.ErrPermission, memory.ErrLines} {
		if errors.Is(err, known) {
			return protocol.Invalid("%v", err)
		}
	}
	return err
}

func (g *Gateway) memoryList(ctx context.Context, p protocol.MemoryListParams) (protocol.MemoryFiles, error) {
	s, err := g.memoryOf(ctx, p.AgentID, p.Person, p.All)
	out := protocol.MemoryFiles{Workspace: g.workspaceOf(s.Agent), Files: []protocol.MemoryFile{}}
	if err != nil {
		return out, memoryError(err)
	}
	files, err := g.memory.Files(ctx, s)
	for _, f := range files {
		out.Files = append(out.Files, protocol.MemoryFile{Path: f.Path, Person: f.Of, Size: f.Size, UpdatedAt: f.Changed.UnixMilli(), Chunks: f.Chunks, Skipped: f.Why})
	}
	return out, memoryError(err)
}

func (g *Gateway) memorySearch(ctx context.Context, p protocol.MemorySearchParams) (protocol.MemoryFound, error) {
	s, err := g.memoryOf(ctx, p.AgentID, p.Person, p.All)
	out := protocol.MemoryFound{AgentID: s.Agent, Provider: "none", SearchMode: "fts-only", Results: []protocol.MemoryHit{}}
	if err != nil {
		return out, memoryError(err)
	}
	res, err := g.memory.Search(ctx, memory.Query{Scope: s, Text: p.Query, Limit: p.Limit, MinScore: p.MinScore})
	if err != nil {
		return out, memoryError(err)
	}
	if out.Partial = res.Partial; res.Mode == "hybrid" {
		out.SearchMode = res.Mode
	}
	if c := g.config.Snapshot().Config.Agents.Defaults.MemorySearch; c.Provider != "" {
		out.Provider = c.Provider
	}
	for _, h := range res.Hits {
		out.Results = append(out.Results, protocol.MemoryHit{Path: h.Path, StartLine: h.From, EndLine: h.To, Score: h.Score, Snippet: g.redactor.Text(h.Text), Citation: h.Citation()})
	}
	return out, nil
}

func (g *Gateway) memoryGet(_ context.Context, p protocol.MemoryGetParams) (protocol.MemoryContent, error) {
	c, err := g.memory.Load(memoryScope(p.AgentID, true), p.Path)
	return protocol.MemoryContent{Path: c.Path, Text: c.Text, Hash: c.Hash}, memoryError(err)
}

func (g *Gateway) memorySet(ctx context.Context, p protocol.MemorySetParams) (protocol.MemoryChange, error) {
	c, err := g.memory.Set(ctx, memoryScope(p.AgentID, true), p.Path, p.Text, p.Hash)
	return memoryChange(c), memoryError(err)
}

func (g *Gateway) memoryForget(ctx context.Context, p protocol.MemoryForgetParams) (protocol.MemoryChange, error) {
	s := memoryScope(p.AgentID, true)
	var c memory.Change
	var err error
	switch {
	case (p.Source == "") == (p.Path == ""):
		return protocol.MemoryChange{}, protocol.InvalidParams(protocol.MethodMemoryForget, "say a path or a source")
	case p.Source != "":
		c, err = g.memory.ForgetSource(ctx, s, p.Source)
	default:
		c, err = g.memory.Forget(ctx, s, p.Path, p.StartLine, p.EndLine, p.Text)
	}
	return memoryChange(c), memoryError(err)
}

func memoryChange(c memory.Change) protocol.MemoryChange {
	out := protocol.MemoryChange{UndoID: c.UndoID, Paths: c.Paths, Notes: c.Notes}
	if out.Paths == nil {
		out.Paths = []string{}
	}
	return out
}

func (g *Gateway) memoryStatus(_ context.Context, p protocol.MemoryStatusParams) (protocol.MemoryStatus, error) {
	return g.memoryState(p.AgentID), nil
}

func (g *Gateway) memoryIndex(ctx context.Context, p protocol.MemoryIndexParams) (protocol.MemoryStatus, error) {
	agent := memoryScope(p.AgentID, false).Agent
	var err error
	if p.Rebuild {
		err = g.memory.Rebuild(ctx, agent)
	} else {
		err = g.memory.Sync(ctx, agent)
	}
	g.memory.Touch(agent) // vectors come after
	return g.memoryState(agent), memoryError(err)
}

func (g *Gateway) memoryState(agent string) protocol.MemoryStatus {
	agent = memoryScope(agent, false).Agent
	st := g.memory.Status(agent)
	out := protocol.MemoryStatus{
		AgentID: agent, Enabled: g.config.Snapshot().Config.Agents.Defaults.MemorySearch.Enabled, Workspace: g.workspaceOf(agent),
		Files: st.Files, Bytes: st.Bytes, Chunks: st.Chunks, Vectors: st.Vectors, Skipped: []protocol.MemorySkipped{},
		Indexing: st.Indexing, Problem: st.Problem, Embedding: protocol.MemoryEmbedding{Model: st.Embedder, Problem: st.EmbedProblem},
	}
	for _, s := range st.Skipped {
		out.Skipped = append(out.Skipped, protocol.MemorySkipped{Path: s.Path, Reason: s.Why})
	}
	return out
}
