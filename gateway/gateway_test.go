package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/startup"
)

// A message goes in, the answer streams out, and the transcript holds both, in
// each dialect and with the built-in guide.
func TestChatRoundTrip(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	for _, model := range []string{"chat/echo", "claude/echo", "llama/echo", "guide/guide"} {
		t.Run(strings.ReplaceAll(model, "/", "-"), func(t *testing.T) {
			key := "agent:main:" + strings.ReplaceAll(model, "/", "-")
			var patched protocol.SessionsPatchResult
			p.Do(protocol.MethodSessionsPatch, protocol.SessionsPatchParams{Key: key, Model: protocol.PatchTo(model)}, &patched)
			if got := patched.Resolved.ModelProvider + "/" + patched.Resolved.Model; got != model {
				t.Errorf("the answer to choosing %s names %s", model, got)
			}
			run := "run-" + model
			if got := p.Send(key, run, "hello there, friend"); got.RunID != run || got.Status != protocol.SendStarted {
				t.Fatalf("chat.send said %+v", got)
			}
			end := p.Ended(run)
			if end.State != protocol.ChatFinal || end.Message == nil {
				t.Fatalf("the run ended as %q: %s", end.State, end.ErrorMessage)
			}
			if !strings.HasPrefix(model, "guide") && end.Message.Text() != "echo: hello there, friend" {
				t.Errorf("answer %q", end.Message.Text())
			}
			if guide := strings.HasPrefix(model, "guide"); guide != (end.Message.Hearth != nil && end.Message.Hearth.BuiltIn) {
				t.Errorf("the built-in label is %v for %s", end.Message.Hearth, model)
			}
			h := p.History(key)
			if len(h.Messages) != 2 {
				t.Fatalf("%d messages in the transcript, want 2", len(h.Messages))
			}
			asked, answered := h.Messages[0], h.Messages[1]
			if asked.IdempotencyKey != run+":user" || asked.Hearth.State != protocol.ReceiptAnswered {
				t.Errorf("the question reads %+v, receipt %+v", asked, asked.Hearth)
			}
			if answered.Text() != end.Message.Text() || answered.Meta.ID != end.Message.Meta.ID {
				t.Errorf("the transcript says %q, the event said %q", answered.Text(), end.Message.Text())
			}
			if h.InFlightRun != nil {
				t.Errorf("a run is shown as in flight: %+v", h.InFlightRun)
			}
		})
	}
}

// A model that asks for a tool gets its result, and all steps stand in the
// transcript in order.
func TestToolTurn(t *testing.T) {
	r := gatewaytest.New(t, "chat/tool-session_status")
	p := r.Connect(protocol.CapToolEvents)
	p.Send("main", "t1", "how are things?")
	end := p.Ended("t1")
	if end.State != protocol.ChatFinal || !strings.Contains(end.Message.Text(), "session: "+gatewaytest.MainKey) {
		t.Fatalf("ended %q with %q %s", end.State, end.Message.Text(), end.ErrorMessage)
	}
	h := p.History("main")
	var roles []string
	for _, m := range h.Messages {
		roles = append(roles, m.Role)
	}
	if got := strings.Join(roles, " "); got != "user assistant toolResult assistant" {
		t.Fatalf("transcript roles: %s", got)
	}
	if c := h.Messages[1].Content; len(c) == 0 || c[len(c)-1].Type != protocol.BlockToolCall || c[len(c)-1].ID != h.Messages[2].ToolCallID {
		t.Errorf("call and result do not match: %+v / %+v", c, h.Messages[2])
	}
	p.Until("tool result event", func(ev protocol.Event) bool {
		return ev.Event == protocol.EventAgent && strings.Contains(string(ev.Payload), `"phase":"result"`)
	})
}

