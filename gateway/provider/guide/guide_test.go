package guide

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/model"
)

var update = flag.Bool("update", false, "write what was got into testdata")

func fixed() time.Time {
	return time.Date(2026, 11, 20, 14, 5, 0, 0, time.FixedZone("CET", 3600))
}

func options() Options {
	return Options{Now: fixed, DataDir: "/home/anna/.local/share/hearth", ConfigPath: "/home/anna/.local/share/hearth/hearth.json"}
}

func user(s string) model.Message {
	return model.Message{Role: model.RoleUser, Blocks: []model.Block{{Text: s}}}
}

func assistant(s string) model.Message {
	return model.Message{Role: model.RoleAssistant, Blocks: []model.Block{{Text: s}}}
}

var tools = []model.ToolSpec{
	{Name: "session_status", Description: "Tells about this chat: its model and age. Read only."},
	{Name: "files.read", Description: "Reads a file.\nMore."},
	{Name: "cron", Description: "Reminders."},
}

func talk(t testing.TB, p model.Provider, req model.Request) (text string, calls []model.ToolCall, stop model.StopReason) {
	t.Helper()
	for ev, err := range p.Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		if stop != "" {
			t.Fatal("an event after the end")
		}
		switch ev.Kind {
		case model.EventText:
			text += ev.Text
		case model.EventToolCall:
			calls = append(calls, *ev.Call)
		case model.EventStop:
			stop = ev.Stop
		}
	}
	if stop == "" {
		t.Fatal("no end")
	}
	return text, calls, stop
}

