package profile

import (
	"fmt"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

var limited = Failure{Class: model.ClassRateLimit}

func TestParseRef(t *testing.T) {
	for _, tt := range []struct{ in, ref, profile string }{
		{"anthropic/claude", "anthropic/claude", ""},
		{"anthropic/claude@work", "anthropic/claude", "anthropic:work"},
		{"anthropic/claude@anthropic:work", "anthropic/claude", "anthropic:work"},
		{"openai/gpt@openai-codex:me@example.com", "openai/gpt", "openai-codex:me@example.com"},
		{"openai/gpt@me@example.com", "openai/gpt", "openai:me@example.com"},
		{"cloudflare/@cf/meta/llama@work", "cloudflare/@cf/meta/llama", "cloudflare:work"},
		{"vertex/claude@20250101", "vertex/claude@20250101", ""},
		{"vertex/claude@20250101@work", "vertex/claude@20250101", "vertex:work"},
		{"lmstudio/llama@q4_k_m", "lmstudio/llama@q4_k_m", ""},
		{"lmstudio/llama@4bit", "lmstudio/llama@4bit", ""},
		{"a/b@", "a/b@", ""},
	} {
		ref, id, ok := ParseRef(tt.in)
		if !ok || ref.String() != tt.ref || id != tt.profile {
			t.Errorf("%q is %q with %q (%v), want %q with %q", tt.in, ref, id, ok, tt.ref, tt.profile)
		}
	}
	for _, in := range []string{"", "claude", "/x", "a/", "a/b@:x", "a/b@x:", "a/b@x y"} {
		if ref, id, ok := ParseRef(in); ok {
			t.Errorf("%q is taken as %q with %q", in, ref, id)
		}
	}
}

func FuzzParseRef(f *testing.F) {
	for _, s := range []string{"a/b@c", "a/@b@c:d@e", "a/b@20250101", "@/@@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ref, id, ok := ParseRef(s)
		if !ok {
			return
		}
		if ref.Provider == "" || ref.Model == "" {
			t.Errorf("%q has half a model", s)
		}
		if _, _, good := SplitID(id); id != "" && !good {
			t.Errorf("%q has the profile %q", s, id)
		}
	})
}

func TestOrder_explicit(t *testing.T) {
	w := newWorld(t, Options{Settings: Settings{
		Order:    map[string][]string{"anthropic": {"anthropic:b", "anthropic:gone", "openai:x", "anthropic:a", "anthropic:b"}},
		Profiles: []Profile{{ID: "anthropic:c", Provider: "anthropic", Type: OAuth}},
	}})
	w.add("anthropic:a", OAuth)
	w.add("anthropic:b", APIKey)
	w.add("anthropic:c", OAuth)
	w.add("openai:x", APIKey)
	w.want("auth.order goes before all else", w.ids("m", Pin{}), "anthropic:b", "anthropic:a")
	w.Use(t.Context(), "anthropic:b")
	w.want("and is no round robin", w.ids("m", Pin{}), "anthropic:b", "anthropic:a")
	w.Fail(t.Context(), "anthropic:b", "m", limited)
	w.want("a cooldown moves to the end even so", w.ids("m", Pin{}), "anthropic:a", "anthropic:b")
}

func TestOrder_codexServesOpenAI(t *testing.T) {
	w := newWorld(t, Options{Settings: Settings{Order: map[string][]string{"openai": {"openai-codex:me@example.com", "openai:backup"}}}})
	w.add("openai:backup", APIKey)
	w.add("openai-codex:me@example.com", OAuth)
	c := w.Candidates("openai", "gpt", Pin{}, w.clock())
	if len(c) != 2 || c[0].ID != "openai-codex:me@example.com" {
		t.Errorf("candidates are %v", c)
	}
	reset := w.clock().Add(3 * time.Hour)
	w.Fail(t.Context(), "openai-codex:me@example.com", "gpt", Failure{Class: model.ClassRateLimit, ResetAt: reset})
	if c = w.Candidates("openai", "gpt", Pin{}, w.clock()); c[0].ID != "openai:backup" || !c[1].Until.Equal(reset) {
		t.Errorf("after the usage limit: %v, want the backup first and the other back at %v", c, reset)
	}
	w.pass(3*time.Hour + time.Second)
	if c = w.Candidates("openai", "gpt", Pin{}, w.clock()); c[0].ID != "openai-codex:me@example.com" {
		t.Errorf("after its reset time the subscription is not first again: %v", c)
	}
}

