package systemprompt

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/session"
)

// Parts are the parts of the prompt that the next message of a session
// would get, after the last one.
func (m *Maker) Parts(key string) (parts []session.Part, err error) {
	scope, err := m.o.Direct.Scope(key, "", "")
	if err != nil {
		return nil, err
	}
	rec, err := m.o.Sessions.Why(key, "")
	if err != nil { // nothing was said yet
		rec = session.Run{SessionKey: scope.SessionKey, Owner: true}
	}
	scope, tools := m.o.Tools.For(rec, scope.Model)
	specs := tools.Specs()
	a := session.Asked{Run: rec, Model: scope.Model, Scope: &scope, Tools: tools.All()}
	if row, ok, err := m.o.Sessions.Get(key); err == nil && ok {
		a.Thinking, a.Reasoning, a.Messages = row.ThinkingLevel, row.ReasoningLevel, row.MessageCount
	}
	p := m.render(a)
	parts = append(parts, session.Part{Name: "System prompt", Bytes: len(p.Text)})
	for _, part := range p.Parts {
		name := part.Name
		if part.Of != "" {
			name = part.Of + ", " + name
		}
		if part.Note != "" {
			name += " (" + part.Note + ")"
		}
		parts = append(parts, session.Part{Name: name, Bytes: part.Bytes, Detail: true, Listed: part.Of != ""})
	}
	all := session.Part{Name: "Tools"}
	if hidden := len(a.Tools) - len(specs); hidden > 0 {
		all.Name = fmt.Sprintf("Tools (code mode: exec and wait; %d more behind them are not sent)", hidden)
	}
	var each []session.Part
	for _, t := range specs {
		n := len(t.Name) + len(t.Description) + len(t.Schema)
		all.Bytes += n
		each = append(each, session.Part{Name: t.Name, Bytes: n, Detail: true})
	}
	slices.SortStableFunc(each, func(a, b session.Part) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return append(append(parts, all), each...), nil
}
