package gatewaytest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Program is a program that uses the endpoints with a token.
type Program struct {
	t     *testing.T
	Base  string
	Token string
}

// ProgramOf turns the endpoints on and makes a token.
func ProgramOf(t *testing.T, r *Rig, p *Peer, name string, scopes ...string) *Program {
	t.Helper()
	p.Do(protocol.MethodConfigPatch,
		protocol.ConfigSetParams{Raw: `{gateway: {http: {endpoints: {chatCompletions: {enabled: true}, responses: {enabled: true}}}}}`}, nil)
	var made protocol.TokenCreated
	p.Do(protocol.MethodTokensCreate, protocol.TokenCreateParams{Name: name, Scopes: scopes}, &made)
	return &Program{t: t, Base: r.Gateway.URL() + "/v1", Token: made.Secret}
}

// Request is one with the token.
func (p *Program) Request(ctx context.Context, method, path string, body any, headers ...string) *http.Request {
	p.t.Helper()
	var raw []byte
	switch b := body.(type) {
	case nil:
	case string:
		raw = []byte(b)
	default:
		var err error
		if raw, err = json.Marshal(b); err != nil {
			p.t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, p.Base+path, bytes.NewReader(raw))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.Token)
	if raw != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return req
}

// Do sends a request and reads the answer whole.
func (p *Program) Do(method, path string, body any, headers ...string) (status int, answer map[string]any, raw string) {
	p.t.Helper()
	resp, err := http.DefaultClient.Do(p.Request(p.t.Context(), method, path, body, headers...))
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	_ = json.Unmarshal(all, &answer)
	return resp.StatusCode, answer, string(all)
}

// Said is a JSON object of a request.
type Said = map[string]any

// Chat asks for a completion and returns its one message.
func (p *Program) Chat(body Said, headers ...string) (msg map[string]any, finish string) {
	p.t.Helper()
	status, answer, raw := p.Do("POST", "/chat/completions", body, headers...)
	if status != 200 {
		p.t.Fatalf("%d %s", status, raw)
	}
	choice := answer["choices"].([]any)[0].(map[string]any)
	return choice["message"].(map[string]any), choice["finish_reason"].(string)
}

// UserSays is a message of the user.
func UserSays(text string) Said { return Said{"role": "user", "content": text} }

// Data reads the events of a stream.
func (p *Program) Data(path string, body Said) (events []map[string]any) {
	p.t.Helper()
	body["stream"] = true
	resp, err := http.DefaultClient.Do(p.Request(p.t.Context(), "POST", path, body))
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		raw, _ := io.ReadAll(resp.Body)
		p.t.Fatalf("%d %s", resp.StatusCode, raw)
	}
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		text, ok := strings.CutPrefix(in.Text(), "data: ")
		if !ok {
			continue
		}
		if text == "[DONE]" {
			events = append(events, map[string]any{"done": true})
			continue
		}
		var ev map[string]any
		if err := json.Unmarshal([]byte(text), &ev); err != nil {
			p.t.Fatalf("%q: %v", text, err)
		}
		events = append(events, ev)
	}
	return events
}

// Weather is a tool of the program.
func Weather() []any {
	return []any{Said{"type": "function", "function": Said{"name": "get_weather", "description": "The weather of a city.",
		"parameters": Said{"type": "object", "properties": Said{"city": Said{"type": "string"}}}}}}
}
