package memory

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/memory"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// ownerScope is the owner's, who may look at everybody's.
func ownerScope(agent string, all bool) memory.Scope {
	if agent == "" {
		agent = session.DefaultAgent
	}
	return memory.Scope{Agent: agent, All: all}
}

// scopeOf is ownerScope, or that of somebody else whom the owner names.
func (f *Memory) scopeOf(ctx context.Context, agent, who string, all bool) (memory.Scope, error) {
	s := ownerScope(agent, all && who == "")
	of, err := f.index.Who(ctx, s.Agent, who)
	if errors.Is(err, memory.ErrNobody) { // what people call themselves comes last
		contacts, cerr := f.o.Contacts.Contacts()
		if cerr != nil {
			return s, cerr
		}
		for _, c := range contacts {
			if !strings.EqualFold(c.Name, who) && (c.Handle == "" || !strings.EqualFold(c.Handle, strings.TrimPrefix(who, "@"))) {
				continue
			}
			if found, ferr := f.index.Who(ctx, s.Agent, c.Channel+":"+c.ID); ferr == nil {
				of, err = found, nil
				break
			}
		}
	}
	s.Of = of
	return s, err
}

// forClients says what a person can do about.
func forClients(err error) error {
	var unread *memory.UnreadError
	if errors.As(err, &unread) {
		return protocol.Invalid("%d notes were forgotten, which `hearth undo list` names, but not those in %s: %v. Let Hearth read and write "+
			"there, then forget them once more.", unread.Change.Notes, strings.Join(unread.Paths, ", "), unread.Err)
	}
	for _, known := range []error{memory.ErrNoFile, memory.ErrNoWorkspace, memory.ErrNobody} {
		if errors.Is(err, known) {
			return protocol.Invalid("%v", err).With("code", "NOT_FOUND")
		}
	}
	for _, known := range []error{memory.ErrNotMemory, memory.ErrNoWords, memory.ErrChanged, memory.ErrTooLarge, safepath.ErrPath,
		safepath.ErrNotFile, safepath.ErrPrivate, safepath.ErrEscape, safepath.ErrMoved, fs.ErrPermission, memory.ErrLines} {
		if errors.Is(err, known) {
			return protocol.Invalid("%v", err)
		}
	}
	return err
}

func (f *Memory) list(ctx context.Context, p protocol.MemoryListParams) (protocol.MemoryFiles, error) {
	s, err := f.scopeOf(ctx, p.AgentID, p.Person, p.All)
	out := protocol.MemoryFiles{Workspace: f.workspaceOf(s.Agent), Files: []protocol.MemoryFile{}}
	if err != nil {
		return out, forClients(err)
	}
	files, err := f.index.Files(ctx, s)
	for _, f := range files {
		out.Files = append(out.Files, protocol.MemoryFile{Path: f.Path, Person: f.Of, Size: f.Size, UpdatedAt: f.Changed.UnixMilli(),
			Chunks: f.Chunks, Skipped: f.Why})
	}
	return out, forClients(err)
}

// Search finds what is remembered, as the method hearth.memory.search.
func (f *Memory) Search(ctx context.Context, p protocol.MemorySearchParams) (protocol.MemoryFound, error) {
	s, err := f.scopeOf(ctx, p.AgentID, p.Person, p.All)
	out := protocol.MemoryFound{AgentID: s.Agent, Provider: "none", SearchMode: "fts-only", Results: []protocol.MemoryHit{}}
	if err != nil {
		return out, forClients(err)
	}
	res, err := f.index.Search(ctx, memory.Query{Scope: s, Text: p.Query, Limit: p.Limit, MinScore: p.MinScore})
	if err != nil {
		return out, forClients(err)
	}
	if out.Partial = res.Partial; res.Mode == "hybrid" {
		out.SearchMode = res.Mode
	}
	if c := memory.SearchSection.Of(f.o.Settings.Snapshot().Config); c.Provider != "" {
		out.Provider = c.Provider
	}
	for _, h := range res.Hits {
		out.Results = append(out.Results, protocol.MemoryHit{Path: h.Path, StartLine: h.From, EndLine: h.To, Score: h.Score,
			Snippet: f.o.Secrets.Text(h.Text), Citation: h.Citation()})
	}
	return out, nil
}

func (f *Memory) get(_ context.Context, p protocol.MemoryGetParams) (protocol.MemoryContent, error) {
	c, err := f.index.Load(ownerScope(p.AgentID, true), p.Path)
	return protocol.MemoryContent{Path: c.Path, Text: c.Text, Hash: c.Hash}, forClients(err)
}

func (f *Memory) set(ctx context.Context, p protocol.MemorySetParams) (protocol.MemoryChange, error) {
	c, err := f.index.Set(ctx, ownerScope(p.AgentID, true), p.Path, p.Text, p.Hash)
	return changeOf(c), forClients(err)
}

func (f *Memory) forget(ctx context.Context, p protocol.MemoryForgetParams) (protocol.MemoryChange, error) {
	s := ownerScope(p.AgentID, true)
	var c memory.Change
	var err error
	switch {
	case (p.Source == "") == (p.Path == ""):
		return protocol.MemoryChange{}, protocol.InvalidParams(protocol.MethodMemoryForget, "say a path or a source")
	case p.Source != "":
		c, err = f.index.ForgetSource(ctx, s, p.Source)
	default:
		c, err = f.index.Forget(ctx, s, p.Path, p.StartLine, p.EndLine, p.Text)
	}
	return changeOf(c), forClients(err)
}

func changeOf(c memory.Change) protocol.MemoryChange {
	out := protocol.MemoryChange{UndoID: c.UndoID, Paths: c.Paths, Notes: c.Notes}
	if out.Paths == nil {
		out.Paths = []string{}
	}
	return out
}

func (f *Memory) status(_ context.Context, p protocol.MemoryStatusParams) (protocol.MemoryStatus, error) {
	return f.state(p.AgentID), nil
}

func (f *Memory) reindex(ctx context.Context, p protocol.MemoryIndexParams) (protocol.MemoryStatus, error) {
	agent := ownerScope(p.AgentID, false).Agent
	var err error
	if p.Rebuild {
		err = f.index.Rebuild(ctx, agent)
	} else {
		err = f.index.Sync(ctx, agent)
	}
	f.index.Touch(agent) // vectors come after
	return f.state(agent), forClients(err)
}

func (f *Memory) state(agent string) protocol.MemoryStatus {
	agent = ownerScope(agent, false).Agent
	st := f.index.Status(agent)
	out := protocol.MemoryStatus{
		AgentID: agent, Enabled: memory.SearchSection.Of(f.o.Settings.Snapshot().Config).Enabled, Workspace: f.workspaceOf(agent),
		Files: st.Files, Bytes: st.Bytes, Chunks: st.Chunks, Vectors: st.Vectors, Skipped: []protocol.MemorySkipped{},
		Indexing: st.Indexing, Problem: st.Problem, Embedding: protocol.MemoryEmbedding{Model: st.Embedder, Problem: st.EmbedProblem},
	}
	for _, s := range st.Skipped {
		out.Skipped = append(out.Skipped, protocol.MemorySkipped{Path: s.Path, Reason: s.Why})
	}
	return out
}
