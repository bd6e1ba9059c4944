package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// A message that asks for a model of its own says nothing of the session.
func TestModelOfOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, nil)
		defer c.close()
		c.down("b/two")
		if _, err := c.Submit(t.Context(), Turn{RunID: "a", SessionKey: benchKey, Text: "first", Model: "b/two"}); err != nil {
			t.Fatal(err)
		}
		if o := c.wait("a"); o.Run.State != RunFailed {
			t.Errorf("%+v", o.Run)
		}
		c.called("b/two")
		if row := c.row(); row.Override != (Override{}) {
			t.Errorf("%+v", row.Override)
		}
	})
}

// A summary is made by whoever answers.
func TestCompactionUsesTheFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, nil)
		defer c.close()
		c.down("a/one")
		for _, id := range []string{"a", "b", "c", "d"} {
			c.must(id, "hello "+id)
			c.wait(id)
		}
		sum, err := c.Compact(t.Context(), benchKey, "")
		if err != nil || sum.Summary != "I am b/two" {
			t.Errorf("%+v, %v", sum, err)
		}
		for _, r := range c.requests {
			if strings.Contains(r, "↪️") {
				t.Errorf("a notice is summarized: %s", r)
			}
		}
	})
}

// Stopping by hand is no failure: nothing else is asked.
func TestAbortDoesNotFailOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, nil)
		defer c.close()
		asked := make(chan struct{})
		c.answer = func(string, model.Request, func(model.Event) bool) error {
			close(asked)
			<-c.liveRun("a").ctx.Done()
			return context.Canceled
		}
		c.must("a", "first")
		<-asked
		if _, err := c.Abort(t.Context(), benchKey, "a"); err != nil {
			t.Fatal(err)
		}
		if o := c.wait("a"); o.Run.State != RunAborted {
			t.Errorf("%+v", o.Run)
		}
		c.called("a/one")
	})
}

// A conversation that is too long is summarized once and asked again, of the
// same model; nothing is lost and the session stays the same.
func TestFault_F_PROV_18_TooLongIsSummarizedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, nil)
		defer c.close()
		limit := 1 << 20
		c.answer = func(_ string, req model.Request, yield func(model.Event) bool) error {
			size := 0
			for _, m := range req.Messages {
				size += len(m.Blocks[0].Text)
			}
			if req.System != "" { // the summary
				say(yield, "notes")
			} else if size > limit {
				return &model.Error{Class: model.ClassContext, Status: 400}
			} else {
				say(yield, "fine")
			}
			return nil
		}
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			c.must(id, strings.Repeat(id, 2000))
			c.wait(id)
		}
		before := c.row()
		limit, c.calls = 5000, nil
		c.must("f", "and now?")
		if o := c.wait("f"); o.Run.State != RunAnswered || o.Message.Text() != "fine" {
			t.Errorf("%+v", o.Run)
		}
		c.called("a/one", "a/one", "a/one")
		if row := c.row(); row.SessionID != before.SessionID || row.Messages != 12 || row.Compaction == nil || row.Compaction.Summary != "notes" {
			t.Errorf("%+v", row)
		}
		limit, c.calls = 10, nil
		c.must("g", "still too long for you")
		if o := c.wait("g"); o.Run.State != RunFailed {
			t.Errorf("%+v", o.Run)
		}
		if slices.Contains(c.calls, "b/two") || len(c.calls) > 3 {
			t.Errorf("asked %v", c.calls)
		}
	})
}

// A name that is no model is refused before anything is written.
func TestChoosingNoModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, nil)
		defer c.close()
		if _, err := c.Patch(t.Context(), benchKey, protocol.SessionsPatchParams{Model: protocol.PatchTo("nonsense")}); err == nil {
			t.Error("accepted")
		}
		if _, err := c.rowOf(benchKey); !errors.Is(err, ErrNotFound) {
			t.Errorf("a session was made: %v", err)
		}
	})
}

// A failure of Hearth itself ends one answer, in words, and nothing else.
func TestAnAnswerThatPanicsFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, nil)
		defer c.close()
		c.down("z/none")
		prompt, broke := c.Prompt, ""
		c.Prompt = prompted(func(Asked) (string, int) { panic("nobody thought of this") })
		c.Observer = heard{broke: func(where string, panicked any) { broke = fmt.Sprint(where, ": ", panicked) }}
		c.must("a", "hello")
		if o := c.wait("a"); o.Run.State != RunFailed || !strings.Contains(o.Run.ErrorText, "hearth doctor") || broke != "an answer: nobody "+
			"thought of this" {
			t.Errorf("%+v, %q", o.Run, broke)
		}
		c.Prompt = prompt
		c.must("b", "again")
		if o := c.wait("b"); o.Run.State == RunFailed {
			t.Errorf("the next answer: %+v, %s", o.Run, broke)
		}
	})
}