// testdata/answers.golden shows what the guide says.
func TestAnswers(t *testing.T) {
	questions := []string{"hi", "What can you do?", "How do I connect a model?", "Tell me about Ollama", "Where do I put my OpenAI API key?",
		"Which keyboard shortcuts are there?",
		"Where is my data?", "Is this private?", "What time is it?", "12.5% of 80 + 2^10", "echo  Hello  *world* ", "thanks!", "bye",
		"Who are you?", "which tools do you have?",
		"status", "Write a poem about the sea, please."}
	p := New(options())
	var b strings.Builder
	for _, q := range questions {
		text, calls, stop := talk(t, p, model.Request{Messages: []model.Message{user("earlier"), assistant("answer"), user(q)}, Tools: tools})
		fmt.Fprintf(&b, "######## %s\n%s\n", q, text)
		for _, c := range calls {
			fmt.Fprintf(&b, "[call %s %s %s]\n", c.ID, c.Name, c.Arguments)
		}
		fmt.Fprintf(&b, "[%s]\n\n", stop)
	}
	const path = "testdata/answers.golden"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTopics(t *testing.T) {
	tests := []struct {
		says  string // words of the answer that is right
		asked []string
	}{
		{"welcome to **Hearth**", []string{"Hi", "hello!", "Hey", "Good morning.", "hello hearth", "", "   "}},
		{"This is what works right now", []string{"help", "Help!", "/help", "What can you do?", "what can you do for me", "Hi, what can you do?",
			"Can you show me what you can do?"}},
		{"There are three ways to connect", []string{"How do I connect a model?", "how can i connect an ai model", "Connect LM Studio",
			"add a model", "which models are there?", "how do I switch to a real model", "is llama.cpp supported?"}},
		{"finds it by itself", []string{"ollama", "How do I use Ollama?", "install ollama"}},
		{"Do not paste the key", []string{"api key", "I have an OpenAI key", "how do I use claude?", "where does my ANTHROPIC API key go"}},
		{"| Shift + Enter |", []string{"shortcuts", "keyboard shortcuts?", "What shortcuts are there?"}},
		{"/home/anna/.local/share/hearth", []string{"Where is my data?", "where are my chats stored?", "how do I make a backup?",
			"where is hearth.json"}},
		{"does not phone home", []string{"privacy", "Is it private?", "does anything leave my computer?", "do you have telemetry?"}},
		{"**14:05**", []string{"What time is it?", "time", "what's the date today?", "Which day is it?", "what’s the time?"}},
		{"not an AI model**", []string{"who are you", "Are you an AI?", "what model are you?"}},
		{"Ask me again once a model is connected", []string{"Write a poem", "Help me write a letter", "What is the capital of France?",
			"summarise https://example.com", "tell me a joke",
			strings.Repeat("long text about ollama and time ", 50), "the status quo of philosophy in the time of connected models is something I " +
				"would like you to discuss in depth, with examples from history and the arts"}},
		{"= **4**", []string{"2+2", "what is 2 + 2?", "2 + 2 =", "calculate 8/2", "2^2"}},
		{"not switched on", []string{"status", "/status", "Show me the status"}},
		{"Reminders are not switched on", []string{"remind me tomorrow at 9 to call mum"}},
		{"Ask me again once", []string{"What did you remind me of?", "Nothing can remind me of home like this song."}},
	}
	p := New(options())
	for _, tt := range tests {
		for _, q := range tt.asked {
			text, _, _ := talk(t, p, model.Request{Messages: []model.Message{user(q)}})
			if !strings.Contains(text, tt.says) {
				t.Errorf("%.60q is not answered with %q but:\n%s", q, tt.says, text)
			}
		}
	}
}

// The first answer of a conversation says what the guide is, whatever it is
// about; later ones do so only where it matters.
func TestIntroducesItself(t *testing.T) {
	p := New(options())
	for _, q := range []string{"hi", "help", "2+2", "what time is it", "thanks", "how do I connect a model?", "write a poem", "echo x",
		"which shortcuts?", "privacy"} {
		first, _, _ := talk(t, p, model.Request{Messages: []model.Message{user(q)}})
		if !strings.Contains(first, "guide") || !strings.Contains(first, "not an AI model") && !strings.Contains(first, "needs an AI model") {
			t.Errorf("%q: the first answer does not say who speaks:\n%s", q, first)
		}
	}
	later, _, _ := talk(t, p, model.Request{Messages: []model.Message{user("hi"), assistant("x"), user("2+2")}})
	if strings.Contains(later, "guide") {
		t.Errorf("a later answer does, too: %s", later)
	}
}

func TestToolRequests(t *testing.T) {
	tests := []struct {
		asked, name, args string // name "" = no call
		says              string
	}{
		{asked: `/tool session_status {}`, name: "session_status", args: `{}`},
		{asked: `/tool session_status`, name: "session_status", args: `{}`},
		{asked: `  /tool files.read { "path": "a b" }  `, name: "files.read", args: `{"path":"a b"}`},
		{asked: `call session_status`, name: "session_status", args: `{}`},
		{asked: `Please call session_status.`, name: "session_status", args: `{}`},
		{asked: `use the files.read tool with {"path":"x"}`, name: "files.read", args: `{"path":"x"}`},
		{asked: `run the tool files.read{"path":"x"}`, name: "files.read", args: `{"path":"x"}`},
		{asked: `status`, name: "session_status", args: `{}`},
		{asked: `/tool`, says: "/tool NAME"},
		{asked: `/tool nothing {}`, says: "There is no tool called `nothing`"},
		{asked: `/tool session_status [1]`, says: "not a JSON object"},
		{asked: `/tool session_status {"a":`, says: "not a JSON object"},
		{asked: `/tool session_status {"a":1} and more`, says: "not a JSON object"},
		{asked: `call session_status with nonsense`, says: "not a JSON object"},
		{asked: `call me tomorrow`, says: "Ask me again"},
		{asked: `run`, says: "Ask me again"},
		{asked: `/tools`, says: "- `session_status`: Tells about this chat: its model and age."},
		{asked: `/toolbox`, says: "Ask me again"},
	}
	p := New(options())
	for _, tt := range tests {
		text, calls, stop := talk(t, p, model.Request{Messages: []model.Message{user(tt.asked)}, Tools: tools})
		if tt.name == "" {
			if len(calls) != 0 || stop != model.StopEnd || !strings.Contains(text, tt.says) {
				t.Errorf("%q: got %+v and\n%s", tt.asked, calls, text)
			}
			continue
		}
		want := []model.ToolCall{{ID: "guide_1", Name: tt.name, Arguments: json.RawMessage(tt.args)}}
		if diff := cmp.Diff(want, calls); diff != "" || stop != model.StopTool || !strings.Contains(text, "`"+tt.name+"`") {
			t.Errorf("%q: stop %s, text %q (-want +got)\n%s", tt.asked, stop, text, diff)
		}
	}
}

func TestToolResults(t *testing.T) {
	tests := []struct {
		name, result string
		isError      bool
		want         string
	}{
		{"object", `{"model":"guide/guide","count":3,"ok":true,"none":null,"empty":""}`, false, "`t` answered:\n\n- **model**: guide/guide\n" +
			"- **count**: 3\n- **ok**: yes\n- **none**: –\n- **empty**: –"},
		{"nested", `{"a":{"b":1}}`, false, "`t` answered:\n\n```\n{\n  \"a\": {\n    \"b\": 1\n  }\n}\n```"},
		{"text", "line 1\nline 2", false, "`t` answered:\n\n```\nline 1\nline 2\n```"},
		{"pairs", "session: agent:main:main\nsize: 2 *big*\nup: 0s", false, "`t` answered:\n\n- **session**: agent:main:main\n" +
			"- **size**: `2 *big*`\n- **up**: 0s"},
		{"fence inside", "a\n```\nb", false, "`t` answered:\n\n````\na\n```\nb\n````"},
		{"nothing", " ", false, "`t` answered:\n\n_nothing_"},
		{"error", "no such file", true, "`t` did not work. It said:\n\n```\nno such file\n```"},
		{"empty object", "{}", false, "`t` answered:\n\n```\n{}\n```"},
		{"two objects", `{"a":1} {"b":2}`, false, "`t` answered:\n\n```\n{\"a\":1} {\"b\":2}\n```"},
	}
	p := New(options())
	for _, tt := range tests {
		text, calls, stop := talk(t, p, model.Request{Tools: tools, Messages: []model.Message{
			user("/tool t"),
			{Role: model.RoleAssistant, Blocks: []model.Block{{Text: "Running `t`."},
				{ToolCall: &model.ToolCall{ID: "guide_1", Name: "t", Arguments: []byte("{}")}}}},
			{Role: model.RoleTool, Blocks: []model.Block{
				{ToolResult: &model.ToolResult{CallID: "guide_1", Name: "t", Text: tt.result, IsError: tt.isError}}}},
		}})
		if text != tt.want || len(calls) != 0 || stop != model.StopEnd {
			t.Errorf("%s: got %+v, %s and %q, want %q", tt.name, calls, stop, text, tt.want)
		}
	}
}

// Ids stay unique when tools are used again in the same conversation.
func TestCallIDs(t *testing.T) {
	call := model.Message{Role: model.RoleAssistant, Blocks: []model.Block{{ToolCall: &model.ToolCall{ID: "guide_1", Name: "session_status"}}}}
	result := model.Message{Role: model.RoleTool, Blocks: []model.Block{{ToolResult: &model.ToolResult{CallID: "guide_1", Text: "x"}}}}
	_, calls, _ := talk(t, New(options()), model.Request{Tools: tools, Messages: []model.Message{user("status"), call, result,
		assistant("done"), user("status")}})
	if len(calls) != 1 || calls[0].ID != "guide_2" {
		t.Errorf("got %+v", calls)
	}
}

func TestHint(t *testing.T) {
	o := options()
	o.Hint = func() string { return "Ollama is running but has no model yet." }
	for _, q := range []string{"hi", "connect a model", "ollama", "write a poem"} {
		if text, _, _ := talk(t, New(o), model.Request{Messages: []model.Message{user(q)}}); !strings.Contains(text,
			"> Ollama is running but has no model yet.") {
			t.Errorf("%q: no hint in\n%s", q, text)
		}
	}
}

func TestDelayAndCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options()
		o.Delay = 10 * time.Millisecond
		start := time.Now()
		talk(t, New(o), model.Request{Messages: []model.Message{user("echo one two three"), assistant("x"), user("echo one two three")}})
		if took := time.Since(start); took != 30*time.Millisecond {
			t.Errorf("took %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Millisecond)
		defer cancel()
		var words int
		var last error
		for ev, err := range New(o).Stream(ctx, model.Request{Messages: []model.Message{user("help")}}) {
			if last = err; ev.Kind == model.EventText {
				words++
			}
		}
		if words != 2 || !errors.Is(last, context.DeadlineExceeded) {
			t.Errorf("%d words, then %v", words, last)
		}
	})
	for range New(options()).Stream(t.Context(), model.Request{Messages: []model.Message{user("help")}}) {
		break
	}
}

