package dispatch

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/skill"
)

// skill carries out the slash command of a skill; ok is false when the text
// calls none. One that dispatches to a tool passes everything that a model's
// call passes (A-SKILL-10).
func (d *Dispatcher) skill(ctx context.Context, turn *session.Turn, words string) (acc session.Accepted, ok bool, err error) {
	name, args, ok := command.Word(words)
	if !ok || d.skills == nil {
		return acc, false, nil
	}
	rec := session.Run{ID: turn.RunID, SessionKey: turn.SessionKey, Route: turn.Route, Owner: turn.Owner, Sender: turn.Sender}
	if row, known, gerr := d.sessions.Get(turn.SessionKey); gerr == nil && known {
		rec.SessionID = row.SessionID
	}
	ref, _ := d.registry.Default()
	scope := d.scopes.Of(rec, ref)
	c, ok := d.skills.Called(scope, name)
	if r, _ := channel.ParseRoute(turn.Route); !ok || !d.groups.GroupSkill(r, c.Skill.Name) {
		return acc, false, nil
	}
	if c.Skill.Dispatch == "" {
		said := args
		if turn.ForAgent != "" && turn.ForAgent != words {
			said = turn.ForAgent // with who said it where
		}
		turn.ForAgent = skill.Request(c.Skill.Skill, said)
		return acc, false, nil
	}
	acc, err = d.sessions.RunCommand(ctx, *turn, func(ctx context.Context) (string, error) {
		return d.skills.Run(ctx, scope, c.Skill, name, args)
	})
	return acc, true, err
}
