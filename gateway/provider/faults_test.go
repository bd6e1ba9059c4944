package provider_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// faultRow is one way to fail: its row in the list of faults, and what must come
// of it.
type faultRow struct {
	row, model string
	class      model.Class
	text       string // that arrived before, of a stream
	status     int
	retry      time.Duration
}

func faultRows() []faultRow {
	return []faultRow{
		{row: "F_PROV_01", model: "fault-401", class: model.ClassAuth, status: 401},
		{row: "F_PROV_02", model: "fault-402", class: model.ClassBilling, status: 402},
		{row: "F_PROV_02", model: "fault-billing", class: model.ClassBilling, status: 400},
		{row: "F_PROV_03", model: "fault-403", class: model.ClassAuth, status: 403},
		{row: "F_PROV_03", model: "fault-waf", class: model.ClassInvalid, status: 403},
		{row: "F_PROV_04", model: "fault-404", class: model.ClassNoModel, status: 404},
		{row: "F_PROV_05", model: "fault-429", class: model.ClassRateLimit, status: 429},
		{row: "F_PROV_05", model: "fault-429-0", class: model.ClassRateLimit, status: 429},
		{row: "F_PROV_05", model: "fault-429-30", class: model.ClassRateLimit, status: 429, retry: 30 * time.Second},
		{row: "F_PROV_05", model: "fault-429--1", class: model.ClassRateLimit, status: 429},
		{row: "F_PROV_05", model: "fault-429-abc", class: model.ClassRateLimit, status: 429},
		{row: "F_PROV_05", model: "fault-429-99999999999", class: model.ClassRateLimit, status: 429, retry: 24 * time.Hour},
		{row: "F_PROV_05", model: "fault-429-Wed, 21 Oct 2015 07:28:00 GMT", class: model.ClassRateLimit, status: 429},
		{row: "F_PROV_08", model: "fault-408", class: model.ClassTimeout, status: 408},
		{row: "F_PROV_08", model: "fault-500", class: model.ClassServer, status: 500},
		{row: "F_PROV_08", model: "fault-big", class: model.ClassServer, status: 500},
		{row: "F_PROV_08", model: "fault-502", class: model.ClassServer, status: 502},
		{row: "F_PROV_08", model: "fault-503", class: model.ClassOverloaded, status: 503},
		{row: "F_PROV_08", model: "fault-504", class: model.ClassServer, status: 504},
		{row: "F_PROV_08", model: "fault-520", class: model.ClassServer, status: 520},
		{row: "F_PROV_08", model: "fault-529", class: model.ClassOverloaded, status: 529},
		{row: "F_PROV_10", model: "fault-malformed", class: model.ClassMalformed, text: "fine "},
		{row: "F_PROV_10", model: "fault-noise", class: model.ClassMalformed},
		{row: "F_PROV_11", model: "fault-nothing", class: model.ClassEmpty},
		{row: "F_PROV_11", model: "fault-cut-0", class: model.ClassInterrupted},
		{row: "F_PROV_11", model: "fault-cut-3", class: model.ClassInterrupted, text: "w1 w2 w3 "},
		{row: "F_PROV_11", model: "fault-cut-tool", class: model.ClassInterrupted},
		{row: "F_PROV_13", model: "fault-empty", class: model.ClassEmpty},
		{row: "F_PROV_13", model: "fault-thinkonly", class: model.ClassEmpty},
		{row: "F_PROV_14", model: "fault-html", class: model.ClassMalformed, status: 200},
		{row: "F_PROV_14", model: "fault-gzip", class: model.ClassInterrupted},
		{row: "F_PROV_14", model: "fault-encoding", class: model.ClassMalformed},
		{row: "F_PROV_14", model: "fault-away", class: model.ClassInvalid, status: 307},
		{row: "F_PROV_18", model: "fault-context", class: model.ClassContext, status: 400},
		{row: "F_PROV_18", model: "fault-413", class: model.ClassContext, status: 413},
	}
}