func TestSums(t *testing.T) {
	tests := []struct{ in, want string }{ // want "" = not a sum
		{"2+2", "4"},
		{"0.1 + 0.2", "0.3"},
		{"15% of 80", "12"},
		{"2 x 3 × 4 · 5", "120"},
		{"10 ÷ 4", "2.5"},
		{"1/3", "≈ 0.333333333333"},
		{"-(2+3)*-4", "20"},
		{"2^3^2", "512"},
		{"-2^2", "-4"},
		{"2^-2", "0.25"},
		{"2**10", "1024"},
		{"2^200", "1606938044258990275541962092341162602522202993782792835301376"},
		{"7 divided by 2", "3.5"},
		{"three plus 2", ""},
		{"1/0", "not defined (division by zero)"},
		{"0^-1", "not defined (division by zero)"},
		{"What is 12 * 12?", "144"},
		{"17 % 5", ""},
		{"2^2^2^2^2^2^2", ""},
		{"9^99999", ""},
		{"2^0.5", ""},
		{"1+", ""},
		{"(1+2", ""},
		{"1..2+1", ""},
		{"42", ""},
		{"+49 0123 456", ""},
		{"2026-01-02", ""},
		{"c++ 17", ""},
		{"1e5+1", ""},
		{strings.Repeat("(", 60) + "1+1" + strings.Repeat(")", 60), ""},
		{strings.Repeat("1+", 100) + "1", ""},
	}
	for _, tt := range tests {
		_, got, ok := sumIn(tt.in)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("%q: got %q, %v; want %q", tt.in, got, ok, tt.want)
		}
	}
}

