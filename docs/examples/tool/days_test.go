package days_test

import (
	"encoding/json"
	"strings"
	"testing"

	days "github.com/hearth-assistant/hearth/docs/examples/tool"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// TestAddATool: the tool is called as a model calls it, and its mistakes are told
// in words.
func TestAddATool(t *testing.T) {
	set, err := tool.NewSet(days.Tool{})
	if err != nil {
		t.Fatal(err)
	}
	if s := set.Specs()[0]; s.Name != "days_between" || s.Description == "" || !json.Valid(s.Schema) {
		t.Errorf("%+v", s)
	}
	for _, tc := range []struct {
		args, want string
		fails      bool
	}{
		{`{"from":"2024-02-27","to":"2024-03-01"}`, "3 days from 2024-02-27 to 2024-03-01.", false},
		{`{"from":"2026-03-01","to":"2026-02-27"}`, "-2 days", false},
		{`{"from":"tomorrow","to":"2026-02-27"}`, `"tomorrow" is no date: write it as 2026-02-27`, true},
		{`[]`, "not what this tool takes", true},
	} {
		res := set.Run(t.Context(), tool.Scope{}, model.ToolCall{ID: "1", Name: "days_between", Arguments: json.RawMessage(tc.args)}, nil)
		if res.IsError != tc.fails || !strings.Contains(res.Text, tc.want) {
			t.Errorf("%s: %+v", tc.args, res)
		}
	}
}
