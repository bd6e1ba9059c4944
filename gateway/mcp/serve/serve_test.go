package serve

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// fake is a gateway with a few rows. Chats that say "wait" do not end.
type fake struct {
	methods []string
	search  protocol.MemorySearchParams
	abort   protocol.ChatAbortParams
	began   string // the run
}

func (f *fake) Call(_ context.Context, method string, params, result any) error {
	f.methods = append(f.methods, method)
	switch r := result.(type) {
	case *protocol.SessionsList:
		r.Sessions = []protocol.SessionRow{{Key: "agent:main:main", DerivedTitle: "Hello", UpdatedAt: 1000},
			{Key: "agent:main:x", Label: "Mine", DerivedTitle: "not this", UpdatedAt: 2000}}
	case *protocol.ChatHistory:
		if params.(protocol.ChatHistoryParams).SessionKey != "x" {
			return errors.New("there is no such conversation")
		}
		r.Messages = []protocol.Message{{Role: protocol.MessageUser, Content: protocol.TextBlocks("hi")},
			{Role: protocol.MessageAssistant, Content: protocol.TextBlocks("hello")}}
	case *protocol.MemoryFound:
		f.search = params.(protocol.MemorySearchParams)
		r.Results = []protocol.MemoryHit{{Path: "MEMORY.md", StartLine: 3, EndLine: 4, Score: 0.5, Snippet: "likes tea"},
			{Path: "x", Citation: "memory/a.md#L1", Snippet: "b"}}
	case *protocol.NodeList:
		r.Nodes = []protocol.Node{{DisplayName: "phone", Connected: true}}
	case *protocol.ChatAbortResult:
		f.abort = params.(protocol.ChatAbortParams)
	}
	return nil
}

func (f *fake) CallTwice(ctx context.Context, method string, params, _, final any) error {
	f.methods = append(f.methods, method)
	p := params.(protocol.AgentParams)
	f.began = p.IdempotencyKey
	if p.Message == "wait" {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	r := final.(*protocol.AgentResult)
	r.Status, r.Result.Payloads = "ok", []protocol.AgentText{{Text: p.SessionKey + " heard " + p.Message}}
	if p.Message == "break" {
		r.Status, r.Summary = "error", "no model answers"
	}
	return nil
}

// connect returns a client of the SDK.
func connect(t *testing.T, g Gateway) *mcp.ClientSession {
	t.Helper()
	near, far := mcp.NewInMemoryTransports()
	server, err := New(g, Options{Version: "test"}).Connect(t.Context(), far, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Wait()
	})
	return client
}

func TestListsItsTools(t *testing.T) {
	list, err := connect(t, &fake{}).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names, harmless []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if tool.Annotations.ReadOnlyHint {
			harmless = append(harmless, tool.Name)
		}
	}
	slices.Sort(names)
	if want := []string{"chat_send", "memory_search", "nodes", "sessions_history", "sessions_list"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	if len(harmless) != 4 || slices.Contains(harmless, "chat_send") {
		t.Errorf("harmless: %q", harmless)
	}
}

func TestCalls(t *testing.T) {
	for _, c := range []struct {
		tool, args, method, want string
		fails                    bool
	}{
		{"chat_send", `{"message":"hi"}`, protocol.MethodAgent, "main heard hi", false},
		{"chat_send", `{"message":"hi","session":"x"}`, protocol.MethodAgent, "x heard hi", false},
		{"chat_send", `{"message":"break"}`, protocol.MethodAgent, "no model answers", true},
		{"chat_send", `{"message":" "}`, "", "message is empty", true},
		{"chat_send", `{"message":"` + strings.Repeat("x", maxMessage+1) + `"}`, "", "larger than 64 KB", true},
		{"chat_send", `{"message":7}`, "", "not what the tool's schema says", true},
		{"sessions_list", `{}`, protocol.MethodSessionsList,
			`[{"session":"agent:main:main","title":"Hello","updatedAt":"1970-01-01T00:00:01Z"},{"session":"agent:main:x","title":"Mine","updatedAt":"1970-01-01T00:00:02Z"}]`, false},
		{"sessions_history", `{"session":"x"}`, protocol.MethodChatHistory, `[{"role":"user","text":"hi"},{"role":"assistant","text":"hello"}]`,
			false},
		{"sessions_history", `{"session":"y"}`, protocol.MethodChatHistory, "no such conversation", true},
		{"memory_search", `{"query":"tea"}`, protocol.MethodMemorySearch,
			`[{"where":"MEMORY.md:3-4","text":"likes tea","score":0.5},{"where":"memory/a.md#L1","text":"b","score":0}]`, false},
		{"memory_search", `{"query":""}`, "", "query is empty", true},
		{"nodes", `{}`, protocol.MethodNodeList, `"name":"phone"`, false},
	} {
		f := &fake{}
		res, err := connect(t, f).CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.args)})
		if err != nil {
			t.Errorf("%s %.60s: %v", c.tool, c.args, err)
			continue
		}
		text := res.Content[0].(*mcp.TextContent).Text
		if res.IsError != c.fails || !strings.Contains(text, c.want) {
			t.Errorf("%s %.60s: %v %s", c.tool, c.args, res.IsError, text)
		}
		if got := strings.Join(f.methods, " "); got != c.method {
			t.Errorf("%s %.60s called %q, want %q", c.tool, c.args, got, c.method)
		}
	}
}