// Every row of the list of faults × every dialect × streaming or in one piece:
// the right class, nothing that arrived is lost, no call of a broken answer is
// given out, and nothing secret is repeated.
func TestFault_F_PROV_01_03_04_dialects_and_manners(t *testing.T) {
	s := newServer(t)
	cases := 0
	for manner, dialects := range map[string]map[string]model.Provider{"streaming": s.dialects(nil), "whole": s.inOnePiece()} {
		for name, p := range dialects {
			for _, row := range faultRows() {
				cases++
				t.Run(row.row+"/"+name+"/"+manner+"/"+row.model, func(t *testing.T) {
					if manner == "whole" {
						row.text = ""
					}
					if row.model == "fault-noise" && name == "bedrock" && manner == "streaming" {
						row.class = model.ClassMalformed
					}
					row.check(t, collect(t, t.Context(), p, withTools(ask(row.model, "hello"))))
				})
			}
		}
	}
	if cases < 300 {
		t.Errorf("only %d cases", cases)
	}
}

func (f faultRow) check(t *testing.T, o outcome) {
	t.Helper()
	var e *model.Error
	if !errors.As(o.err, &e) {
		t.Fatalf("got %v, want a model error", o.err)
	}
	if e.Class != f.class || e.Status != f.status || o.text != f.text || e.RetryAfter != f.retry {
		t.Errorf("got %s, status %d, text %q, retry %v (%v); want %s, %d, %q, %v", e.Class, e.Status, o.text, e.RetryAfter, e, f.class, f.status,
			f.text, f.retry)
	}
	if len(o.calls) != 0 {
		t.Errorf("tool calls of a failed answer were given out: %+v", o.calls)
	}
	if strings.Contains(e.Error(), testKey) || len(e.Detail) > 200 || strings.ContainsAny(e.Detail, "\n\r\x00") {
		t.Errorf("detail is not clean: %q", e.Detail)
	}
}

// What works works in one piece too: words, reasoning, tools and their results,
// refusals and token counts.
func TestInOnePiece(t *testing.T) {
	s := newServer(t)
	for name, p := range s.inOnePiece() {
		t.Run(name, func(t *testing.T) {
			o := collect(t, t.Context(), p, ask("think", "hi"))
			if o.err != nil || o.text != "echo: hi" || o.thinking != "Let me think about that." || o.stop != model.StopEnd ||
				o.usage.Input+o.usage.CacheRead != 10 {
				t.Errorf("got %+v", o)
			}
			o = collect(t, t.Context(), p, withTools(ask("tools-3", "many")))
			if o.err != nil || len(o.calls) != 3 || o.stop != model.StopTool || string(o.calls[2].Arguments) != `{"n":2}` {
				t.Errorf("got %+v", o)
			}
			if o = collect(t, t.Context(), p, ask("fault-refusal", "no")); name != "ollama" && (o.err != nil || o.stop != model.StopRefusal) {
				t.Errorf("got %+v", o)
			}
		})
	}
}

// F-PROV-07: a failure that comes as an answer is a failure.
func TestFault_F_PROV_07_failures_inside_streams(t *testing.T) {
	s := newServer(t)
	want := map[string]model.Class{"openai": model.ClassServer, "responses": model.ClassServer, "anthropic": model.ClassOverloaded,
		"gemini": model.ClassOverloaded, "ollama": model.ClassServer, "bedrock": model.ClassServer}
	for name, p := range s.dialects(nil) {
		if o := collect(t, t.Context(), p, ask("fault-stream-error", "x")); o.class() != want[name] || o.text != "fine " {
			t.Errorf("%s: %q, %v", name, o.text, o.err)
		}
	}
}

// F-PROV-16: a call whose arguments are no JSON object is told as such, in every
// dialect, and cannot be run by mistake.
func TestFault_F_PROV_16_arguments_that_are_not_JSON(t *testing.T) {
	s := newServer(t)
	for manner, dialects := range map[string]map[string]model.Provider{"streaming": s.dialects(nil), "whole": s.inOnePiece()} {
		for name, p := range dialects {
			t.Run(name+"/"+manner, func(t *testing.T) {
				o := collect(t, t.Context(), p, withTools(ask("tool-badargs-session_status", "hello")))
				if o.err != nil || len(o.calls) != 1 || o.stop != model.StopTool {
					t.Fatalf("got %+v", o)
				}
				if c := o.calls[0]; string(c.Arguments) != "{}" || !strings.Contains(c.Problem, `They began: {"broken":`) &&
					!strings.Contains(c.Problem, `{\"broken\":`) {
					t.Errorf("call %+v", c)
				}
			})
		}
	}
}
