package chat_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestCommandsAnswerAtOnce(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Say("main", "m1", "hello")
	for _, tc := range []struct{ text, want string }{
		{"/help", "`/queue [mode] [debounce:ms] [cap:n] [drop:rule]`"},
		{"/help", "hold for its answer only"},
		{"/status", "chat/echo"},
		{"/whoami", "owner"},
		{"/usage", "tokens"},
		{"/context list", "System prompt"},
		{"/context detail", "Tool results"},
		{"/model", "Choose one with"},
		{"/model nonsense/x", "No model here"},
		{"/model chat/stream-2-0", "now uses **chat/stream-2-0**"},
		{"/model default", "default model again"},
		{"/think high", "now **high**"},
		{"/think maybe", "can be off, low, medium, high"},
		{"/verbose on", "now **on**"},
		{"/reasoning stream", "now **stream**"},
		{"/queue collect debounce:2s cap:25 drop:old", "**collect**, debounce 2s, cap 25, drop old"},
		{"/queue dance", "is not known"},
		{"/queue default", "like the others"},
		{"/send off", "held back"},
		{"/send inherit", "rules"},
		{"/compact", "nothing to summarize"},
		{"/stop", "Nothing was running"},
		{"/why", "- State: Answered\n- Model: chat/echo\n"},
		{"/why", "What decided:\n\n- Model: chat/echo answers"},
	} {
		end := p.Say("main", "cmd "+tc.text, tc.text)
		if end.State != protocol.ChatFinal || !strings.Contains(end.Message.Text(), tc.want) {
			t.Errorf("%s: %q %s, want %q", tc.text, end.Message.Text(), end.ErrorMessage, tc.want)
		}
	}
	if n := r.Model.Calls("/help"); n != 0 {
		t.Errorf("the model was asked about a command")
	}
	end := p.Say("main", "m2", "what now?")
	if end.Message.Text() != "echo: what now?" {
		t.Errorf("after the commands: %q", end.Message.Text())
	}
}

// Session page, "Reset triggers": /new starts afresh, may name a model, passes
// the rest through, and alone is greeted.
func TestNewSession(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Say("main", "a", "old talk")
	before := p.History("main").SessionID
	end := p.Say("main", "b", "/new chat/think what is new?")
	if !strings.Contains(end.Message.Text(), "what is new?") {
		t.Errorf("answer %q", end.Message.Text())
	}
	h := p.History("main")
	if h.SessionID == before || len(h.Messages) != 2 || h.Messages[1].Model != "think" {
		t.Errorf("new session: %+v", h)
	}
	end = p.Say("main", "c", "/reset")
	if !strings.Contains(end.Message.Text(), "Greet them") {
		t.Errorf("the greeting turn was given %q", end.Message.Text())
	}
	if h := p.History("main"); len(h.Messages) != 2 || h.Messages[0].Text() != "/reset" {
		t.Errorf("after /reset: %+v", h.Messages)
	}
	again := p.Send("main", "c", "/reset")
	if again.Status != protocol.SendOK || len(p.History("main").Messages) != 2 {
		t.Errorf("the same /reset again: %+v", again)
	}
}

// /stop and the plain word reach the running answer at once, past the queue.
func TestFault_F_WS_11_StopOvertakesTheQueue(t *testing.T) {
	r := gatewaytest.New(t, "chat/stream-2000-10")
	p := r.Connect()
	for _, stop := range []string{"/stop", "Stop!"} {
		p.Send("main", "long"+stop, "talk")
		p.Until("words", func(ev protocol.Event) bool {
			c, ok := gatewaytest.ChatOf(ev)
			return ok && c.RunID == "long"+stop && c.State == protocol.ChatDelta
		})
		p.Send("main", "wait"+stop, "and then")
		if end := p.Say("main", "stop"+stop, stop); !strings.Contains(end.Message.Text(), "Stopped 2 messages") {
			t.Errorf("%s said %q", stop, end.Message.Text())
		}
		if end := p.Ended("long" + stop); end.State != protocol.ChatAborted {
			t.Errorf("the answer ended as %q", end.State)
		}
	}
}

// /compact puts a summary before the model and takes nothing from the person.
func TestCompactAndRestore(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	for _, w := range []string{"one", "two", "three", "four"} {
		p.Say("main", w, w)
	}
	if end := p.Say("main", "k", "/compact keep names"); !strings.Contains(end.Message.Text(), "Summarized 4 entries") {
		t.Fatalf("compact said %q", end.Message.Text())
	}
	if h := p.History("main"); len(h.Messages) != 10 {
		t.Errorf("%d messages are left of 10", len(h.Messages))
	}
	end := p.Say("main", "c1", "/context list")
	if !strings.Contains(end.Message.Text(), "Summary of 4 older entries") {
		t.Errorf("context: %q", end.Message.Text())
	}
	p.Say("main", "k2", "/compact restore")
	if end := p.Say("main", "c2", "/context list"); strings.Contains(end.Message.Text(), "Summary") {
		t.Errorf("after the restore: %q", end.Message.Text())
	}
}