// F-WS-05: one key is one message, whoever sends it and how often; other words
// under it are a conflict.
func TestFault_F_WS_05_IdempotencyKey(t *testing.T) {
	r := gatewaytest.New(t, "chat/stream-5-20")
	peers := make([]*gatewaytest.Peer, 10)
	for i := range peers {
		peers[i] = r.Connect()
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	started := 0
	for i := range 100 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var res protocol.ChatSendResult
			err := peers[i%len(peers)].Call(t.Context(), protocol.MethodChatSend,
				protocol.ChatSendParams{SessionKey: "main", Message: "only once", IdempotencyKey: "k1"}, &res)
			if err != nil {
				t.Errorf("send %d: %v", i, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if res.Status == protocol.SendStarted {
				started++
			}
		}()
	}
	wg.Wait()
	if started != 1 {
		t.Errorf("%d sends started a run, want 1", started)
	}
	peers[0].Ended("k1")
	if n := r.Model.Calls("only once"); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	if got := peers[0].Send("main", "k1", "only once"); got.Status != protocol.SendOK {
		t.Errorf("after the end: %+v", got)
	}
	r.Restart()
	p := r.Connect()
	if got := p.Send("main", "k1", "only once"); got.Status != protocol.SendOK {
		t.Errorf("after a restart: %+v", got)
	}
	var pe *protocol.Error
	err := p.Call(t.Context(), protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: "main", Message: "other words",
		IdempotencyKey: "k1"}, nil)
	if !errors.As(err, &pe) || pe.Details["reason"] != "chat-request-conflict" {
		t.Errorf("other words under the key: %v", err)
	}
	if h := p.History("main"); len(h.Messages) != 2 {
		t.Errorf("%d messages, want 2", len(h.Messages))
	}
}

// Messages that arrive during an answer are answered after it, in order, and
// the transcript reads as a conversation.
func TestFault_F_CRASH_03_OrderIsAcceptanceOrder(t *testing.T) {
	r := gatewaytest.New(t, "chat/stream-3-5")
	p := r.Connect()
	for i := range 10 {
		p.Send("main", fmt.Sprintf("o%d", i), fmt.Sprintf("question %d", i))
	}
	for i := range 10 {
		p.Ended(fmt.Sprintf("o%d", i))
	}
	h := p.History("main")
	if len(h.Messages) != 20 {
		t.Fatalf("%d messages, want 20", len(h.Messages))
	}
	for i := range 10 {
		q, a := h.Messages[2*i], h.Messages[2*i+1]
		want := fmt.Sprintf("question %d", i)
		if q.Text() != want || !strings.HasPrefix(a.Text(), "re: "+want+"\n") {
			t.Fatalf("turn %d reads %q / %q", i, q.Text(), a.Text())
		}
	}
}

// Stop ends the answer within 250 ms, keeps the text it had, and lets the next
// message through; queued messages are stopped first.
func TestStopKeepsThePartialText(t *testing.T) {
	r := gatewaytest.New(t, "chat/stream-1000-10")
	p := r.Connect()
	p.Send("main", "s1", "go on")
	p.Until("some words", func(ev protocol.Event) bool {
		c, ok := gatewaytest.ChatOf(ev)
		return ok && c.State == protocol.ChatDelta
	})
	p.Send("main", "s2", "and then?")
	var res protocol.ChatAbortResult
	p.Do(protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: "main"}, &res)
	end := p.Ended("s1") // long before the model would have finished; how long is benchtool's business
	if !res.Aborted || strings.Join(res.RunIDs, " ") != "s2 s1" {
		t.Errorf("chat.abort said %+v", res)
	}
	if end.State != protocol.ChatAborted || end.Message == nil || !strings.HasPrefix(end.Message.Text(), "re: go on") {
		t.Errorf("ended %+v", end)
	}
	if end := p.Ended("s2"); end.State != protocol.ChatAborted {
		t.Errorf("the queued message ended as %q", end.State)
	}
	h := p.History("main")
	if got := h.Messages[0].Hearth.State; got != protocol.ReceiptAborted {
		t.Errorf("receipt of the stopped message: %s", got)
	}
	p.Do(protocol.MethodSessionsPatch, protocol.SessionsPatchParams{Key: "main", Model: protocol.PatchTo("chat/echo")}, nil)
	p.Send("main", "s3", "still there?")
	if end := p.Ended("s3"); end.State != protocol.ChatFinal {
		t.Errorf("after the stop: %q %s", end.State, end.ErrorMessage)
	}
}

