package agents

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/undo"
	"github.com/hearth-assistant/hearth/gateway/uuid"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

func (f *feature) filesList(_ context.Context, p protocol.AgentFilesParams) (protocol.AgentFiles, error) {
	a, err := f.known(cmp.Or(p.AgentID, f.o.Agents.Book().Default().ID))
	if err != nil {
		return protocol.AgentFiles{}, err
	}
	out := protocol.AgentFiles{AgentID: a.ID, Workspace: a.Workspace, Files: []protocol.AgentFile{}}
	for _, name := range workspace.Names() {
		e, err := f.o.Files.Get(a.Workspace, name)
		f := agentFile(e, false)
		if err != nil {
			f.Name, f.Path, f.Problem = name, filepath.Join(a.Workspace, name), err.Error()
		}
		out.Files = append(out.Files, f)
	}
	return out, nil
}

func agentFile(e workspace.Entry, content bool) protocol.AgentFile {
	f := protocol.AgentFile{Name: e.Name, Path: e.Path, Missing: e.Missing, Hash: e.Hash, Size: e.Size, ExpectedAbsent: e.Missing &&
		workspace.Optional(e.Name)}
	if !e.Missing {
		if !e.UpdatedAt.IsZero() { // it could be read
			f.UpdatedAtMs = e.UpdatedAt.UnixMilli()
		}
		if content {
			f.Content = &e.Content
		}
	}
	return f
}

func (f *feature) filesGet(_ context.Context, p protocol.AgentFileParams) (protocol.AgentFileResult, error) {
	a, err := f.known(p.AgentID)
	if err != nil {
		return protocol.AgentFileResult{}, err
	}
	e, err := f.o.Files.Get(a.Workspace, p.Name)
	return protocol.AgentFileResult{AgentID: a.ID, Workspace: a.Workspace, File: agentFile(e, true)}, fileError(err)
}

func (f *feature) filesSet(ctx context.Context, p protocol.AgentFileSetParams) (protocol.AgentFileResult, error) {
	a, err := f.known(p.AgentID)
	if err != nil {
		return protocol.AgentFileResult{}, err
	}
	turn := undo.Turn{RunID: uuid.New(), Tool: protocol.MethodAgentsFilesSet}
	e, err := f.o.Files.Set(ctx, f.o.Undo, turn, a.Workspace, p.Name, p.Content, strings.ToLower(p.ExpectedHash))
	return protocol.AgentFileResult{OK: err == nil, AgentID: a.ID, Workspace: a.Workspace, File: agentFile(e, true)}, fileError(err)
}

// fileError gives the workspace's errors their form on the wire.
func fileError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, workspace.ErrStale):
		return protocol.Invalid("%v", err).With("code", "STALE")
	}
	return protocol.Invalid("%v", err)
}