func TestOrder_configuredBeforeStored(t *testing.T) {
	w := newWorld(t, Options{Settings: Settings{Profiles: []Profile{{ID: "anthropic:b", Provider: "anthropic", Type: APIKey},
		{ID: "openai:x", Provider: "openai", Type: APIKey}}}})
	w.add("anthropic:a", OAuth)
	w.add("anthropic:b", APIKey)
	w.want("auth.profiles", w.ids("m", Pin{}), "anthropic:b")
	w.Configure(t.Context(), Settings{Hosts: hosts})
	w.want("all that are stored", w.ids("m", Pin{}), "anthropic:a", "anthropic:b")
}

func TestOrder_roundRobin(t *testing.T) {
	w := newWorld(t, Options{Settings: Settings{Implicit: []Implicit{
		{Profile: Profile{"anthropic:default", "anthropic", APIKey, ""}, Source: SourceConfig, Key: "configured"},
		{Profile: Profile{"anthropic:env", "anthropic", APIKey, ""}, Source: SourceEnv, Key: "exported"},
	}}})
	w.add("anthropic:key1", APIKey)
	w.add("anthropic:key2", APIKey)
	w.add("anthropic:token", Token)
	w.add("anthropic:me", OAuth)
	w.want("OAuth, tokens, keys; the environment's was not chosen", w.ids("m", Pin{}),
		"anthropic:me", "anthropic:token", "anthropic:default", "anthropic:key1", "anthropic:key2")
	for _, id := range []string{"anthropic:key1", "anthropic:default", "anthropic:key2"} {
		w.pass(time.Second)
		w.Use(t.Context(), id)
	}
	w.want("the one that rested longest within its type", w.ids("m", Pin{}),
		"anthropic:me", "anthropic:token", "anthropic:key1", "anthropic:default", "anthropic:key2")
	w.Fail(t.Context(), "anthropic:me", "m", Failure{Class: model.ClassBilling})
	w.Fail(t.Context(), "anthropic:token", "m", Failure{Class: model.ClassAuth})
	w.want("blocked ones at the end, the soonest free first", w.ids("m", Pin{}),
		"anthropic:key1", "anthropic:default", "anthropic:key2", "anthropic:token", "anthropic:me")
}

// A key of the environment is asked where there is nothing else, or where the
// order names it: who added an account did not choose it.
func TestConsent_TheEnvironmentIsNoSpareAccount(t *testing.T) {
	found := Implicit{Profile: Profile{"anthropic:env", "anthropic", APIKey, ""}, Source: SourceEnv, Key: "exported"}
	w := newWorld(t, Options{Settings: Settings{Implicit: []Implicit{found}}})
	w.want("alone", w.ids("m", Pin{}), "anthropic:env")
	w.add("anthropic:mine", APIKey)
	w.Fail(t.Context(), "anthropic:mine", "m", Failure{Class: model.ClassBilling})
	w.want("not even when the other one rests", w.ids("m", Pin{}), "anthropic:mine")
	w.want("who names it has it", w.ids("m", Pin{Profile: "anthropic:env", User: true}), "anthropic:env")
	w.Configure(t.Context(), Settings{Implicit: []Implicit{found}, Order: map[string][]string{
		"anthropic": {"anthropic:mine", "anthropic:env"}}})
	w.want("by auth.order", w.ids("m", Pin{}), "anthropic:env", "anthropic:mine")
}

