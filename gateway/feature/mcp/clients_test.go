package mcp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// withToken sends a token with every request.
type withToken struct{ token string }

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if w.token != "" {
		r.Header.Set("Authorization", "Bearer "+w.token)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// serving is a gateway that serves MCP over HTTP.
func serving(t *testing.T, model string) (*gatewaytest.Rig, *gatewaytest.Peer) {
	r := gatewaytest.New(t, model)
	p := r.Connect()
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{"mcp":{"serve":{"http":{"enabled":true}}}}`}, nil)
	return r, p
}

// program is an MCP client of the official SDK with a token.
func program(r *gatewaytest.Rig, token string) *mcp.ClientSession {
	r.T.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "program", Version: "1"}, nil)
	s, err := c.Connect(r.T.Context(), &mcp.StreamableClientTransport{Endpoint: r.Gateway.URL() + "/mcp",
		HTTPClient: &http.Client{Transport: withToken{token}}, MaxRetries: -1}, nil)
	if err != nil {
		r.T.Fatal(err)
	}
	r.T.Cleanup(func() { _ = s.Close() })
	return s
}

func use(t *testing.T, s *mcp.ClientSession, name string, args map[string]any) (string, bool) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res.Content[0].(*mcp.TextContent).Text, !res.IsError
}

func offered(t *testing.T, s *mcp.ClientSession) (names []string) {
	t.Helper()
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list.Tools {
		names = append(names, one.Name)
	}
	slices.Sort(names)
	return names
}

// A program whose token has the owner's right talks in the owner's
// conversations and reads them.
func TestMCPOverHTTPForTheOwner(t *testing.T) {
	r, p := serving(t, "chat/echo")
	s := program(r, p.Token("desk", "mcp", "owner").Secret)
	if got := offered(t, s); !slices.Equal(got, []string{"chat_send", "memory_search", "nodes", "sessions_history", "sessions_list"}) {
		t.Errorf("%q", got)
	}
	if text, ok := use(t, s, "chat_send", map[string]any{"message": "over http"}); !ok || !strings.Contains(text, "over http") {
		t.Errorf("%q %v", text, ok)
	}
	if h := p.History("main"); len(h.Messages) != 2 || h.Messages[0].Text() != "over http" {
		t.Errorf("%+v", h.Messages)
	}
	if text, ok := use(t, s, "sessions_history", map[string]any{"session": "main"}); !ok || !strings.Contains(text, "over http") {
		t.Errorf("%q %v", text, ok)
	}
}

// A token is for what it is for: without one, with a wrong one or without the
// right, nothing is told; and nothing at all while it is off.
func TestSec_A_NET_20_MCPNeedsItsRight(t *testing.T) {
	r, p := serving(t, "chat/echo")
	chat, full := p.Token("chat", "chat", "models", "embeddings", "owner").Secret, p.Token("full", "mcp").Secret
	post := func(token string) int {
		t.Helper()
		resp := ask(r, token, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil)
		return resp.StatusCode
	}
	for token, want := range map[string]int{"": 401, "hearth_wrong": 401, chat: 403} {
		if got := post(token); got != want {
			t.Errorf("%.12q: %d, want %d", token, got, want)
		}
	}
	if resp := ask(r, full, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, nil); resp.StatusCode != 200 {
		t.Errorf("with the right: %d", resp.StatusCode)
	}
	if resp := ask(r, "", "{}", nil); resp.Header.Get("WWW-Authenticate") == "" {
		t.Error("nothing says that a token is needed")
	}
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{"mcp":{"serve":{"http":{"enabled":false}}}}`}, nil)
	if got := post(full); got != 404 {
		t.Errorf("off: %d", got)
	}
}

