package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/codemode/engine"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// Script is a program that somebody wrote ahead, and that runs with nobody there.
type Script struct {
	Scope    tool.Scope
	Code     string
	Language string         // "": JavaScript
	Given    map[string]any // constants that it finds, frozen, by their names
	Limit    time.Duration  // of all of it, with what it waits for
	Calls    int            // of tools, at most
}

// freeze makes a value of JSON that nobody can change, in one line.
const freeze = `((f,v)=>f(f,v))((f,v)=>{if(v&&typeof v==="object"){Object.values(v).forEach(x=>f(f,x));Object.freeze(v)}return v},` +
	`JSON.parse(%s));`

// before is a line that gives a script its constants.
func (s Script) before() (string, error) {
	names := make([]string, 0, len(s.Given))
	for name := range s.Given {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		raw, err := json.Marshal(s.Given[name])
		if err != nil {
			return "", err
		}
		quoted, err := json.Marshal(string(raw))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "const %s="+freeze, name, quoted)
	}
	return b.String() + "\n", nil
}

// RunScript runs a script to its end, which is the limit of its time at the
// latest. tools has what is asked before every call.
func (r *Runs) RunScript(ctx context.Context, set Settings, s Script, tools *tool.Set, origin func(name string) Origin,
	before func(ctx context.Context, name string, call tool.Call) error) (Result, error) {
	head, err := s.before()
	if err != nil {
		return Result{}, fmt.Errorf("give the script what it needs: %w", err)
	}
	ctx, stop := awake.WithTimeout(ctx, s.Limit)
	defer stop()
	var calls atomic.Int64
	counted := tools.Before(func(ctx context.Context, name string, call tool.Call) error {
		if calls.Add(1) > int64(s.Calls) {
			return fmt.Errorf("not done: this script may make %d calls of tools, and has made them", s.Calls)
		}
		return before(ctx, name, call)
	})
	set.Timeout = min(set.Timeout, s.Limit)
	res, err := r.RunToEnd(ctx, set, s.Scope, counted, origin, Input{Code: head + s.Code, Language: s.Language}, nil, nil)
	if err != nil {
		return res, err
	}
	if res.Line > 0 {
		res.Line--
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		res.Status, res.Code, res.Error = Failed, engine.Timeout, "the script took longer than "+s.Limit.String()+" and was ended"
	case calls.Load() > int64(s.Calls):
		res.Status, res.Error = Failed, fmt.Sprintf("the script wanted to make more than %d calls of tools", s.Calls)
	}
	return res, nil
}

// Outside says where text of strangers is from that the program has read.
func (r Result) Outside() []string { return r.outside }

// Said is what a program has to say: what it returned, or what it told last with
// json.
func (r Result) Said() json.RawMessage {
	if len(r.Value) > 0 && string(r.Value) != "null" {
		return r.Value
	}
	for _, o := range slices.Backward(r.Output) {
		if len(o.Value) > 0 {
			return o.Value
		}
	}
	return nil
}
