package openaiapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// A-NET-21: over HTTP a program reaches no tool by itself, and a model that
// answers it none of the dangerous ones.
func TestSec_A_NET_21_ProgramsReachNoDangerousTools(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	app := gatewaytest.ProgramOf(t, r, p, "notebook")
	for _, path := range []string{"/tools/invoke", "/tools", "/../tools/invoke"} {
		if status, _, raw := app.Do("POST", path, `{"tool":"exec","args":{"command":"id"}}`); status != 404 && status != 400 {
			t.Errorf("%s: %d %s", path, status, raw)
		}
	}
	for _, name := range []string{"exec", "process", "read", "write", "edit", "apply_patch", "gateway", "message", "sessions_spawn",
		"sessions_send", "sessions_history", "memory_search", "memory_note"} {
		msg, _ := app.Chat(gatewaytest.Said{"model": "chat/tool-" + name,
			"messages": []any{gatewaytest.UserSays(`{"command":"id","path":"/etc/passwd","action":"list"}`)}})
		if text, _ := msg["content"].(string); !strings.Contains(text, "no tool called") {
			t.Errorf("%s: %s", name, text)
		}
	}
	// A tool of the program's that is called like one of ours is the program's.
	brought := []any{gatewaytest.Said{"type": "function", "function": gatewaytest.Said{"name": "exec"}}}
	msg, finish := app.Chat(gatewaytest.Said{"model": "chat/tool-exec", "messages": []any{gatewaytest.UserSays(`{"command":"id"}`)},
		"tools": brought})
	if finish != "tool_calls" {
		t.Errorf("%v", msg)
	}
}

// The gate in front of everything holds here as well.
func TestSec_A_WEB_01_GateBeforePrograms(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	app := gatewaytest.ProgramOf(t, r, r.Connect(), "notebook")
	body := gatewaytest.Said{"messages": []any{gatewaytest.UserSays("x")}}
	host := strings.TrimPrefix(r.Gateway.URL(), "http://")
	for name, x := range map[string]struct {
		status  int
		headers []string
	}{
		"another page":      {403, []string{"Origin", "http://evil.test"}},
		"a sandboxed page":  {403, []string{"Origin", "null"}},
		"another port":      {403, []string{"Origin", "http://127.0.0.1:1"}},
		"cross-site":        {403, []string{"Sec-Fetch-Site", "cross-site"}},
		"through a proxy":   {403, []string{"X-Forwarded-For", "127.0.0.1"}},
		"our own page":      {200, []string{"Origin", "http://" + host}},
		"a program":         {200, nil},
		"a socket, perhaps": {400, []string{"Connection", "Upgrade", "Upgrade", "websocket"}},
	} {
		status, _, raw := app.Do("POST", "/chat/completions", body, x.headers...)
		if x.status == 400 && (status == 200 || status == 400) { // an upgrade that is none is a plain request
			continue
		}
		if status != x.status {
			t.Errorf("%s: %d %s", name, status, raw)
		}
	}
	req := app.Request(t.Context(), "GET", "/models", nil)
	req.Host = "rebind.test"
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _ = resp.Body.Close(); resp.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("another name: %d", resp.StatusCode)
	}
	req = app.Request(t.Context(), "OPTIONS", "/chat/completions", nil, "Origin", "http://evil.test", "Access-Control-Request-Private-Network",
		"true")
	if resp, err = http.DefaultClient.Do(req); err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	for name := range resp.Header {
		if strings.HasPrefix(name, "Access-Control-Allow") {
			t.Errorf("%s is answered", name)
		}
	}
}

// A-NET-14: no spelling of a path goes around the tokens.
func TestSec_A_NET_14_PathsOfPrograms(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	gatewaytest.ProgramOf(t, r, r.Connect(), "notebook")
	for _, path := range []string{"/V1/models", "/v1/%2e%2e/models", "//v1/models", "/v1//models", "/v1/models;x", "/v1/models%00",
		"/v1/./models", "/x/../v1/models", "/v1/models.", "/v1%2fmodels", "/v1", "/v1/models"} {
		var d net.Dialer
		c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(r.Gateway.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, strings.TrimPrefix(r.Gateway.URL(), "http://"))
		raw, _ := io.ReadAll(c)
		_ = c.Close()
		if strings.Contains(string(raw), `"object"`) || strings.HasPrefix(string(raw), "HTTP/1.1 200") &&
			!strings.Contains(string(raw), "text/html") && !strings.Contains(string(raw), "page is not part") {
			t.Errorf("%s: %.80s", path, raw)
		}
	}
}

