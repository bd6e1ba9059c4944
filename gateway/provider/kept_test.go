package provider_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/anthropic"
	"github.com/hearth-assistant/hearth/gateway/provider/bedrock"
	"github.com/hearth-assistant/hearth/gateway/provider/gemini"
	"github.com/hearth-assistant/hearth/gateway/provider/ollama"
	"github.com/hearth-assistant/hearth/gateway/provider/openai"
	"github.com/hearth-assistant/hearth/gateway/provider/responses"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

// dialectsOf makes a provider of each dialect for a service.
func dialectsOf(s wire.Service) map[string]model.Provider {
	return map[string]model.Provider{
		"anthropic": anthropic.New(s, anthropic.Quirks{}), "bedrock": bedrock.New(s, bedrock.Quirks{}),
		"gemini": gemini.New(s, gemini.Quirks{}), "ollama": ollama.New(s, ollama.Quirks{ContextWindow: 9}),
		"openai": openai.New(s, openai.Quirks{}), "responses": responses.New(s, responses.Quirks{Reasons: true}),
	}
}

// conversationOfAll has everything that messages hold.
func conversationOfAll() []model.Message {
	call := func(id string) model.Block {
		return model.Block{ToolCall: &model.ToolCall{ID: id, Name: "x", Arguments: json.RawMessage(`{"a": "<é>"}`)}}
	}
	result := func(r model.ToolResult) model.Message {
		return model.Message{Role: model.RoleTool, Blocks: []model.Block{{ToolResult: &r}}}
	}
	picture := model.Image{MIME: "image/png", Data: []byte("bytes")}
	say := func(role model.Role, blocks ...model.Block) model.Message {
		return model.Message{Role: role, Blocks: blocks}
	}
	return []model.Message{
		say(model.RoleAssistant, model.Block{Text: "A note that came first."}),
		say(model.RoleUser, model.Block{Text: "a <question> & \"more\"\u2028 \xff"}),
		say(model.RoleUser, model.Block{Text: "see"}, model.Block{Image: &picture}),
		say(model.RoleAssistant, model.Block{Thinking: "hm", Signature: "anthropic:sig"}, model.Block{Text: "one"}, model.Block{Text: "two"},
			call("c.1"), call("c2")),
		result(model.ToolResult{CallID: "c.1", Name: "x", Text: "result\x00", Images: []model.Image{picture}}),
		result(model.ToolResult{CallID: "c2", Name: "x", IsError: true}),
		say(model.RoleUser, model.Block{Text: "meanwhile"}),
		say(model.RoleAssistant, model.Block{Thinking: "g", Signature: "google-generative-ai:s"}, model.Block{Text: "an answer"}),
		say(model.RoleAssistant, model.Block{Text: "and more"}),
		say(model.RoleUser, model.Block{Text: "and now?"}),
		say(model.RoleAssistant, call("c3")),
		result(model.ToolResult{CallID: "c3", Name: "x", Text: "done"}),
	}
}

// requestsOfAll grow as a conversation does.
func requestsOfAll(msgs []model.Message) (out []model.Request) {
	tools := []model.ToolSpec{{Name: "x", Description: "does <x>", Schema: json.RawMessage("{\"type\" : \"object\"}")}, {Name: "y"}}
	for n := range msgs {
		out = append(out, model.Request{Model: "m", System: "be <kind>|today", Stable: 10, Messages: msgs[:n+1], Tools: tools, MaxTokens: 7,
			Thinking: "low"})
	}
	temperature := 0.5
	return append(out, model.Request{Model: "m"}, model.Request{Model: "gemini-3-x", System: "x", Messages: msgs, Tools: tools[1:]},
		model.Request{Model: "anthropic.claude-opus-4-6", System: "same|other", Stable: 5, Messages: msgs[:10], Tools: tools, Thinking: "high"},
		model.Request{Model: "claude-opus-4-6", Messages: msgs[:10], Thinking: "high"},
		model.Request{Model: "m", Messages: msgs[1:2], Tools: tools, Options: &model.Options{Temperature: &temperature, Stop: []string{"s"}}})
}

// asked is what a service is sent.
func asked(t *testing.T) (url string, ask func(p model.Provider, req model.Request) string) {
	t.Helper()
	bodies := make(chan string, 10)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		bodies <- r.URL.Path + " " + string(raw)
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, func(p model.Provider, req model.Request) string {
		for range p.Stream(t.Context(), req) {
		}
		return <-bodies
	}
}

// What is written of messages, tools and prompts that were sent before is what
// would have been written of new ones, in every dialect, however a conversation
// grows.
func TestKeptRequestsAreThoseThatWouldBeWritten(t *testing.T) {
	url, ask := asked(t)
	kept := conversationOfAll()
	for i := range kept {
		kept[i] = kept[i].Keep()
	}
	stable := &wire.Stable{}
	dump := map[string][]string{}
	for name, remembers := range dialectsOf(wire.Service{BaseURL: url, Stable: stable}) {
		forgets := dialectsOf(wire.Service{BaseURL: url})[name]
		for range 2 {
			news := requestsOfAll(conversationOfAll())
			for i, req := range requestsOfAll(kept) {
				want := ask(forgets, news[i])
				dump[name] = append(dump[name], want)
				if diff := cmp.Diff(want, ask(remembers, req)); diff != "" {
					t.Fatalf("%s, request %d (-anew +kept):\n%s", name, i, diff)
				}
			}
		}
	}
	if path := os.Getenv("DUMP"); path != "" {
		raw, _ := json.MarshalIndent(dump, "", " ")
		_ = os.WriteFile(path, raw, 0o600)
	}
}

// BenchmarkRequest writes and sends the question of a conversation of 2,000
// messages.
func BenchmarkRequest(b *testing.B) {
	var msgs []model.Message
	for i := range 1000 {
		words := []model.Block{{Text: fmt.Sprintf("question %d, as people write them when they are brief and to the point", i)}}
		msgs = append(msgs, model.Message{Role: model.RoleUser, Blocks: words}.Keep(),
			model.Message{Role: model.RoleAssistant, Blocks: []model.Block{{Text: words[0].Text + ", and its answer"}}}.Keep())
	}
	msgs = append(msgs, model.Message{Role: model.RoleUser, Blocks: []model.Block{{Text: "and now?"}}})
	refuse := wire.Service{BaseURL: "http://127.0.0.1:1", Stable: &wire.Stable{},
		HTTP: &http.Client{Transport: refusing{}}}
	for name, p := range dialectsOf(refuse) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for range p.Stream(b.Context(), model.Request{Model: "m", System: "be kind", Messages: msgs}) {
				}
			}
		})
	}
}

type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
