package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/plan"
)

func run(t testing.TB, args string) (tool.Result, error) {
	t.Helper()
	return plan.Tool{}.Run(t.Context(), tool.Call{Args: json.RawMessage(args)})
}

func TestUpdatePlan(t *testing.T) {
	for name, c := range map[string]struct{ args, says, fails string }{
		"a plan":      {`{"plan":[{"step":"look","status":"completed"},{"step":"do\n it","status":"in_progress"},{"step":"tell","status":"pending"}]}`, "1 of 3 steps", ""},
		"nothing":     {`{"plan":[]}`, "", "no steps"},
		"no list":     {`{"plan":"x"}`, "", "not what this tool takes"},
		"two at once": {`{"plan":[{"step":"a","status":"in_progress"},{"step":"b","status":"in_progress"}]}`, "", "at most one"},
		"an unknown":  {`{"plan":[{"step":"a","status":"approved"}]}`, "", "pending, in_progress or completed"},
		"empty step":  {`{"plan":[{"step":" \n ","status":"pending"}]}`, "", "says nothing"},
		"long step":   {`{"plan":[{"step":"` + strings.Repeat("x", 301) + `","status":"pending"}]}`, "", "300 characters"},
		"many steps":  {`{"plan":[` + strings.TrimSuffix(strings.Repeat(`{"step":"a","status":"pending"},`, 41), ",") + `]}`, "", "at most 40"},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := run(t, c.args)
			switch {
			case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
				t.Errorf("error %v, want %q", err, c.fails)
			case c.fails == "" && (err != nil || !strings.Contains(res.Text, c.says)):
				t.Errorf("%q, %v", res.Text, err)
			}
		})
	}
	res, err := run(t, `{"plan":[{"step":"do\n it","status":"in_progress"}],"explanation":"why"}`)
	if err != nil || string(res.Details) != `{"explanation":"why","plan":[{"step":"do it","status":"in_progress"}]}` {
		t.Errorf("surfaces get %s, %v", res.Details, err)
	}
}

func FuzzUpdatePlan(f *testing.F) {
	f.Add(`{"plan":[{"step":"a","status":"pending"}]}`)
	f.Add(`{"plan":[{}]}`)
	f.Fuzz(func(t *testing.T, args string) {
		res, err := run(t, args)
		if err == nil && !json.Valid(res.Details) {
			t.Errorf("%q gives %q", args, res.Details)
		}
	})
}
