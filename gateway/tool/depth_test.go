package tool

import (
	"context"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
)

type counting struct{ ran int }

func (*counting) Spec() model.ToolSpec { return model.ToolSpec{Name: "count"} }
func (c *counting) Run(context.Context, Call) (Result, error) {
	c.ran++
	return Result{Text: "done"}, nil
}

// TestSec_A_DOS_ArgumentsDoNotNestWithoutEnd: what looks into arguments, asks a
// person about them or writes them down goes as deep as they do.
func TestSec_A_DOS_ArgumentsDoNotNestWithoutEnd(t *testing.T) {
	c := &counting{}
	set, err := NewSet(c)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	set = set.Before(func(context.Context, string, Call) error { asked++; return nil })
	nested := func(n int) []byte {
		return []byte(`{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}`)
	}
	res := set.Run(t.Context(), Scope{}, model.ToolCall{Name: "count", Arguments: nested(7900)}, nil)
	if !res.IsError || !strings.Contains(res.Text, "deep") || c.ran+asked != 0 {
		t.Errorf("%+v, ran %d times", res, c.ran)
	}
	if res = set.Run(t.Context(), Scope{}, model.ToolCall{Name: "count", Arguments: nested(64)}, nil); res.IsError || c.ran != 1 {
		t.Errorf("%+v, ran %d times", res, c.ran)
	}
}
