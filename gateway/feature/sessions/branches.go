package sessions

import (
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

func (f *feature) branches(_ context.Context, p protocol.BranchesParams) (protocol.BranchesList, error) {
	key, err := f.o.Agents.Canonical(p.SessionKey, p.AgentID)
	if err != nil {
		return protocol.BranchesList{}, err
	}
	list, err := f.o.Sessions.Branches(key)
	return protocol.BranchesList{Branches: list}, err
}

func (f *feature) switchBranch(ctx context.Context, p protocol.BranchSwitchParams) (protocol.OKResult, error) {
	key, err := f.o.Agents.Canonical(p.SessionKey, p.AgentID)
	if err != nil {
		return protocol.OKResult{}, err
	}
	err = f.o.Sessions.Switch(ctx, key, p.LeafEntryID)
	return protocol.OKResult{OK: err == nil}, unbranched(err)
}

func (f *feature) rewind(ctx context.Context, p protocol.EntryParams) (protocol.RewindResult, error) {
	key, err := f.o.Agents.Canonical(p.SessionKey, p.AgentID)
	if err != nil {
		return protocol.RewindResult{}, err
	}
	msg, err := f.o.Sessions.Rewind(ctx, key, p.EntryID)
	return protocol.RewindResult{EditorText: msg.Text()}, unbranched(err)
}

func (f *feature) fork(ctx context.Context, p protocol.EntryParams) (protocol.ForkResult, error) {
	key, err := f.o.Agents.Canonical(p.SessionKey, p.AgentID)
	if err != nil {
		return protocol.ForkResult{}, err
	}
	row, msg, err := f.o.Sessions.Fork(ctx, key, p.EntryID, "agent:"+session.AgentOf(key)+":chat:"+uuid.New())
	if err != nil {
		return protocol.ForkResult{}, unbranched(err)
	}
	shown, _, err := f.o.Sessions.Get(row.Key)
	return protocol.ForkResult{SessionKey: row.Key, EditorText: msg.Text(), Session: &shown}, err
}

// unbranched tells a client why a branch was not changed.
func unbranched(err error) error {
	for cause, code := range map[error]string{
		session.ErrBusy: "BUSY", session.ErrManyBranches: "MANY_VERSIONS", session.ErrNotFound: "NOT_FOUND",
	} {
		if errors.Is(err, cause) {
			return protocol.Invalid("%s", protocol.Sentence(err.Error())).With("code", code)
		}
	}
	return err
}
