package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// deleteChunk bounds one transaction of a deletion.
const deleteChunk = 5000

func notFound(key string) error {
	return fmt.Errorf("session %q: %w", clip(key, 80), ErrNotFound)
}

// present shows a row as clients know it, with what its lane is doing.
func (m *Manager) present(r Row) protocol.SessionRow {
	now := m.nowMs()
	return presentAs(r, m.peekLane(r.Key).snapshot(), now)
}

// presentAs shows a row with what its lane did at a time, in milliseconds. A run
// counts as active from when it is accepted and nothing is before it: whoever asked
// would take its session for idle otherwise, and the answer for given.
func presentAs(r Row, s laneState, at int64) protocol.SessionRow {
	if s.active == "" && len(s.queued) > 0 {
		s.active, s.queued = s.queued[0], s.queued[1:]
	}
	out := protocol.SessionRow{
		Key: r.Key, Kind: "direct", SessionID: r.SessionID, AgentID: r.AgentID, UpdatedAt: r.UpdatedAt, CreatedAt: r.CreatedAt,
		Label: r.Label, DerivedTitle: r.Title, LastMessagePreview: r.Preview,
		InputTokens: r.Usage.Input + r.Usage.CacheRead + r.Usage.CacheWrite, OutputTokens: r.Usage.Output, TotalTokens: r.Usage.Total(),
		ContextTokens: r.Window, ContextUsed: r.Used,
		ThinkingLevel: r.Thinking, VerboseLevel: r.Verbose, ReasoningLevel: r.Reasoning, SendPolicy: r.Send, CompactionCount: r.Compactions,
		Status: "done", AbortedLastRun: r.Aborted, MessageCount: r.Messages,
		Pinned: r.Pinned, Archived: r.Archived, Folder: r.Folder, Category: r.Category, Branch: r.Path.name(),
		ArchivedAt: r.WhenArchived(), QueuedRuns: len(s.queued),
		LastRunID: r.LastRun, ActiveRunIDs: []string{}, SnapshotAt: at,
	}
	if s.active != "" {
		out.Status, out.HasActiveRun, out.ActiveRunID = "running", true, s.active
		out.ActiveRunIDs, out.LastRunID = append(out.ActiveRunIDs, s.active), ""
	}
	if o := r.Origin; o != nil {
		out.ChatType, out.Channel = o.ChatType, o.Provider
		out.Origin = originOf(o)
		if out.Kind = "group"; o.ChatType == "direct" {
			out.Kind = "direct"
		}
		out.DisplayName = r.subject()
		if out.Kind == "group" {
			out.Room, out.GroupChannel, out.Space = o.Room, o.Room, o.Space
			if o.Room == "" {
				out.Subject = o.Label
			}
		}
	}
	presentPlaces(&out, r)
	presentModel(&out, r)
	return out
}

// presentModel tells which model answers a session, and why it is not another.
func presentModel(out *protocol.SessionRow, r Row) {
	ref, _ := model.ParseRef(r.LastModel)
	o := r.Override
	switch chosen := r.Chosen(); {
	case chosen != (model.Ref{}):
		ref, out.ModelOverride = chosen, true
	case o.Model != "":
		ref = o.ref()
	}
	out.ModelProvider, out.Model = ref.Provider, ref.Model
	out.ProviderOverride, out.OverrideModel, out.OverrideSource = o.Provider, o.Model, o.Source
	out.AuthProfile, out.AuthProfileSource, out.AuthProfileCompactions = o.Profile, o.ProfileSource, o.ProfileCompactions
	if f := r.Fallback; f != nil {
		out.Fallback = &protocol.SessionFallback{Selected: f.Selected, Active: f.Active, Reason: f.Reason}
	}
}

// edit changes a session's row; a missing session is made when create is set.
func (m *Manager) edit(ctx context.Context, key, reason string, create bool, change func(*Row) error) (Row, error) {
	return m.editIn(ctx, key, reason, create, func(_ *store.Tx, r *Row) error { return change(r) })
}

// editIn is edit for changes that concern more than the row.
func (m *Manager) editIn(ctx context.Context, key, reason string, create bool, change func(*store.Tx, *Row) error) (Row, error) {
	var row Row
	var created bool
	err := m.DB.Update(ctx, store.Write{
		Do: func(tx *store.Tx) (err error) {
			row, created, err = m.openRow(tx, key)
			if err != nil {
				return err
			}
			if created && !create {
				return notFound(key)
			}
			if err := change(tx, &row); err != nil {
				return err
			}
			return m.t.putRow(tx, row)
		},
		Then: func() {
			if created {
				m.count.Add(1)
			}
			m.showRow(row, reason)
		},
	})
	return row, err
}

// Create makes a session, or opens the one that is there.
func (m *Manager) Create(ctx context.Context, key, label, modelName string) (Row, error) {
	return m.edit(ctx, key, "create", true, func(r *Row) error {
		if label != "" {
			r.Label = label
		}
		if modelName != "" {
			return r.choose(modelName)
		}
		return nil
	})
}

// Patch changes what a person may set on a session.
func (m *Manager) Patch(ctx context.Context, key string, p protocol.SessionsPatchParams) (Row, error) {
	return m.PatchIf(ctx, key, p, Expected{OrNone: true})
}