// Every way in which a model server fails ends in one visible state with plain
// words, in each dialect, and the next message works.
func TestFault_F_PROV_EveryFailureIsTold(t *testing.T) {
	faults := []string{"fault-401", "fault-402", "fault-429-7", "fault-500", "fault-529", "fault-empty", "fault-malformed", "fault-cut-3",
		"fault-html", "fault-context", "fault-refusal"}
	t.Parallel() // it waits as long as a service asks for
	r := gatewaytest.New(t, "chat/echo")
	for _, dialect := range []string{"chat", "claude", "llama"} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel() // a dialect's service knows nothing of the others'
			p := r.Connect()
			for _, fault := range faults {
				t.Run(fault, func(t *testing.T) { failureIsTold(t, p, dialect, fault) })
			}
		})
	}
}

func failureIsTold(t *testing.T, p *gatewaytest.Peer, dialect, fault string) {
	key, run := "agent:main:"+dialect+"-"+fault, dialect+fault
	p.Do(protocol.MethodSessionsPatch, protocol.SessionsPatchParams{Key: key, Model: protocol.PatchTo(dialect + "/" + fault)}, nil)
	p.Send(key, run, "please")
	end := p.Ended(run)
	if fault == "fault-refusal" && end.State == protocol.ChatFinal && end.Message.Text() != "" {
		return // some services refuse in words of their own
	}
	if end.State != protocol.ChatError || len(end.ErrorMessage) < 20 || strings.Contains(end.ErrorMessage, "sk-test") {
		t.Fatalf("ended %q: %q", end.State, end.ErrorMessage)
	}
	if h := p.History(key); h.Messages[0].Hearth.State != protocol.ReceiptFailed || h.Messages[0].Hearth.Error != end.ErrorMessage {
		t.Errorf("receipt %+v", h.Messages[0].Hearth)
	}
	if strings.HasPrefix(fault, "fault-cut") && (end.Message == nil || end.Message.Text() == "") {
		t.Errorf("the words before the cut are lost")
	}
	p.Do(protocol.MethodSessionsPatch, protocol.SessionsPatchParams{Key: key, Model: protocol.PatchTo(dialect + "/echo")}, nil)
	p.Send(key, run+"-again", "please")
	if end := p.Ended(run + "-again"); end.State != protocol.ChatFinal {
		t.Errorf("the next message ended as %q: %s", end.State, end.ErrorMessage)
	}
}

// A client that reconnects in the middle of an answer gets the text so far and
// every word after it exactly once.
func TestFault_F_WS_04_ReconnectMidStreamHasNoGap(t *testing.T) {
	r := gatewaytest.New(t, "chat/stream-60-5")
	first := r.Connect()
	first.Send("main", "m1", "count")
	first.Until("some words", func(ev protocol.Event) bool {
		c, ok := gatewaytest.ChatOf(ev)
		return ok && c.State == protocol.ChatDelta
	})
	p := r.Connect(protocol.CapSlimDeltas)
	p.Do(protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: "main"}, nil)
	h := p.History("main")
	if h.InFlightRun == nil || h.InFlightRun.RunID != "m1" {
		t.Fatalf("in flight: %+v", h.InFlightRun)
	}
	if got := h.Messages[0].Hearth.State; got != protocol.ReceiptAnswering {
		t.Errorf("receipt while answering: %s", got)
	}
	end := p.Ended("m1")
	text, at := h.InFlightRun.Text, h.InFlightRun.End
	for _, c := range p.ChatEvents("m1") {
		switch {
		case c.State != protocol.ChatDelta || c.End <= at:
		case c.Offset > at:
			t.Fatalf("gap: have %d bytes, next delta starts at %d", at, c.Offset)
		default:
			text += c.DeltaText[at-c.Offset:]
			at = c.End
		}
	}
	if !strings.HasPrefix(end.Message.Text(), text) {
		t.Errorf("the deltas say %q, the final answer is %q", text, end.Message.Text())
	}
}

