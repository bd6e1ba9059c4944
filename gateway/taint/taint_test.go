package taint_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/taint"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

// lab is everything around a tracker; it keeps what was told.
type lab struct {
	*taint.Tracker
	work      *background.Group
	forwarded bool // what the owner sent was passed on
	said      []string
	owner     []string
	audited   []string
}

func newLab(t *testing.T) *lab {
	l := &lab{work: background.New(t.Context())}
	l.Tracker = taint.New(taint.Options{Sessions: l, Owner: l, Audit: l, Work: l.work, Logger: slog.New(slog.DiscardHandler)})
	return l
}

func (l *lab) Why(_, runID string) (session.Run, error) {
	if runID != "r1" {
		return session.Run{}, errors.New("not known")
	}
	return session.Run{ID: runID, Outside: l.forwarded}, nil
}

func (l *lab) Inject(_ context.Context, key, text, label string) (*protocol.Message, error) {
	l.said = append(l.said, key+": "+label+": "+text)
	return nil, nil
}

func (l *lab) Tell(_, text string) { l.owner = append(l.owner, text) }

func (l *lab) Add(e audit.Entry) { l.audited = append(l.audited, e.What) }

func call(scope tool.Scope) tool.Call {
	scope.RunID, scope.SessionKey = "r1", "agent:main:main"
	return tool.Call{Scope: scope, ID: "c1"}
}

var own = call(tool.Scope{Owner: true})

// Only what the owner says here, before anything else was read, is the owner's.
func TestOutside(t *testing.T) {
	for name, c := range map[string]struct {
		call tool.Call
		do   func(*lab)
		want bool
	}{
		"the owner":        {own, nil, false},
		"a plain result":   {own, func(l *lab) { l.After("exec", own, "ok") }, false},
		"a marked result":  {own, func(l *lab) { l.After("exec", own, untrusted.Wrapper{}.Wrap("a page", "ok")) }, true},
		"a file elsewhere": {own, func(l *lab) { l.Mark("r1") }, true},
		"another run's":    {own, func(l *lab) { l.Mark("r2") }, false},
		"one that is over": {own, func(l *lab) { l.Mark("r1"); l.Over(l.work.Context(), "r1") }, false},
		"passed on":        {own, func(l *lab) { l.forwarded = true }, true},
		"a guest":          {call(tool.Scope{}), nil, true},
		"a group":          {call(tool.Scope{Owner: true, Group: true}), nil, true},
		"another session":  {call(tool.Scope{Owner: true, Relayed: true}), nil, true},
		"a sub-agent":      {call(tool.Scope{Owner: true, Depth: 1}), nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			if c.do != nil {
				c.do(l)
			}
			if got := l.Outside(c.call); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// A change of what is obeyed later is told once, when the answer is there.
func TestChangesAreTold(t *testing.T) {
	l := newLab(t)
	l.Noted(own, "memory/today.md") // the owner's own words
	for _, name := range []string{"AGENTS.md", "AGENTS.md", "a", "b", "c", "d", "e", "f"} {
		l.Changed(own, name)
	}
	if len(l.said) != 0 || len(l.audited) != 8 {
		t.Errorf("before the end: said %q, audited %q", l.said, l.audited)
	}
	l.Over(t.Context(), "r1")
	l.Over(t.Context(), "r1")
	l.work.Close()
	want := "This answer changed AGENTS.md, a, b, c, d, e and 1 more: later answers, or programs, go by that. `hearth undo r1` takes it back."
	if len(l.said) != 1 || l.said[0] != "agent:main:main: Changed for later: "+want {
		t.Errorf("said %q", l.said)
	}
	if len(l.owner) != 1 || l.owner[0] != want {
		t.Errorf("the owner was told %q", l.owner)
	}
}

// A note is a change for later where a stranger's words may be in it; where the
// answer was not the owner's, their network is left alone.
func TestNotesAfterTextFromOutside(t *testing.T) {
	l, guest := newLab(t), call(tool.Scope{})
	l.Mark("r1")
	l.Noted(guest, "memory/today.md")
	l.Over(t.Context(), "r1")
	l.work.Close()
	if len(l.said) != 1 || !strings.Contains(l.said[0], "memory/today.md") || len(l.owner) != 0 {
		t.Errorf("said %q, told %q", l.said, l.owner)
	}
}
