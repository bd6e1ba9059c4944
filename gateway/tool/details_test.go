package tool

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
)

func TestDetailsAreBounded(t *testing.T) {
	long := `"` + strings.Repeat("x", MaxDetailsBytes) + `"`
	many := strings.Repeat(`{"a":`, 40_000) + "1" + strings.Repeat("}", 40_000)
	for in, want := range map[string]string{
		"":                                       "",
		`{"exitCode":1}`:                         `{"exitCode":1}`,
		`{"diff":` + long + `,"exitCode":1}`:     `{"detailsTruncated":true,"exitCode":1}`,
		`{"diff":` + long + `,"b":` + long + `}`: `{"detailsTruncated":true}`,
		`[` + long + `]`:                         `{"detailsTruncated":true}`,
		`{"` + long[1:] + `:1}`:                  `{"detailsTruncated":true}`,
		many:                                     `{"detailsTruncated":true}`,
	} {
		got := bound(json.RawMessage(in))
		if string(got) != want || len(got) > MaxDetailsBytes || len(got) > 0 && !json.Valid(got) {
			t.Errorf("%.40s…: %.80s", in, got)
		}
	}
}

type talkative struct{}

func (talkative) Spec() model.ToolSpec { return model.ToolSpec{Name: "talk"} }
func (talkative) Run(context.Context, Call) (Result, error) {
	return Result{Text: "ok", Details: json.RawMessage(`{"diff":"` + strings.Repeat("x", 2*MaxDetailsBytes) + `"}`)}, nil
}

// Every result passes the bound, whatever its tool says.
func TestDetailsOfEveryResultAreBounded(t *testing.T) {
	s, err := NewSet(talkative{})
	if err != nil {
		t.Fatal(err)
	}
	if res := s.Run(t.Context(), Scope{}, model.ToolCall{ID: "1", Name: "talk"}, nil); len(res.Details) > MaxDetailsBytes || res.Text != "ok" {
		t.Errorf("%d bytes are kept", len(res.Details))
	}
}
