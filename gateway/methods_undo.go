package gateway

import (
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/undo"
)

// undoTurns is how many turns a list has when nobody says.
const undoTurns = 50

func (g *Gateway) undoList(_ context.Context, p protocol.UndoListParams) (protocol.UndoList, error) {
	out := protocol.UndoList{Turns: []protocol.UndoTurn{}}
	if p.Limit <= 0 {
		p.Limit = undoTurns
	}
	turns, err := g.undo.Turns(p.Limit)
	for _, t := range turns {
		out.Turns = append(out.Turns, protocol.UndoTurn{
			RunID: t.RunID, SessionKey: t.SessionKey, At: t.At.UnixMilli(), Tools: t.Tools, Files: t.Paths, UndoOf: t.UndoOf, UndoneBy: t.UndoneBy,
		})
	}
	return out, err
}

func (g *Gateway) undoPreview(_ context.Context, p protocol.UndoParams) (protocol.UndoPlan, error) {
	run, err := g.undoTurn(p)
	if err != nil {
		return protocol.UndoPlan{}, err
	}
	plan, err := g.undo.Preview(run)
	return undoPlan(plan), undoError(err)
}

func (g *Gateway) undoApply(ctx context.Context, p protocol.UndoParams) (protocol.UndoPlan, error) {
	run, err := g.undoTurn(p)
	if err != nil {
		return protocol.UndoPlan{}, err
	}
	plan, err := g.undo.Apply(ctx, run, p.Force)
	return undoPlan(plan), undoError(err)
}

// undoTurn is the turn that the parameters mean.
func (g *Gateway) undoTurn(p protocol.UndoParams) (string, error) {
	if p.RunID != "" {
		return p.RunID, nil
	}
	key := ""
	if p.Key != "" {
		var err error
		if key, err = g.canonical(p.Key, ""); err != nil {
			return "", err
		}
	}
	run, err := g.undo.Last(key)
	return run, undoError(err)
}

func undoPlan(p undo.Plan) protocol.UndoPlan {
	out := protocol.UndoPlan{RunID: p.RunID, UndoID: p.UndoID, Files: []protocol.UndoFile{}}
	for _, i := range p.Items {
		out.Files = append(out.Files, protocol.UndoFile{Path: i.Path, Action: string(i.Action), Reason: i.Reason, Bytes: i.Bytes, Done: i.Done})
	}
	return out
}

func undoError(err error) error {
	if errors.Is(err, undo.ErrNoTurn) || errors.Is(err, undo.ErrNoLast) {
		return protocol.Invalid("%v", err).With("code", "NOT_FOUND")
	}
	return err
}