func FuzzSum(f *testing.F) {
	for _, s := range []string{"2+2", "2^-(3%)", "((1))/0", "9^9^9", "1.5.5", "--1*x3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if _, result, ok := sumIn(s); ok && (result == "" || len(result) > 3000) {
			t.Errorf("%q gives %q", s, result)
		}
	})
}

// Whatever a person says, the guide answers, and never with broken arguments.
func FuzzGuide(f *testing.F) {
	for _, s := range []string{"hi", "/tool session_status {", "call the tool with {}", "echo \xff", "/tool\n", "use use use"} {
		f.Add(s)
	}
	p := New(options())
	f.Fuzz(func(t *testing.T, s string) {
		_, calls, stop := talk(t, p, model.Request{Messages: []model.Message{user(s)}, Tools: tools})
		for _, c := range calls {
			if !json.Valid(c.Arguments) || c.Arguments[0] != '{' || stop != model.StopTool {
				t.Fatalf("%q: %+v", s, c)
			}
		}
	})
}

func BenchmarkFirstWord(b *testing.B) {
	p := New(options())
	req := model.Request{Messages: []model.Message{user("Write a poem about the sea, please.")}}
	for b.Loop() {
		for range p.Stream(b.Context(), req) {
			break
		}
	}
}

// A reminder needs no model: the guide has the tool plan it, and says what the tool
// has planned, in the person's zone.
func TestReminders(t *testing.T) {
	p := New(options())
	for said, text := range map[string]string{
		"remind me on Friday at nine to call mum":           "on Friday at nine to call mum",
		"Hey Hearth, can you remind me in 20 minutes: tea?": "in 20 minutes: tea",
		"Please remind me tomorrow at 9 to “call mum”.":     "tomorrow at 9 to “call mum”",
		"Bitte erinnere mich morgen um 7 an die Tablette":   "morgen um 7 an die Tablette",
		"请提醒我明天早上8点喝水":                                      "明天早上8点喝水",
	} {
		_, calls, _ := talk(t, p, model.Request{Messages: []model.Message{user(said)}, Tools: tools})
		want, _ := json.Marshal(map[string]string{"action": "add", "text": text})
		if len(calls) != 1 || calls[0].Name != "cron" || string(calls[0].Arguments) != string(want) {
			t.Errorf("%s: %+v", said, calls)
		}
	}
	if text, calls, _ := talk(t, p, model.Request{Messages: []model.Message{user("remind me!")}, Tools: tools}); len(calls) > 0 ||
		!strings.Contains(text, "When, and of what?") {
		t.Errorf("%q %+v", text, calls)
	}
	once := `{"id":"0123456789ab","name":"call *mum*","words":"once, on Friday 27 November 2026 at 09:00","zone":"Europe/Vienna","next":["a"]}`
	again := `{"id":"0123456789ab","name":"stretch","words":"every day at 09:00","zone":"UTC","next":["a","b"],"warning":"w"}`
	for result, want := range map[string]string{
		once: "Planned: **call mum**\n\nOnce, on Friday 27 November 2026 at 09:00 (Europe/Vienna).\n\n" +
			"`/cron delete 01234567` takes it back",
		again:         "(UTC). Next: a; b.\n\nCareful: w\n",
		`{"jobs":[]}`: "`cron` answered:",
	} {
		text, _, _ := talk(t, p, model.Request{Messages: []model.Message{user("remind me"), {Role: model.RoleTool,
			Blocks: []model.Block{{ToolResult: &model.ToolResult{Name: "cron", Text: result}}}}}, Tools: tools})
		if !strings.Contains(text, want) {
			t.Errorf("%s is told as %q, want %q", result, text, want)
		}
	}
	failed := &model.ToolResult{Name: "cron", Text: "“soonish” names no time", IsError: true}
	text, _, _ := talk(t, p, model.Request{Messages: []model.Message{user("remind me soonish"), {Role: model.RoleTool,
		Blocks: []model.Block{{ToolResult: failed}}}}, Tools: tools})
	if text != "That is not planned yet: “soonish” names no time" {
		t.Errorf("%q", text)
	}
}