// What is remembered of other people stays out of it.
func TestSec_A_MEM_SearchIsTheOwners(t *testing.T) {
	f := &fake{}
	if _, err := connect(t, f).CallTool(t.Context(), &mcp.CallToolParams{Name: "memory_search", Arguments: map[string]any{"query": "tea",
		"all": true}}); err != nil {
		t.Fatal(err)
	}
	if f.search.Query != "tea" || f.search.All {
		t.Errorf("%+v", f.search)
	}
}

// A caller that gives up stops the turn that it began, and only that.
func TestGivingUpStopsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		c := connect(t, f)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = c.CallTool(ctx, &mcp.CallToolParams{Name: "chat_send", Arguments: map[string]any{"message": "wait"}})
		}()
		synctest.Wait()
		cancel()
		<-done
		synctest.Wait()
		if f.began == "" || f.abort.RunID != f.began || f.abort.SessionKey != "main" {
			t.Errorf("began %q, stopped %+v", f.began, f.abort)
		}
	})
}

// slow answers after a while.
type slow struct {
	fake
	takes time.Duration
}

func (s *slow) CallTwice(ctx context.Context, method string, params, first, final any) error {
	select {
	case <-time.After(s.takes):
		return s.fake.CallTwice(ctx, method, params, first, final)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Clients give a call a minute, and another with each word of it: a caller that
// wants to be told hears of a long answer often enough, and nothing after its end.
func TestProgressWhileTheAnswerIsWritten(t *testing.T) {
	for _, c := range []struct {
		name       string
		wants      any // the token
		takes      time.Duration
		fewest, in int // words, at most so many seconds apart
	}{{"long", "t1", 3 * time.Minute, 12, 15}, {"short", "t2", time.Second, 0, 15}, {"not asked for", nil, 3 * time.Minute, 0, 0}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []time.Time
				var last float64
				near, far := mcp.NewInMemoryTransports()
				server, err := New(&slow{takes: c.takes}, Options{Version: "test"}).Connect(t.Context(), far, nil)
				if err != nil {
					t.Fatal(err)
				}
				client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
					ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
						if r.Params.ProgressToken != c.wants || r.Params.Progress <= last || r.Params.Message == "" {
							t.Errorf("%+v after %v", r.Params, last)
						}
						last, told = r.Params.Progress, append(told, time.Now())
					},
				}).Connect(t.Context(), near, nil)
				if err != nil {
					t.Fatal(err)
				}
				before := time.Now()
				p := &mcp.CallToolParams{Name: "chat_send", Arguments: map[string]any{"message": "hi"}}
				if c.wants != nil {
					p.SetProgressToken(c.wants)
				}
				res, err := client.CallTool(t.Context(), p)
				if err != nil || res.IsError {
					t.Fatalf("%+v %v", res, err)
				}
				end := time.Now()
				<-time.After(time.Minute) // of the test's own clock
				synctest.Wait()
				if len(told) < c.fewest || c.fewest == 0 && len(told) > 0 {
					t.Errorf("told %d times", len(told))
				}
				for _, at := range told {
					if at.Sub(before) > time.Duration(c.in)*time.Second || at.After(end) {
						t.Errorf("told at %v, %v after the word before it; the answer was there at %v", at, at.Sub(before), end)
					}
					before = at
				}
				_ = client.Close()
				_ = server.Wait()
			})
		})
	}
}