// A stop in good order keeps running answers with their text and queued
// messages in order.
func TestFault_F_LIFE_04_RestartUnderLoad(t *testing.T) {
	r := gatewaytest.New(t, "chat/stream-200-10")
	p := r.Connect()
	p.Send("main", "a", "long one")
	p.Until("some words", func(ev protocol.Event) bool {
		c, ok := gatewaytest.ChatOf(ev)
		return ok && c.State == protocol.ChatDelta
	})
	p.Send("main", "b", "second")
	p.Send("main", "c", "third")
	r.Shutdown()
	gatewaytest.WriteConfig(t, r.Dir, r.ModelURL, "chat/echo")
	r.Start()
	p = r.Connect()
	var wait protocol.AgentWaitResult
	for _, id := range []string{"b", "c"} {
		p.Do(protocol.MethodAgentWait, protocol.AgentWaitParams{RunID: id, TimeoutMs: 10_000}, &wait)
		if wait.Status != "ok" {
			t.Errorf("queued message %s: %+v", id, wait)
		}
	}
	h := p.History("main")
	var got []string
	for _, m := range h.Messages {
		got = append(got, m.Role+"/"+m.StopReason)
	}
	if s := strings.Join(got, " "); s != "user/ assistant/interrupted user/ assistant/stop user/ assistant/stop" {
		t.Fatalf("transcript: %s", s)
	}
	if h.Messages[0].Hearth.State != protocol.ReceiptInterrupted || !strings.HasPrefix(h.Messages[1].Text(), "re: long one") {
		t.Errorf("the interrupted turn: %+v %q", h.Messages[0].Hearth, h.Messages[1].Text())
	}
	if h.Messages[3].Text() != "echo: second" || h.Messages[5].Text() != "echo: third" {
		t.Errorf("answers %q, %q", h.Messages[3].Text(), h.Messages[5].Text())
	}
}

func TestSessionLifeCycle(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	var made protocol.SessionsCreateResult
	p.Do(protocol.MethodSessionsCreate, protocol.SessionsCreateParams{Label: "Trip", Message: "where to?", IdempotencyKey: "c1"}, &made)
	if !made.RunStarted || !strings.HasPrefix(made.Key, "agent:main:chat:") {
		t.Fatalf("sessions.create said %+v", made)
	}
	p.Ended("c1")
	var inj protocol.ChatInjectResult
	p.Do(protocol.MethodChatInject, protocol.ChatInjectParams{SessionKey: made.Key, Message: "noted", Label: "note"}, &inj)
	var list protocol.SessionsList
	p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{Search: "trip"}, &list)
	if list.Count != 1 || list.Sessions[0].Label != "Trip" || list.Sessions[0].MessageCount != 3 {
		t.Fatalf("sessions.list said %+v", list)
	}
	var exp protocol.TranscriptExport
	p.Do(protocol.MethodTranscriptExport, protocol.TranscriptExportParams{Key: made.Key, Limit: 2}, &exp)
	if len(exp.Messages) != 2 || !exp.HasMore {
		t.Fatalf("export page: %d, more %v", len(exp.Messages), exp.HasMore)
	}
	p.Do(protocol.MethodTranscriptExport, protocol.TranscriptExportParams{Key: made.Key, After: exp.Messages[1].Meta.Seq}, &exp)
	if len(exp.Messages) != 1 || exp.HasMore || exp.Messages[0].Meta.ID != inj.MessageID {
		t.Fatalf("second export page: %+v", exp)
	}
	var reset protocol.SessionsResetResult
	p.Do(protocol.MethodSessionsReset, protocol.SessionsResetParams{Key: made.Key}, &reset)
	if reset.Entry.SessionID == made.SessionID || len(p.History(made.Key).Messages) != 0 {
		t.Errorf("after the reset: %+v", reset)
	}
	var del protocol.SessionsDeleteResult
	p.Do(protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: made.Key}, &del)
	if !del.Deleted {
		t.Errorf("sessions.delete said %+v", del)
	}
	p.Do(protocol.MethodSessionsList, nil, &list)
	if list.TotalCount != 0 {
		t.Errorf("%d sessions are left", list.TotalCount)
	}
}