// A waiting message can be reworded and cancelled.
func TestQueuedMessagesCanBeEdited(t *testing.T) {
	r := gatewaytest.New(t, "chat/stream-40-20")
	p := r.Connect()
	p.Send("main", "a", "first")
	p.Send("main", "b", "secnod")
	p.Send("main", "c", "third")
	p.Do(protocol.MethodQueueEdit, protocol.QueueEditParams{Key: "main", RunID: "b", Message: "second"}, nil)
	p.Do(protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: "main", RunID: "c"}, nil)
	if end := p.Ended("b"); !strings.HasPrefix(end.Message.Text(), "re: second\n") {
		t.Errorf("the edited message was answered %q", end.Message.Text())
	}
	if end := p.Ended("c"); end.State != protocol.ChatAborted {
		t.Errorf("the cancelled message ended as %q", end.State)
	}
	if err := p.Call(t.Context(), protocol.MethodQueueEdit, protocol.QueueEditParams{Key: "main", RunID: "b", Message: "x"},
		nil); err == nil || !strings.Contains(err.Error(), "does not wait") {
		t.Errorf("editing an answered message: %v", err)
	}
}

// Session page, "Gateway is the source of truth": token counts come from the
// gateway.
func TestSessionsUsage(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Say("main", "a", "count me")
	p.Say("other", "b", "and me")
	var one, all protocol.SessionsUsage
	p.Do(protocol.MethodSessionsUsage, protocol.SessionsUsageParams{Key: "main"}, &one)
	p.Do(protocol.MethodSessionsUsage, nil, &all)
	if len(one.Sessions) != 1 || one.Totals.Output == 0 || one.Totals.TotalTokens != one.Totals.Input+one.Totals.Output {
		t.Errorf("one session: %+v", one)
	}
	if len(all.Sessions) != 2 || all.Totals.TotalTokens <= one.Totals.TotalTokens {
		t.Errorf("all sessions: %+v", all)
	}
}

// sessions.abort stops by the session or by the run alone, and says what it did.
func TestSessionsAbort(t *testing.T) {
	r := gatewaytest.New(t, "chat/stream-2000-10")
	p := r.Connect()
	var res protocol.SessionsAbortResult
	p.Do(protocol.MethodSessionsAbort, protocol.SessionsAbortParams{Key: "main"}, &res)
	if res.Status != "no-active-run" || res.AbortedRunID != nil {
		t.Errorf("nothing runs: %+v", res)
	}
	for _, params := range []protocol.SessionsAbortParams{{Key: "main"}, {RunID: "run-1"}} {
		id := "run-" + map[bool]string{true: "0", false: "1"}[params.RunID == ""]
		p.Send("main", id, "talk")
		p.Until("words", func(ev protocol.Event) bool {
			c, ok := gatewaytest.ChatOf(ev)
			return ok && c.RunID == id && c.State == protocol.ChatDelta
		})
		p.Do(protocol.MethodSessionsAbort, params, &res)
		if res.Status != "aborted" || res.AbortedRunID == nil || *res.AbortedRunID != id {
			t.Errorf("%+v: %+v", params, res)
		}
		if end := p.Ended(id); end.State != protocol.ChatAborted {
			t.Errorf("ended as %q", end.State)
		}
	}
}

// Session page, "Pre-compaction memory flush": before a summary the model writes
// durable notes into the workspace, if the person has one.
func TestMemoryFlushBeforeCompaction(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	work := filepath.Join(t.TempDir(), "work")
	p := r.Connect()
	p.Do(protocol.MethodConfigPatch,
		protocol.ConfigSetParams{Raw: fmt.Sprintf(`{"agents":{"defaults":{"workspace":%q,"skipBootstrap":true}}}`, work)}, nil)
	notes := func() string {
		files, _ := filepath.Glob(filepath.Join(work, "memory", "*.md"))
		if len(files) != 1 {
			return ""
		}
		b, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, w := range []string{"my cat is Mimi", "two", "three", "four"} {
		p.Say("main", w, w)
	}
	p.Say("main", "k1", "/compact")
	if _, err := os.Stat(work); err == nil {
		t.Error("a workspace was made although the settings say no")
	}
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{"five", "six", "seven"} {
		p.Say("main", w, w)
	}
	if end := p.Say("main", "k2", "/compact"); !strings.Contains(end.Message.Text(), "Summarized") {
		t.Fatalf("compact said %q", end.Message.Text())
	}
	if got := notes(); !strings.Contains(got, "user: five") || !strings.Contains(got, "my cat is Mimi") {
		t.Errorf("notes: %q", got)
	}
}