// A program without the owner's right gets nothing of the owner's into its
// prompt, and its words are no commands.
func TestProgramsWordsAreWords(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	app := gatewaytest.ProgramOf(t, r, p, "notebook")
	owner := gatewaytest.ProgramOf(t, r, p, "mine", "chat", "owner")
	for _, a := range []*gatewaytest.Program{app, owner} {
		for _, text := range []string{"/status", "/new", "/model chat/echo", "NO", "   /help"} {
			if msg, _ := a.Chat(gatewaytest.Said{"messages": []any{gatewaytest.UserSays(text)}}); !strings.Contains(fmt.Sprint(msg["content"]),
				strings.TrimSpace(text)) {
				t.Errorf("%q: %v", text, msg)
			}
		}
	}
	// The owner's token reaches the owner's conversations, the other does not.
	p.Ended(p.Send("main", "first", "hello").RunID)
	if status, _, raw := app.Do("POST", "/chat/completions", gatewaytest.Said{"messages": []any{gatewaytest.UserSays("x")}},
		"X-Hearth-Session",
		"agent:main:main"); status != 403 {
		t.Errorf("%d %s", status, raw)
	}
	owner.Chat(gatewaytest.Said{"messages": []any{gatewaytest.UserSays("from a program")}}, "X-Hearth-Session", "main")
	if h := p.History("main"); len(h.Messages) != 4 || h.Messages[2].Text() != "from a program" {
		t.Errorf("%d messages", len(h.Messages))
	}
}

// What a program asks for waits for nobody: with the pause or without money it
// is told so.
func TestProgramsAreToldOfThePause(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	app := gatewaytest.ProgramOf(t, r, p, "notebook")
	p.Do(protocol.MethodPauseSet, protocol.PauseSetParams{Level: "everything"}, nil)
	status, _, raw := app.Do("POST", "/chat/completions", gatewaytest.Said{"messages": []any{gatewaytest.UserSays("x")}})
	if status != 503 || !strings.Contains(raw, "paused") {
		t.Errorf("%d %s", status, raw)
	}
}

// Pictures come in the request; those that are not pictures are refused.
func TestProgramsSendPictures(t *testing.T) {
	r := gatewaytest.New(t, "chat/see")
	p := r.Connect()
	app := gatewaytest.ProgramOf(t, r, p, "notebook")
	p.Do(protocol.MethodConfigPatch,
		protocol.ConfigSetParams{Raw: `{models: {providers: {chat: {models: [{id: "see", input: ["text", "image"]}]}}}}`}, nil)
	const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	look := func(url string) (int, string) {
		status, _, raw := app.Do("POST", "/chat/completions",
			gatewaytest.Said{"messages": []any{gatewaytest.Said{"role": "user", "content": []any{gatewaytest.Said{"type": "text", "text": "look"},
				gatewaytest.Said{"type": "image_url", "image_url": gatewaytest.Said{"url": url}}}}}})
		return status, raw
	}
	if status, raw := look("data:image/png;base64," + dot); status != 200 || !strings.Contains(raw, "I see 1 pictures") {
		t.Errorf("%d %s", status, raw)
	}
	for _, bad := range []string{"data:image/png;base64,AAAA", "data:text/html;base64,PGI+", "data:,", "http://127.0.0.1/x.png"} {
		if status, raw := look(bad); status != 400 {
			t.Errorf("%s: %d %s", bad, status, raw)
		}
	}
}

// A run that was accepted and not answered before a restart is not answered for
// nobody.
func TestProgramIsGoneAfterARestart(t *testing.T) {
	r := gatewaytest.New(t, "chat/fault-hang")
	p := r.Connect()
	app := gatewaytest.ProgramOf(t, r, p, "notebook")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		resp, err := http.DefaultClient.Do(app.Request(ctx, "POST", "/chat/completions",
			gatewaytest.Said{"user": "anna", "messages": []any{gatewaytest.UserSays("go on")}}))
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	}()
	p.Until("begin", func(ev protocol.Event) bool {
		var a protocol.AgentEvent
		return ev.Event == protocol.EventAgent && json.Unmarshal(ev.Payload, &a) == nil && a.Data["phase"] == "start"
	})
	r.Restart()
	<-gone
	p = r.Connect()
	var list protocol.SessionsList
	for {
		p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
		if len(list.Sessions) != 1 {
			t.Fatalf("%+v", list.Sessions)
		}
		if !list.Sessions[0].HasActiveRun && list.Sessions[0].QueuedRuns == 0 {
			return
		}
	}
}