// PatchIf is Patch of the session that is expected.
func (m *Manager) PatchIf(ctx context.Context, key string, p protocol.SessionsPatchParams, e Expected) (Row, error) {
	makes := e == Expected{OrNone: true}
	row, err := m.edit(ctx, key, "patch", makes, func(r *Row) error {
		if err := e.holds(*r, true); err != nil {
			return err
		}
		set(&r.Label, p.Label)
		if p.Model.Set {
			name := ""
			set(&name, p.Model)
			if err := r.choose(name); err != nil {
				return err
			}
		}
		set(&r.Thinking, p.ThinkingLevel)
		set(&r.Verbose, p.VerboseLevel)
		set(&r.Reasoning, p.ReasoningLevel)
		set(&r.Send, p.SendPolicy)
		set(&r.Pinned, p.Pinned)
		set(&r.Folder, p.Folder)
		set(&r.Category, p.Category)
		if set(&r.Archived, p.Archived); !r.Archived {
			r.ArchivedAt = 0
		} else if r.ArchivedAt == 0 {
			r.ArchivedAt = m.nowMs()
		}
		return nil
	})
	if !makes && errors.Is(err, ErrNotFound) {
		err = ErrChanged
	}
	if err == nil {
		m.Happened(Happening{Type: "session", Action: "patch", SessionKey: key, Facts: map[string]any{
			"sessionEntry": map[string]any{"sessionId": row.SessionID, "updatedAt": row.UpdatedAt, "label": row.Label}, "patch": p,
		}})
	}
	return row, err
}

// SetQueue changes how a session queues; nil goes back to its surface's policy.
func (m *Manager) SetQueue(ctx context.Context, key string, o *QueueOverride) (Row, error) {
	return m.edit(ctx, key, "patch", true, func(r *Row) error {
		r.Queue = o
		return nil
	})
}

// QueueOf is the policy in force for a session.
func (m *Manager) QueueOf(key string) (p QueuePolicy, override *QueueOverride) {
	row, err := m.rowOf(key)
	if err == nil {
		override = row.Queue
	}
	return m.Settings.Queue("").over(override), override
}

// set applies a patch to a field: null clears it.
func set[T any](field *T, p protocol.Patch[T]) {
	if !p.Set {
		return
	}
	var zero T
	*field = zero
	if p.Value != nil {
		*field = *p.Value
	}
}

// Reset stops the session's runs and begins an empty transcript. The old one
// stays in the store, where it can be searched, read and continued; the
// session keeps its name.
func (m *Manager) Reset(ctx context.Context, key string) (Row, error) {
	return m.ResetIf(ctx, key, Expected{})
}

// ResetIf is Reset of the session that is expected.
func (m *Manager) ResetIf(ctx context.Context, key string, e Expected) (Row, error) {
	if err := m.stop(ctx, key, e); err != nil {
		return Row{}, err
	}
	row, err := m.editIn(ctx, key, "reset", false, func(tx *store.Tx, r *Row) error {
		if err := e.holds(*r, true); err != nil {
			return err
		}
		if err := m.putAside(tx, r); err != nil {
			return err
		}
		r.SessionID, r.UpdatedAt = m.NewID(), m.nowMs()
		r.Preview, r.Messages, r.Usage, r.Used, r.Aborted, r.Compaction, r.From = "", 0, model.Usage{}, 0, false, nil, ""
		r.Path, r.Put = nil, nil
		r.renew()
		return nil
	})
	if err == nil {
		m.left(key)
	}
	return row, err
}

func (m *Manager) left(key string) {
	if m.Observer != nil {
		m.Observer.Left(key)
	}
}

// Delete stops the session's runs and removes it, with its transcripts (the
// past ones too) unless keep is set. deleted is false when there was none.
func (m *Manager) Delete(ctx context.Context, key string, keep bool) (deleted bool, err error) {
	return m.DeleteIf(ctx, key, keep, Expected{})
}

// DeleteIf is Delete of the session that is expected.
func (m *Manager) DeleteIf(ctx context.Context, key string, keep bool, e Expected) (deleted bool, err error) {
	if err := m.stop(ctx, key, e); err != nil {
		return false, err
	}
	var row Row
	var transcripts []string
	err = m.DB.Update(ctx, store.Write{
		Do: func(tx *store.Tx) (err error) {
			row, deleted, err = m.t.sessions.Get(tx, []byte(key))
			if err != nil {
				return err
			}
			if err := e.holds(row, deleted); err != nil || !deleted {
				return err
			}
			if transcripts, err = m.dropPast(tx, key); err != nil {
				return err
			}
			transcripts = append(transcripts, row.SessionID)
			if err := m.markGone(tx, keep, transcripts...); err != nil {
				return err
			}
			if err := m.t.recent.Delete(tx, recentKey(row.UpdatedAt, key)); err != nil {
				return err
			}
			return m.t.sessions.Delete(tx, []byte(key))
		},
		Then: func() {
			if deleted {
				m.count.Add(-1)
				m.Publish.SessionChanged(protocol.SessionsChanged{SessionKey: key, AgentID: row.AgentID, Reason: "delete", TS: m.nowMs()})
			}
		},
	})
	if err != nil {
		return false, err
	}
	m.left(key)
	if !deleted || keep {
		return deleted, nil
	}
	for _, id := range transcripts {
		if err := m.deleteEntries(ctx, id); err != nil {
			return true, err
		}
	}
	return true, nil
}

// deleteEntries removes a transcript, and then the note that it is to be removed.
func (m *Manager) deleteEntries(ctx context.Context, sessionID string) error {
	for {
		var n int
		err := m.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) (err error) {
			if n, err = m.t.deleteEntries(tx, sessionID, deleteChunk); err != nil || n == deleteChunk {
				return err
			}
			return m.t.gone.Delete(tx, []byte(sessionID))
		}})
		if err != nil {
			return fmt.Errorf("delete the transcript: %w", err)
		}
		if n < deleteChunk {
			return nil
		}
	}
}
