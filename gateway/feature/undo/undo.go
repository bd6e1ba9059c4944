// Package undo is the feature that takes back what a turn changed: the methods
// hearth.undo.*. The copies and the taking back are package gateway/undo's.
package undo

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/undo"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Log      *undo.Log
	Agents   *agents.Directory
	Settings *config.File
	Logger   *slog.Logger
}

type feature struct{ o Options }

// tidyEvery is how often old copies are looked for.
const tidyEvery = time.Hour

// New makes the feature.
func New(o Options) host.Feature {
	f := feature{o}
	o.Log.SetMost(func() int64 { return int64(Section.Of(o.Settings.Snapshot().Config).MaxMB) << 20 })
	return host.Feature{Run: f.tidy, Methods: []method.Method{
		method.Plain(protocol.MethodUndoList, f.list),
		method.Plain(protocol.MethodUndoPreview, f.preview),
		method.Plain(protocol.MethodUndoApply, f.apply),
	}}
}

// defaultTurns is how many turns a list has when nobody says.
const defaultTurns = 50

func (f feature) list(_ context.Context, p protocol.UndoListParams) (protocol.UndoList, error) {
	out := protocol.UndoList{Turns: []protocol.UndoTurn{}}
	if p.Limit <= 0 {
		p.Limit = defaultTurns
	}
	turns, err := f.o.Log.Turns(p.Limit)
	for _, t := range turns {
		out.Turns = append(out.Turns, protocol.UndoTurn{
			RunID: t.RunID, SessionKey: t.SessionKey, At: t.At.UnixMilli(), Tools: t.Tools, Files: t.Paths, UndoOf: t.UndoOf, UndoneBy: t.UndoneBy,
		})
	}
	return out, err
}

func (f feature) preview(_ context.Context, p protocol.UndoParams) (protocol.UndoPlan, error) {
	run, err := f.turn(p)
	if err != nil {
		return protocol.UndoPlan{}, err
	}
	plan, err := f.o.Log.Preview(run)
	return planOf(plan), forClients(err)
}

func (f feature) apply(ctx context.Context, p protocol.UndoParams) (protocol.UndoPlan, error) {
	run, err := f.turn(p)
	if err != nil {
		return protocol.UndoPlan{}, err
	}
	plan, err := f.o.Log.Apply(ctx, run, p.Force)
	return planOf(plan), forClients(err)
}

// turn is the turn that the parameters mean.
func (f feature) turn(p protocol.UndoParams) (string, error) {
	if p.RunID != "" {
		return p.RunID, nil
	}
	key := ""
	if p.Key != "" {
		var err error
		if key, err = f.o.Agents.Canonical(p.Key, ""); err != nil {
			return "", err
		}
	}
	run, err := f.o.Log.Last(key)
	return run, forClients(err)
}

func planOf(p undo.Plan) protocol.UndoPlan {
	out := protocol.UndoPlan{RunID: p.RunID, UndoID: p.UndoID, Files: []protocol.UndoFile{}}
	for _, i := range p.Items {
		out.Files = append(out.Files, protocol.UndoFile{Path: i.Path, Action: string(i.Action), Reason: i.Reason, Bytes: i.Bytes, Done: i.Done})
	}
	return out
}

func forClients(err error) error {
	if errors.Is(err, undo.ErrNoTurn) || errors.Is(err, undo.ErrNoLast) {
		return protocol.Invalid("%v", err).With("code", "NOT_FOUND")
	}
	return err
}

// tidy removes copies that are too old to be taken back, until ctx ends.
func (f feature) tidy(ctx context.Context) error {
	for {
		if err := f.o.Log.Tidy(ctx); err != nil && ctx.Err() == nil {
			f.o.Logger.Warn("old copies for undo could not be removed", "err", err)
		}
		select {
		case <-time.After(tidyEvery):
		case <-ctx.Done():
			return nil
		}
	}
}