func ask(r *gatewaytest.Rig, token, body string, header map[string]string) *http.Response {
	r.T.Helper()
	req, err := http.NewRequestWithContext(r.T.Context(), http.MethodPost, r.Gateway.URL()+"/mcp", strings.NewReader(body))
	if err != nil {
		r.T.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := withToken{token}.RoundTrip(req)
	if err != nil {
		r.T.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	_ = resp.Body.Close()
	return resp
}

// A program without the owner's right has conversations of its own: it neither
// lists nor reads nor stops nor continues others, its words are not the owner's
// and carry no commands, and it is offered nothing that tells of the owner.
func TestSec_A_PAIR_14_AProgramSeesItsOwnConversations(t *testing.T) {
	r, p := serving(t, "chat/echo")
	p.Send("main", "private", "a private word")
	p.Ended("private")
	one, two := p.Token("one", "mcp"), p.Token("two", "mcp")
	s, other := program(r, one.Secret), program(r, two.Secret)
	if got := offered(t, s); !slices.Equal(got, []string{"chat_send", "sessions_history", "sessions_list"}) {
		t.Errorf("%q", got)
	}
	if text, ok := use(t, s, "chat_send", map[string]any{"message": "mine"}); !ok || !strings.Contains(text, "mine") {
		t.Errorf("%q %v", text, ok)
	}
	if text, _ := use(t, s, "sessions_list", nil); !strings.Contains(text, `"session":"main"`) || strings.Contains(text, "private") ||
		strings.Contains(text, "agent:") {
		t.Errorf("it lists %s", text)
	}
	if text, _ := use(t, s, "sessions_history", map[string]any{"session": "main"}); !strings.Contains(text, "mine") ||
		strings.Contains(text, "private") {
		t.Errorf("it reads %s", text)
	}
	for _, name := range []string{"agent:main:main", "agent:main:mcp-" + one.Token.ID + "-main", "../main", "mcp-" + one.Token.ID + "-main",
		" main"} {
		if text, ok := use(t, other, "sessions_history", map[string]any{"session": name}); ok &&
			(strings.Contains(text, "private") || strings.Contains(text, "mine")) {
			t.Errorf("%q: the other one reads %s", name, text)
		}
	}
	if len(p.History("main").Messages) != 2 {
		t.Error("it wrote into the owner's conversation")
	}
	for _, words := range []string{"/new", "/approve x", "/think high"} {
		if text, ok := use(t, s, "chat_send", map[string]any{"message": words}); ok || !strings.Contains(text, "is for the owner") {
			t.Errorf("%s: %q", words, text)
		}
	}
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "memory_search", Arguments: map[string]any{"query": "x"}})
	if err == nil && !res.IsError {
		t.Error("it searches the owner's memory")
	}
}

// What a program without the owner's right says gets no tool that acts.
func TestSec_A_PAIR_20_AProgramsWordsAreNotTheOwners(t *testing.T) {
	for _, c := range []struct {
		scopes []string
		refuse bool
	}{{[]string{"mcp"}, true}, {[]string{"mcp", "owner"}, false}} {
		r, p := serving(t, "chat/tool-text-sessions_list")
		s := program(r, p.Token("x", c.scopes...).Secret)
		text, _ := use(t, s, "chat_send", map[string]any{"message": "{}"})
		if refused := strings.Contains(text, "There is no tool called"); refused != c.refuse {
			t.Errorf("%q: %s", c.scopes, text)
		}
	}
}

// A revoked token ends what is under way and the answer that it began; its
// sessions are nobody's.
func TestSec_A_NET_12_ARevokedTokenEndsItsSessions(t *testing.T) {
	r, p := serving(t, "chat/fault-hang-mid")
	tok := p.Token("x", "mcp", "owner")
	s := program(r, tok.Secret)
	id := s.ID()
	ended := make(chan error, 1)
	go func() {
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "chat_send", Arguments: map[string]any{"message": "hang"}})
		if err == nil && !res.IsError {
			err = nil
		} else if err == nil {
			err = errors.New("failed")
		}
		ended <- err
	}()
	p.Until("the answer began", func(ev protocol.Event) bool {
		c, ok := gatewaytest.ChatOf(ev)
		return ok && c.State == protocol.ChatDelta
	})
	p.Do(protocol.MethodTokensRevoke, protocol.TokenRevokeParams{Token: tok.Token.ID}, nil)
	late, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("the call went on to its end")
		}
	case <-late.Done():
		t.Fatal("the call goes on")
	}
	p.Until("the answer was stopped", func(ev protocol.Event) bool {
		c, ok := gatewaytest.ChatOf(ev)
		return ok && c.State == protocol.ChatAborted
	})
	if resp := ask(r, tok.Secret, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		map[string]string{"Mcp-Session-Id": id}); resp.StatusCode != 401 {
		t.Errorf("%d", resp.StatusCode)
	}
	next := p.Token("y", "mcp", "owner")
	if resp := ask(r, next.Secret, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		map[string]string{"Mcp-Session-Id": id}); resp.StatusCode != 404 {
		t.Errorf("another token goes on with its session: %d", resp.StatusCode)
	}
}

// Pages of other sites, strange names of the host and messages without end get
// nowhere, also with a right token.
func TestSec_A_WEB_05_MCPIsBehindTheGate(t *testing.T) {
	r, p := serving(t, "chat/echo")
	tok := p.Token("x", "mcp").Secret
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	if resp := ask(r, tok, list, map[string]string{"Origin": "https://evil.example"}); resp.StatusCode != 403 ||
		resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another page: %d %v", resp.StatusCode, resp.Header)
	}
	if resp := ask(r, tok, list, map[string]string{"Content-Type": "text/plain"}); resp.StatusCode != 415 {
		t.Errorf("a form: %d", resp.StatusCode)
	}
	if resp := ask(r, tok, `{"x":"`+strings.Repeat("a", 2<<20)+`"}`, nil); resp.StatusCode != 413 {
		t.Errorf("a large message: %d", resp.StatusCode)
	}
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	full := false
	for range 40 {
		full = full || ask(r, tok, hello, nil).StatusCode == 429
	}
	if !full {
		t.Error("sessions without end")
	}
	if resp := ask(r, p.Token("y", "mcp").Secret, hello, nil); resp.StatusCode != 200 {
		t.Errorf("another program: %d", resp.StatusCode)
	}
}
