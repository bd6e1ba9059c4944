package policy

import "testing"

func TestResetTriggers(t *testing.T) {
	extra := []string{"/fresh", "start over", " "}
	tests := []struct {
		body string
		want Trigger
		ok   bool
	}{
		{"/new", Trigger{"/new", ""}, true},
		{"/reset", Trigger{"/reset", ""}, true},
		{"  /new  ", Trigger{"/new", ""}, true},
		{"/NEW", Trigger{"/new", ""}, true},
		{"/new what is up?", Trigger{"/new", "what is up?"}, true},
		{"/new\nline one\nline two", Trigger{"/new", "line one\nline two"}, true},
		{"/new@hearth_bot hi", Trigger{"/new", "hi"}, true},
		{"/new@hearth_bot", Trigger{"/new", ""}, true},
		{"/fresh air", Trigger{"/fresh", "air"}, true},
		{"start over", Trigger{"start over", ""}, true},
		{"Start over now", Trigger{"start over", "now"}, true},
		{"/newer", Trigger{}, false},
		{"/new-model", Trigger{}, false},
		{"say /new", Trigger{}, false},
		{"start overs", Trigger{}, false},
		{"", Trigger{}, false},
		{"/", Trigger{}, false},
	}
	for _, tc := range tests {
		got, ok := FindTrigger(tc.body, extra)
		if got != tc.want || ok != tc.ok {
			t.Errorf("%q: %+v %v, want %+v %v", tc.body, got, ok, tc.want, tc.ok)
		}
	}
	if tr, _ := FindTrigger("/new", nil); !tr.Alone() {
		t.Error("/new alone is not alone")
	}
	if tr, _ := FindTrigger("/new x", nil); tr.Alone() {
		t.Error("/new x is alone")
	}
}

func TestNewWithAModel(t *testing.T) {
	c := Catalogue{
		Aliases: map[string]string{"fast": "groq/llama-4-scout", "together": "together/qwen3"},
		Models: []string{"anthropic/claude-opus-4-5", "anthropic/claude-sonnet-4-5", "openai/gpt-5.2", "openai/gpt-5-mini",
			"openrouter/anthropic/claude-opus-4-5", "ollama/llama3.2", "mistral/mistral-large"},
	}
	tests := []struct{ rest, ref, message string }{
		{"fast", "groq/llama-4-scout", ""},
		{"FAST what is up", "groq/llama-4-scout", "what is up"},
		{"openai/gpt-5.2", "openai/gpt-5.2", ""},
		{"OpenAI/GPT-5.2 hello  there", "openai/gpt-5.2", "hello  there"},
		{"openrouter/anthropic/claude-opus-4-5", "openrouter/anthropic/claude-opus-4-5", ""},
		{"openai", "openai/gpt-5.2", ""},
		{"anthropic", "anthropic/claude-opus-4-5", ""},
		{"antropic", "anthropic/claude-opus-4-5", ""},
		{"opeani", "openai/gpt-5.2", ""},
		{"opena", "openai/gpt-5.2", ""},
		{"sonnet", "anthropic/claude-sonnet-4-5", ""},
		{"gpt-5-mini", "openai/gpt-5-mini", ""},
		{"mini", "openai/gpt-5-mini", ""},
		{"anthropic/sonnet", "anthropic/claude-sonnet-4-5", ""},
		{"antropic/sonnet write a poem", "anthropic/claude-sonnet-4-5", "write a poem"},
		{"llama3", "ollama/llama3.2", ""},
		// no model is meant
		{"openai is a company", "", "openai is a company"},
		{"sonnet or haiku?", "", "sonnet or haiku?"},
		{"hello", "", "hello"},
		{"hi", "", "hi"},
		{"new", "", "new"},
		{"/etc/passwd is what?", "", "/etc/passwd is what?"},
		{"and/or", "", "and/or"},
		{"", "", ""},
	}
	for _, tc := range tests {
		ref, message, ok := c.SplitModel(tc.rest)
		if ref != tc.ref || message != tc.message || ok != (tc.ref != "") {
			t.Errorf("%q: %q, %q, %v; want %q, %q", tc.rest, ref, message, ok, tc.ref, tc.message)
		}
	}
	tied := Catalogue{Models: []string{"a/x-opus", "b/y-opus"}}
	if ref, _, ok := tied.SplitModel("opus"); ok {
		t.Errorf("two models fit equally well, but %q was taken", ref)
	}
}

func FuzzTrigger(f *testing.F) {
	f.Add("/new openai hi", "/x")
	f.Add("/reset@\xff", "ß")
	f.Fuzz(func(t *testing.T, body, extra string) {
		tr, ok := FindTrigger(body, []string{extra})
		if ok && tr.Word == "" {
			t.Fatal("an empty trigger")
		}
		Catalogue{Models: []string{"openai/gpt-5.2"}}.SplitModel(tr.Rest)
	})
}