// Bad parameters get a clear refusal and change nothing.
func TestBadMessagesAreRefused(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	big := strings.Repeat("x", protocol.MaxMessageText+1)
	for name, tc := range map[string]struct {
		params protocol.ChatSendParams
		want   string
	}{
		"empty":         {protocol.ChatSendParams{SessionKey: "main", Message: "  \n", IdempotencyKey: "1"}, "message is empty"},
		"no key":        {protocol.ChatSendParams{SessionKey: "main", Message: "x"}, "idempotencyKey"},
		"long key":      {protocol.ChatSendParams{SessionKey: "main", Message: "x", IdempotencyKey: strings.Repeat("k", 300)}, "idempotencyKey"},
		"too big":       {protocol.ChatSendParams{SessionKey: "main", Message: big, IdempotencyKey: "1"}, "at most"},
		"control chars": {protocol.ChatSendParams{SessionKey: "a\x00b", Message: "x", IdempotencyKey: "1"}, "control"},
		"long session":  {protocol.ChatSendParams{SessionKey: strings.Repeat("s", 600), Message: "x", IdempotencyKey: "1"}, "at most 512"},
		"bad agent":     {protocol.ChatSendParams{SessionKey: "agent:a/b:c", Message: "x", IdempotencyKey: "1"}, "agent id"},
		"attachment": {protocol.ChatSendParams{SessionKey: "main", Message: "x", IdempotencyKey: "1", Attachments: []protocol.Attachment{
			{Type: "image", Content: "eA=="}}}, "cannot see pictures"},
		"bad timeout": {protocol.ChatSendParams{SessionKey: "main", Message: "x", IdempotencyKey: "1", TimeoutMs: -5}, "time-out"},
	} {
		t.Run(name, func(t *testing.T) {
			err := p.Call(t.Context(), protocol.MethodChatSend, tc.params, nil)
			var pe *protocol.Error
			if !errors.As(err, &pe) || pe.Code != protocol.CodeInvalidRequest || !strings.Contains(pe.Message, tc.want) {
				t.Errorf("got %v, want INVALID_REQUEST with %q", err, tc.want)
			}
		})
	}
	var list protocol.SessionsList
	p.Do(protocol.MethodSessionsList, nil, &list)
	if list.TotalCount != 0 {
		t.Errorf("a refused message left %d sessions", list.TotalCount)
	}
}

// F-LIFE-01, F-LIFE-02: a second gateway on the folder and a port in use are
// told in words, and the first one is not disturbed.
func TestFault_F_LIFE_02_StartRefusals(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	_, err := gateway.New(t.Context(), gateway.Options{Dir: r.Dir, Env: gatewaytest.Env(t)})
	var se *startup.Error
	if !errors.As(err, &se) || !strings.Contains(err.Error(), "already running") || !strings.Contains(err.Error(), r.Gateway.URL()) {
		t.Errorf("second gateway: %v", err)
	}
	var port int
	if _, err := fmt.Sscanf(r.Gateway.URL(), "http://127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	other := r.Dir + "-other"
	t.Cleanup(func() { _ = os.RemoveAll(string(other)) })
	_, err = gateway.New(t.Context(), gateway.Options{Dir: other, Env: gatewaytest.Env(t), Port: port})
	if !errors.As(err, &se) || !strings.Contains(err.Error(), "Port") {
		t.Errorf("port in use: %v", err)
	}
	p.Send("main", "x", "hi")
	p.Ended("x")
}

// A start that fails after the port was opened says why, and gives port and store back.
func TestFault_F_LIFE_02_AFailedStartGivesAllBack(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	r.Shutdown()
	o := gateway.Options{Dir: r.Dir, Env: gatewaytest.Env(t), Port: gatewaytest.FreePort(t)}
	for _, at := range []string{r.Dir.Removed(), r.Dir.DeviceKey()} {
		old, err := os.ReadFile(at)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := errors.Join(os.RemoveAll(at), os.Mkdir(at, 0o700)); err != nil {
			t.Fatal(err)
		}
		var se *startup.Error
		if _, err := gateway.New(t.Context(), o); !errors.As(err, &se) || se.Fix == "" {
			t.Errorf("a folder in place of %s: %v", filepath.Base(at), err)
		}
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
		if old != nil {
			if err := os.WriteFile(at, old, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	g, err := gateway.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := g.Serve(ctx); err != nil {
		t.Error(err)
	}
}

// A-SEC-08: what holds messages or tokens is private, whatever the umask.
func TestSec_A_SEC_08_FilesArePrivate(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Send("main", "x", "hi")
	p.Ended("x")
	err := filepath.WalkDir(string(r.Dir), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 && path != string(r.Dir)+"/hearth.json" {
			t.Errorf("%s has mode %v", path, info.Mode().Perm())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
