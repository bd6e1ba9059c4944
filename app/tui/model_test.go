package tui

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/app/terminal"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const mainKey = "agent:main:main"

// gate is a gateway made of what a test says.
type gate struct {
	history map[string]protocol.ChatHistory
	rows    []protocol.SessionRow
	calls   []string
	fail    map[string]error // by method
	media   map[string][]byte
	prompts []protocol.PromptTemplate
}

func (g *gate) Call(_ context.Context, method string, params, result any) error {
	p, _ := json.Marshal(params)
	if method != protocol.MethodChatHistory && method != protocol.MethodView && !strings.Contains(method, "subscribe") &&
		!strings.Contains(method, "list") {
		g.calls = append(g.calls, method+" "+string(p))
	}
	if err := g.fail[method]; err != nil {
		return err
	}
	var out any
	switch method {
	case protocol.MethodChatHistory:
		var q protocol.ChatHistoryParams
		_ = json.Unmarshal(p, &q)
		out = g.history[q.SessionKey+q.SessionID]
	case protocol.MethodSessionsMessagesSubscribe:
		var q protocol.SessionKeyParams
		_ = json.Unmarshal(p, &q)
		if !strings.HasPrefix(q.Key, "agent:") {
			q.Key = "agent:main:" + q.Key
		}
		out = protocol.SubscribeResult{Subscribed: true, Key: q.Key}
	case protocol.MethodSessionsList:
		out = protocol.SessionsList{Sessions: g.rows, Defaults: protocol.SessionModelDefaults{ModelProvider: "chat", Model: "echo"}}
	case protocol.MethodSessionsCreate:
		out = protocol.SessionsCreateResult{OK: true, Key: "agent:main:chat:1"}
	case protocol.MethodUploadPut:
		var q protocol.UploadPutParams
		_ = json.Unmarshal(p, &q)
		out = protocol.UploadPutResult{Upload: "up1", Received: q.Size}
	case protocol.MethodMediaGet:
		var q protocol.MediaGetParams
		_ = json.Unmarshal(p, &q)
		out = protocol.Media{ID: q.ID, Content: base64.StdEncoding.EncodeToString(g.media[q.ID])}
	case protocol.MethodSessionsFork:
		out = protocol.ForkResult{SessionKey: "agent:main:chat:1"}
	case protocol.MethodPromptsList:
		out = protocol.PromptsList{Prompts: g.prompts}
	case protocol.MethodCommandsList:
		out = protocol.CommandsList{Commands: []protocol.CommandInfo{
			{Name: "status", TextAliases: []string{"/status"}, Description: "Show the model, the session and what is running"},
			{Name: "model", TextAliases: []string{"/model"}, Description: "Show or choose the model", AcceptsArgs: true, Args: []protocol.CommandArg{
				{Name: "[name]"}}},
			{Name: "think", TextAliases: []string{"/think"}, Description: "How long the model thinks", AcceptsArgs: true,
				Args: []protocol.CommandArg{{Name: "[level]", Choices: []protocol.CommandChoice{{Value: "off"}, {Value: "low"}, {Value: "high"}}}}},
		}}
	}
	if out != nil && result != nil {
		b, _ := json.Marshal(out)
		return json.Unmarshal(b, result)
	}
	return nil
}

// bench is a model that is driven by hand.
type bench struct {
	t *testing.T
	*Model
	g *gate
}

func newBench(t *testing.T, w, h int) *bench {
	g := &gate{history: map[string]protocol.ChatHistory{}, fail: map[string]error{}}
	n := 0
	m := newModel(t.Context(), g, "", "none", func() time.Time { return time.UnixMilli(1_700_000_000_000) },
		func() string { n++; return fmt.Sprint("run", n) })
	m.ticking = true // no clock
	b := &bench{t, m, g}
	b.do(tea.WindowSizeMsg{Width: w, Height: h})
	return b
}

func (b *bench) connect() *bench {
	b.do(connectedMsg{protocol.HelloOK{Snapshot: protocol.Snapshot{SessionDefaults: &protocol.SessionDefaults{MainSessionKey: mainKey}}}})
	return b
}

// do takes a message and everything that follows from it.
func (b *bench) do(msg tea.Msg) {
	b.t.Helper()
	cmd := b.take(msg)
	b.run(cmd)
}