func TestPin_automatic(t *testing.T) {
	w := newWorld(t, Options{})
	w.add("anthropic:a", OAuth)
	w.add("anthropic:b", APIKey)
	pin := Pin{Profile: "anthropic:b", Compactions: 2}
	w.want("the pin goes first", w.ids("m", pin.Held(2)), "anthropic:b", "anthropic:a")
	w.want("until a compaction", w.ids("m", pin.Held(3)), "anthropic:a", "anthropic:b")
	w.Fail(t.Context(), "anthropic:b", "m", Failure{Class: model.ClassTimeout})
	w.want("or a cooldown", w.ids("m", pin), "anthropic:a", "anthropic:b")
	w.pass(time.Minute + time.Second)
	w.want("and first again after it", w.ids("m", pin), "anthropic:b", "anthropic:a")
}

func TestPin_userIsStrict(t *testing.T) {
	w := newWorld(t, Options{})
	w.add("anthropic:a", OAuth)
	w.add("anthropic:b", APIKey)
	pin := Pin{Profile: "anthropic:b", User: true}
	w.Fail(t.Context(), "anthropic:b", "m", limited)
	w.want("only that one, blocked or not", w.ids("m", pin.Held(7)), "anthropic:b")
	if c := w.Candidates("anthropic", "m", pin, w.clock()); !c[0].Blocked() {
		t.Error("the block is not told")
	}
	w.want("one that is gone is not replaced", w.ids("m", Pin{Profile: "anthropic:gone", User: true}))
	w.want("nor is another provider's taken", w.ids("m", Pin{Profile: "openai:x", User: true}))
}

func TestStoredGoesBeforeConfiguredOfTheSameName(t *testing.T) {
	s := Settings{Hosts: hosts, Implicit: []Implicit{{Profile: Profile{"anthropic:default", "anthropic", APIKey, ""}, Source: SourceConfig,
		Key: "configured"}}}
	w := newWorld(t, Options{Settings: s})
	w.add("anthropic:default", APIKey)
	value := func() string {
		c, err := w.Credential(t.Context(), "anthropic:default", "api.anthropic.com")
		if err != nil {
			t.Fatal(err)
		}
		return c.Value()
	}
	if got := value(); got != "key-of-anthropic:default" {
		t.Errorf("the key is %q", got)
	}
	w.Configure(t.Context(), s)
	if got := value(); got != "key-of-anthropic:default" {
		t.Errorf("after a reload the key is %q", got)
	}
	if ok, err := w.Remove(t.Context(), "anthropic:default"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if got := value(); got != "configured" {
		t.Errorf("after the removal the key is %q", got)
	}
}

func TestServiceWithoutKey(t *testing.T) {
	im := Implicit{Profile: Profile{"ollama:default", "ollama", None, ""}, Source: SourceConfig}
	w := newWorld(t, Options{Settings: Settings{Implicit: []Implicit{im}}})
	c := w.Candidates("ollama", "qwen", Pin{}, w.clock())
	if len(c) != 1 {
		t.Fatalf("candidates: %v", c)
	}
	if cred, err := w.Credential(t.Context(), c[0].ID, ThisComputer); err != nil || cred.Value() != "" {
		t.Errorf("credential %q, %v", cred.Value(), err)
	}
	w.Configure(t.Context(), Settings{})
	if c = w.Candidates("ollama", "qwen", Pin{}, w.clock()); len(c) != 0 {
		t.Errorf("still there after the settings changed: %v", c)
	}
}

func BenchmarkCandidates(b *testing.B) {
	book, err := Open(b.Context(), Options{Vault: newMemory(), Settings: Settings{Hosts: hosts}})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10 {
		id := fmt.Sprintf("anthropic:%d", i)
		if err := book.Add(b.Context(), Profile{ID: id, Provider: "anthropic", Type: APIKey}, Credential{Type: APIKey, Key: "key"}); err != nil {
			b.Fatal(err)
		}
		if i%3 == 0 {
			book.Fail(b.Context(), id, "m", limited)
		}
	}
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		book.Candidates("anthropic", "m", Pin{Profile: "anthropic:4"}, now)
	}
}