func (b *bench) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			b.run(c)
		}
	case tea.QuitMsg:
		b.g.calls = append(b.g.calls, "quit")
	default:
		if list := reflect.ValueOf(msg); list.Kind() == reflect.Slice && list.Type().Elem() == reflect.TypeFor[tea.Cmd]() { // a tea.Sequence
			for i := range list.Len() {
				b.run(list.Index(i).Interface().(tea.Cmd))
			}
			return
		}
		b.do(msg)
	}
}

// keys presses keys by name; "'text" types.
func (b *bench) keys(names ...string) *bench {
	b.t.Helper()
	special := map[string]rune{"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "end": tea.KeyEnd, "backspace": tea.KeyBackspace, "f2": tea.KeyF2}
	for _, n := range names {
		if s, ok := strings.CutPrefix(n, "'"); ok {
			for _, r := range s {
				b.do(tea.KeyPressMsg{Code: r, Text: string(r)})
			}
			continue
		}
		var mod tea.KeyMod
		name := n
		if s, ok := strings.CutPrefix(name, "alt+"); ok {
			mod, name = tea.ModAlt, s
		}
		if s, ok := strings.CutPrefix(name, "ctrl+"); ok {
			mod, name = tea.ModCtrl, s
		}
		code, ok := special[name]
		if !ok {
			code = []rune(name)[0]
		}
		msg := tea.KeyPressMsg{Code: code, Mod: mod}
		if msg.String() != n {
			b.t.Fatalf("key %q is called %q", n, msg.String())
		}
		b.do(msg)
	}
	return b
}

func (b *bench) event(name string, payload any) {
	p, err := json.Marshal(payload)
	if err != nil {
		b.t.Fatal(err)
	}
	b.do(eventsMsg{{Event: name, Payload: p}})
}

func (b *bench) chat(run, state, phase, text string, at int) {
	b.event(protocol.EventChat, protocol.ChatEvent{RunID: run, SessionKey: mainKey, State: state, Phase: phase, DeltaText: text,
		Offset: int64(at), End: int64(at + len(text))})
}

// seen is the screen as plain text.
func (b *bench) seen() string {
	b.t.Helper()
	lines, x, y := b.screen()
	if len(lines) != b.h {
		b.t.Fatalf("%d lines on a screen of %d", len(lines), b.h)
	}
	for i, l := range lines {
		if width(l) > b.w {
			b.t.Fatalf("line %d takes %d of %d cells: %q", i, width(l), b.w, l)
		}
		plain := ansi.Strip(l)
		if terminal.Clean(plain) != plain {
			b.t.Fatalf("line %d is not clean: %q", i, plain)
		}
		lines[i] = strings.TrimRight(plain, " ")
	}
	if x >= b.w && b.w > 8 || y >= b.h {
		b.t.Fatalf("the cursor is at %d, %d", x, y)
	}
	return strings.Join(lines, "\n") + "\n"
}

func (b *bench) wants(parts ...string) {
	b.t.Helper()
	s := b.seen()
	for _, p := range parts {
		if not, ok := strings.CutPrefix(p, "!"); ok {
			if strings.Contains(s, not) {
				b.t.Errorf("%q is on the screen:\n%s", not, s)
			}
		} else if !strings.Contains(s, p) {
			b.t.Errorf("%q is not on the screen:\n%s", p, s)
		}
	}
}

func user(seq int64, run, text string, state protocol.ReceiptState) protocol.Message {
	return protocol.Message{Role: protocol.MessageUser, Content: protocol.TextBlocks(text), Meta: &protocol.MessageMeta{
		ID: fmt.Sprint("m", seq), Seq: seq, RunID: run},
		Hearth: &protocol.MessageReceipt{State: state}}
}

func answer(seq int64, run, text string) protocol.Message {
	return protocol.Message{Role: protocol.MessageAssistant, Content: protocol.TextBlocks(text), Provider: "chat", Model: "echo",
		Meta: &protocol.MessageMeta{ID: fmt.Sprint("m", seq), Seq: seq, RunID: run}}
}

func page(msgs ...protocol.Message) protocol.ChatHistory {
	return protocol.ChatHistory{SessionKey: mainKey, SessionID: "s1", Messages: msgs}
}

func TestSendAndStream(t *testing.T) {
	b := newBench(t, 80, 24).connect()
	b.keys("'hello", "alt+enter", "'world", "enter")
	want := []string{`chat.send {"sessionKey":"agent:main:main","message":"hello\nworld","idempotencyKey":"run1"}`}
	if d := cmp.Diff(want, b.g.calls); d != "" {
		t.Fatal(d)
	}
	b.wants("You ◷ accepted", "  hello", "  world")
	b.g.history[mainKey] = page(user(1, "run1", "hello\nworld", protocol.ReceiptAnswering))
	b.chat("run1", protocol.ChatStatus, "starting_model", "", 0)
	b.wants("You ● answering", "thinking…", "Esc stops")
	b.chat("run1", protocol.ChatDelta, "", "**Hi** th", 0)
	b.chat("run1", protocol.ChatDelta, "", "**Hi** th", 0) // twice
	b.chat("run1", protocol.ChatDelta, "", "**H", 0)       // an old one, late
	b.chat("run1", protocol.ChatDelta, "", "there", 7)     // overlapping
	b.wants("  Hi there", "!accepted")
	b.g.history[mainKey] = page(user(1, "run1", "hello\nworld", protocol.ReceiptAnswered), answer(2, "run1", "**Hi** there"))
	m := answer(2, "run1", "**Hi** there")
	b.event(protocol.EventChat, protocol.ChatEvent{RunID: "run1", SessionKey: mainKey, State: protocol.ChatFinal, Message: &m})
	b.chat("run1", protocol.ChatDelta, "", "late", 12)
	b.wants("You ✓", "Hearth · chat/echo", "  Hi there", "!late", "!Esc stops")
	if n := strings.Count(b.seen(), "Hi there"); n != 1 {
		t.Errorf("the answer is shown %d times", n)
	}
}

func TestQueueTabEditCancel(t *testing.T) {
	b := newBench(t, 80, 24)
	b.g.history[mainKey] = page(user(1, "a", "first", protocol.ReceiptAnswering))
	h := b.g.history[mainKey]
	h.InFlightRun = &protocol.InFlightRun{RunID: "a", Text: "so far", End: 6}
	b.g.history[mainKey] = h
	b.connect()
	b.wants("so far")
	b.keys("'later", "tab")
	if got := b.g.calls[0]; !strings.Contains(got, `"queueMode":"followup"`) {
		t.Errorf("Tab sent %s", got)
	}
	h.Messages = append(h.Messages, user(65536, "run1", "later", protocol.ReceiptAccepted),
		user(131072, "run2", "even later", protocol.ReceiptAccepted))
	b.g.history[mainKey] = h
	b.do(doneMsg{key: mainKey})
	b.wants("◷ later", "◷ even later", "2 waiting")
	b.g.calls = nil
	b.keys("alt+up")
	b.wants("✎ even later")
	b.keys("alt+up", "'!", "enter")
	b.keys("alt+up", "ctrl+x", "alt+up", "esc")
	want := []string{
		`hearth.queue.edit {"key":"agent:main:main","runId":"run1","message":"later!"}`,
		`chat.abort {"sessionKey":"agent:main:main","runId":"run2"}`,
	}
	if d := cmp.Diff(want, b.g.calls); d != "" {
		t.Error(d)
	}
	b.keys("esc")
	if got := b.g.calls[len(b.g.calls)-1]; got != `chat.abort {"sessionKey":"agent:main:main"}` {
		t.Errorf("Esc called %s", got)
	}
}

// A message that is written while there is no gateway is sent once, in order,
// under the key that it had from the start.
func TestFault_F_NET_TUI_OutboxSurvivesTheConnection(t *testing.T) {
	b := newBench(t, 80, 24).connect()
	b.g.fail[protocol.MethodChatSend] = fmt.Errorf("x: %w", client.ErrLost)
	b.keys("'one", "enter") // lost on the way: perhaps taken, perhaps not
	b.do(lostMsg{client.ErrLost})
	b.keys("'two", "enter")
	b.wants("offline, trying again", "is sent when the connection is back")
	if d := cmp.Diff([]string{"one", "two"}, b.Unsent()); d != "" {
		t.Fatal(d)
	}
	b.g.calls = nil
	delete(b.g.fail, protocol.MethodChatSend)
	b.connect()
	want := []string{
		`chat.send {"sessionKey":"agent:main:main","message":"one","idempotencyKey":"run1"}`,
		`chat.send {"sessionKey":"agent:main:main","message":"two","idempotencyKey":"run2"}`,
	}
	if d := cmp.Diff(want, b.g.calls); d != "" {
		t.Error(d)
	}
	if u := b.Unsent(); len(u) != 0 {
		t.Errorf("unsent: %q", u)
	}
}

// What the gateway has after a crash replaces what was seen of the answer.
func TestFault_F_CRASH_TUI_HistoryDecides(t *testing.T) {
	b := newBench(t, 80, 24)
	b.g.history[mainKey] = page(user(1, "a", "ask", protocol.ReceiptAnswering))
	b.connect()
	b.chat("a", protocol.ChatDelta, "", "partial words that were lost", 0)
	b.do(lostMsg{client.ErrLost})
	cut := answer(2, "a", "partial words")
	cut.Hearth = &protocol.MessageReceipt{State: protocol.ReceiptInterrupted}
	b.g.history[mainKey] = page(user(1, "a", "ask", protocol.ReceiptInterrupted), cut)
	b.connect()
	b.wants("■ interrupted · Ctrl+R sends it again", "partial words", "■ interrupted here", "!that were lost", "!thinking")
	b.keys("ctrl+r")
	if got := b.g.calls[len(b.g.calls)-1]; !strings.HasPrefix(got,
		`chat.send {"sessionKey":"agent:main:main","message":"ask","idempotencyKey":"run1"`) {
		t.Errorf("Ctrl+R called %s", got)
	}
}

func TestRefusedMessageIsSentAgainUnderItsKey(t *testing.T) {
	b := newBench(t, 80, 24).connect()
	b.g.fail[protocol.MethodChatSend] = protocol.Unavailable(0, "The disk is full. Free some space, then send it again.")
	b.keys("'hi", "enter")
	b.wants("You ✗ not sent", "The disk is full.")
	delete(b.g.fail, protocol.MethodChatSend)
	b.g.calls = nil
	b.keys("ctrl+r")
	if d := cmp.Diff([]string{`chat.send {"sessionKey":"agent:main:main","message":"hi","idempotencyKey":"run1"}`}, b.g.calls); d != "" {
		t.Error(d)
	}
}

func TestTools(t *testing.T) {
	b := newBench(t, 80, 24)
	call := answer(2, "a", "Let me look.")
	call.Content = append(call.Content, protocol.Block{Type: protocol.BlockToolCall, ID: "c1", Name: "weather",
		Arguments: json.RawMessage(`{"city":"Köln\u001b[2J"}`)})
	h := page(user(1, "a", "weather?", protocol.ReceiptAnswering), call)
	h.InFlightRun = &protocol.InFlightRun{RunID: "a", End: 12}
	b.g.history[mainKey] = h
	b.connect()
	b.wants("⚙ weather", "thinking…")
	b.event(protocol.EventAgent, protocol.AgentEvent{RunID: "a", SessionKey: mainKey, Stream: "tool", Data: map[string]any{"phase": "result",
		"toolCallId": "c1", "durationMs": 1234}})
	res := protocol.Message{Role: protocol.MessageToolResult, ToolCallID: "c1", ToolName: "weather", Content: protocol.TextBlocks("5 °C\n" +
		"rain"), Meta: &protocol.MessageMeta{ID: "m3", Seq: 3, RunID: "a"}}
	b.event(protocol.EventSessionMessage, protocol.SessionMessage{SessionKey: mainKey, Message: &res})
	b.wants("✓ weather", "1.2 s", "!rain")
	b.keys("ctrl+o")
	b.wants("← rain", "Köln")
	b.chat("a", protocol.ChatDelta, "", "\n\nIt rains.", 12)
	b.wants("It rains.")
}

func TestRecall(t *testing.T) {
	b := newBench(t, 80, 24)
	b.g.history[mainKey] = page(user(1, "a", "old", protocol.ReceiptAnswered), answer(2, "a", "x"),
		user(65536, "b", "new", protocol.ReceiptAnswered))
	b.connect()
	draft := func() string { return b.room.draft.text }
	var got []string
	for _, k := range []string{"up", "up", "up", "down", "down"} {
		b.keys(k)
		got = append(got, draft())
	}
	if d := cmp.Diff([]string{"new", "old", "old", "new", ""}, got); d != "" {
		t.Error(d)
	}
}

func TestCompletion(t *testing.T) {
	b := newBench(t, 80, 24).connect()
	b.keys("'/")
	b.wants("› /status", "/model [name]", "How long the model thinks")
	b.keys("'th", "tab")
	b.wants("› off", "  low")
	b.keys("down", "enter")
	if got := b.room.draft.text; got != "/think low" && len(b.g.calls) == 0 {
		t.Errorf("the composer holds %q", got)
	}
	b.room.draft.set("")
	b.keys("'/st", "enter")
	if got := b.g.calls[len(b.g.calls)-1]; !strings.Contains(got, `"message":"/status"`) {
		t.Errorf("Enter called %s", got)
	}
	b.keys("'/", "esc")
	b.wants("!/model")
}

func TestSessions(t *testing.T) {
	b := newBench(t, 120, 40)
	b.g.rows = []protocol.SessionRow{{Key: mainKey, DerivedTitle: "Hello", UpdatedAt: 5}, {Key: "agent:main:chat:9", Label: "Trip\x1b[31m",
		UpdatedAt: 3, QueuedRuns: 2}}
	b.g.history["agent:main:chat:9"] = protocol.ChatHistory{SessionID: "s9", Messages: []protocol.Message{
		user(1, "z", "Where to?", protocol.ReceiptAnswered)}}
	b.connect()
	b.wants("› Hello", "  Trip", "+2")
	b.keys("ctrl+b", "down", "enter")
	b.wants("Hearth · Trip", "Where to?")
	b.keys("f2", "ctrl+u", "'Rome", "enter")
	b.keys("ctrl+n")
	want := []string{`sessions.patch {"key":"agent:main:chat:9","label":"Rome"}`, `sessions.create {}`}
	if d := cmp.Diff(want, b.g.calls); d != "" {
		t.Error(d)
	}
	if b.room.key != "agent:main:chat:1" {
		t.Errorf("the open session is %s", b.room.key)
	}
	b.event(protocol.EventSessionsChanged, protocol.SessionsChanged{SessionKey: "agent:main:chat:9", Session: &protocol.SessionRow{
		Key: "agent:main:chat:9", Label: "Rome", UpdatedAt: 9, HasActiveRun: true}})
	b.wants("● Rome")
	b.event(protocol.EventSessionsChanged, protocol.SessionsChanged{SessionKey: mainKey, Reason: "delete"})
	b.wants("!Hello")
}

// A conversation that was opened by its name shows the answers that the gateway tells
// of by its key, also to a message that was sent before the key was known.
func TestAConversationIsOpenedByItsName(t *testing.T) {
	b := newBench(t, 60, 12)
	b.room = b.enter("review")
	b.keys("'early", "enter").connect()
	b.keys("'hi", "enter")
	if b.room.key != "agent:main:review" || len(b.rooms) != 1 {
		t.Fatalf("the open session is %s of %d", b.room.key, len(b.rooms))
	}
	for i := 1; i <= 2; i++ {
		run := fmt.Sprint("run", i)
		b.event(protocol.EventChat, protocol.ChatEvent{RunID: run, SessionKey: b.room.key, State: protocol.ChatDelta, DeltaText: "word" + run,
			End: 8})
		b.wants("word" + run)
		b.event(protocol.EventChat, protocol.ChatEvent{RunID: run, SessionKey: b.room.key, State: protocol.ChatFinal})
	}
	b.wants("!answering")
	if unsent := b.Unsent(); unsent != nil {
		t.Errorf("not sent: %q", unsent)
	}
}

func TestScrolling(t *testing.T) {
	b := newBench(t, 60, 14)
	var msgs []protocol.Message
	for i := range int64(40) {
		msgs = append(msgs, answer(i+1, "a", fmt.Sprintf("line-%02d", i)))
	}
	b.g.history[mainKey] = page(msgs...)
	b.connect()
	b.wants("line-39", "!line-20")
	b.keys("pgup", "pgup")
	before := b.seen()
	b.wants("more lines · End", "!line-39")
	late := answer(99, "a", "news")
	b.event(protocol.EventSessionMessage, protocol.SessionMessage{SessionKey: mainKey, Message: &late})
	if a, c := strings.Split(before, "\n")[1:8], strings.Split(b.seen(), "\n")[1:8]; cmp.Diff(a, c) != "" {
		t.Errorf("the text that is being read moved: %s", cmp.Diff(a, c))
	}
	b.keys("end")
	b.wants("news")
}

func TestLeaving(t *testing.T) {
	b := newBench(t, 80, 24).connect()
	b.keys("'draft", "ctrl+c")
	b.wants("Ctrl+C again")
	b.keys("ctrl+c")
	if len(b.g.calls) != 1 || b.g.calls[0] != "quit" {
		t.Errorf("calls: %q", b.g.calls)
	}
}

func TestDeltaGapReadsTheHistory(t *testing.T) {
	b := newBench(t, 80, 24)
	b.g.history[mainKey] = page(user(1, "a", "ask", protocol.ReceiptAnswering))
	b.connect()
	b.chat("a", protocol.ChatDelta, "", "one ", 0)
	h := b.g.history[mainKey]
	h.InFlightRun = &protocol.InFlightRun{RunID: "a", Text: "one two three", End: 13}
	b.g.history[mainKey] = h
	b.chat("a", protocol.ChatDelta, "", "three", 8)
	b.wants("one two three")
	b.chat("a", protocol.ChatDelta, "", " four", 13)
	b.wants("one two three four")
}

func TestReset(t *testing.T) {
	b := newBench(t, 80, 24)
	b.g.history[mainKey] = page(user(1, "a", "old words", protocol.ReceiptAnswered), answer(2, "a", "old answer"))
	b.connect()
	b.keys("'/new", "enter")
	b.g.history[mainKey] = protocol.ChatHistory{SessionID: "s2", Messages: []protocol.Message{
		user(1, "run1", "/new", protocol.ReceiptAnswered), answer(2, "run1", "Hi again")}}
	b.event(protocol.EventSessionsChanged, protocol.SessionsChanged{SessionKey: mainKey, Reason: "reset"})
	b.wants("Hi again", "!old words")
}

// What stood in a session before it began anew is read by scrolling up.
func TestEarlierConversationByScrollingUp(t *testing.T) {
	b := newBench(t, 80, 24)
	now := page(user(65536, "b", "today", protocol.ReceiptAnswered), answer(65537, "b", "yes, today"))
	now.SessionID, now.Earlier = "s3", &protocol.Earlier{SessionKey: mainKey, SessionID: "s2", Messages: 2}
	b.g.history[mainKey] = now
	past := page(user(1, "a", "old words", protocol.ReceiptAnswered), answer(2, "a", "old answer"))
	past.SessionID = "s2"
	b.g.history[mainKey+"s2"] = past
	b.connect()
	b.wants("New conversation · ↑ the earlier one (2 messages)", "today", "!old words")
	b.keys("pgup")
	b.wants("old words", "old answer", "── New conversation ──", "today", "!the earlier one")
	b.do(doneMsg{key: mainKey})
	b.wants("old words", "today")
}

// A message that was taken and then cleared away with its session does not
// wait on the screen for ever.
func TestClearedMessageGoes(t *testing.T) {
	b := newBench(t, 80, 24).connect()
	b.keys("'gone", "enter")
	b.wants("gone")
	for range 3 {
		b.do(doneMsg{key: mainKey})
	}
	b.wants("!gone")
}

// Calls of a program stand right under it.
func TestCodeMode_CallsStandUnderTheirProgram(t *testing.T) {
	b := newBench(t, 80, 24)
	call := answer(2, "a", "")
	call.Content = []protocol.Block{{Type: protocol.BlockToolCall, ID: "p", Name: "exec", Arguments: json.RawMessage(`{"code":"return 1"}`)}}
	nested := answer(3, "a", "")
	nested.Content = []protocol.Block{{Type: protocol.BlockToolCall, ID: "p/1", Name: "read",
		Arguments: json.RawMessage(`{"path":"notes.txt"}`), ParentID: "p", ToolID: "hearth:core:read"}}
	b.g.history[mainKey] = page(user(1, "a", "Look", protocol.ReceiptAnswered), call, nested,
		protocol.Message{Role: protocol.MessageToolResult, ToolCallID: "p/1", ToolName: "read", ParentToolCallID: "p",
			Content: protocol.TextBlocks("tea"), Meta: &protocol.MessageMeta{ID: "r1", Seq: 4, RunID: "a"}},
		protocol.Message{Role: protocol.MessageToolResult, ToolCallID: "p", ToolName: "exec", Content: protocol.TextBlocks("{}"),
			Meta: &protocol.MessageMeta{ID: "r2", Seq: 5, RunID: "a"}},
		answer(6, "a", "There is tea."))
	seen := b.connect().seen()
	if !strings.Contains(seen, "✓ exec return 1") || !regexp.MustCompile(`(?m)✓ exec return 1.*\n +↳ ✓ read notes.txt`).MatchString(seen) {
		t.Errorf("%s", seen)
	}
}
