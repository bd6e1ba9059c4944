package server

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/protocol/devicetest"
)

// Five hundred paired clients that were cut off at once are all back at their
// first try: none takes another's place, and none is held up as a guesser.
func TestFault_F_WS_03_ReconnectStorm(t *testing.T) {
	const crowd = 500
	devices := &memoryStore{}
	registry := newRegistry(t, pairing.Options{Store: devices})
	g := start(t, func(o *Options) {
		o.Auth = registry
		o.Limits.Handshake = 5 * time.Minute // how fast this machine is, is not what is looked at
	})
	keys, tokens := make([]ed25519.PrivateKey, crowd), make([]string, crowd)
	come := func(i int, c *client) error {
		c.patience = 5 * time.Minute
		p := asCLI(protocol.ScopeRead).device(keys[i])
		if tokens[i] != "" {
			p.auth(&protocol.Auth{DeviceToken: tokens[i]})
		}
		params := p.ConnectParams
		devicetest.Sign(p.key, &params, c.nonce, c.ts)
		if err := c.trySend(websocket.MessageText, requestText("1", protocol.MethodConnect, params)); err != nil {
			return err
		}
		f, err := c.tryRead()
		if err != nil || !f.OK {
			return fmt.Errorf("%+v, %v", f.Error, err)
		}
		var h protocol.HelloOK
		if err := json.Unmarshal(f.Payload, &h); err != nil || h.Auth.DeviceToken == "" {
			return fmt.Errorf("hello: %v", err)
		}
		tokens[i] = h.Auth.DeviceToken
		return c.ws.CloseNow()
	}
	for round := range 2 { // they pair, are cut off, and come back
		var wg sync.WaitGroup
		errs := make(chan error, crowd)
		all := make([]*client, crowd) // all of them are at the door before the first one is let in
		for i := range crowd {
			if round == 0 {
				keys[i] = newKey(t)
			}
			all[i] = g.dial(t, nil)
		}
		for i, c := range all {
			wg.Go(func() { errs <- come(i, c) })
		}
		wg.Wait()
		close(errs)
		failed := 0
		for err := range errs {
			if err != nil {
				if failed++; failed < 4 {
					t.Error(err)
				}
			}
		}
		if failed > 0 {
			t.Fatalf("round %d: %d of %d were turned away", round, failed, crowd)
		}
	}
	if n := len(registry.Devices()); n != crowd {
		t.Errorf("%d devices", n)
	}
}

// A client that dies in the middle of a frame has sent nothing: what a message
// holds is looked at when all of it is there. What was whole before is done.
func TestFault_F_WS_07_DiesInTheMiddleOfASend(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	done := make(chan struct{}, 16)
	note := func(_ context.Context, _ *Caller, raw json.RawMessage) (any, error) {
		p, err := protocol.DecodeParams[protocol.ChatSendParams]("chat.send", raw)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, p.IdempotencyKey)
		done <- struct{}{}
		return map[string]any{}, nil
	}
	g := start(t, func(o *Options) {
		o.Handlers = stubHandlers(map[string]Handler{protocol.MethodChatSend: note})
	})
	for cut := range 6 {
		conn, br := g.rawSocket(t)
		p := asCLI(protocol.ScopeRead, protocol.ScopeWrite).ConnectParams
		whole := rawFrame(0x81, []byte(requestText("c", protocol.MethodConnect, p)))
		if _, err := conn.Write(whole); err != nil {
			t.Fatal(err)
		}
		if op, payload := readRawFrame(t, br); op != 1 || !strings.Contains(string(payload), `"ok":true`) {
			t.Fatalf("no hello: %s", payload)
		}
		send := func(id string) []byte {
			return rawFrame(0x81, []byte(requestText(id, protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: "main",
				Message: id + strings.Repeat(" words", 2000), IdempotencyKey: id})))
		}
		first, second := send(fmt.Sprint("whole", cut)), send(fmt.Sprint("half", cut))
		at := []int{1, 5, 13, 14, len(second) / 2, len(second) - 1}[cut]
		if _, err := conn.Write(append(first, second[:at]...)); err != nil {
			t.Fatal(err)
		}
		<-done
		_ = conn.Close()
	}
	if err := g.stop(); err != nil { // whoever was still being read is over now
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 6 || strings.Contains(strings.Join(asked, " "), "half") {
		t.Errorf("%d messages came: %.60q", len(asked), asked)
	}
}

// Nothing of an address is a token, a gateway or a session: every address has the
// same page, and a socket has the rights of what its first message proves alone.
func TestSec_A_WEB_04_NothingComesFromTheAddress(t *testing.T) {
	g := start(t, nil)
	body := func(target string) string {
		t.Helper()
		resp, err := http.Get("http://" + g.addr + target)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Location") != "" || resp.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %v %v", target, resp.StatusCode, resp.Header, err)
		}
		return string(raw)
	}
	plain := body("/")
	for _, more := range []string{"?gatewayUrl=wss://sink.example", "?token=" + testToken, "?session=javascript:alert(1)",
		"?auth=" + testToken + "&password=x"} {
		if got := body("/" + more); got != plain {
			t.Errorf("%s changes the page: %.200s", more, got)
		}
		c, err := g.tryDialAt(t, more, nil)
		if err != nil {
			continue
		}
		if f := c.connect(asCLI(protocol.ScopeAdmin).auth(nil)); f.OK {
			t.Errorf("%s signs in", more)
		}
	}
}

// What an assistant or a device makes is never a page of ours: HTML is served from
// the program alone, the only frames in it are those of frame.go, which have no
// origin, and no document of another origin gets a socket, a sandboxed one ("null") included.
func TestSec_A_WEB_12_NothingThatWasMadeIsAPage(t *testing.T) {
	g := start(t, nil)
	resp := g.ask(t, "GET", "/", "own")
	csp := resp.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(csp, "default-src 'none'") || !strings.Contains(csp, "; frame-src 'self';") || strings.Contains(csp, "child-src") ||
		strings.Contains(csp, "worker-src") {
		t.Errorf("other frames are allowed: %s", csp)
	}
	for _, origin := range []string{"null", "blob:http://" + g.addr, "data:", "file://"} {
		if c, err := g.tryDial(t, http.Header{"Origin": {origin}}); err == nil {
			_ = c.ws.CloseNow()
			t.Errorf("a document of %s gets a socket", origin)
		}
	}
	for _, target := range []string{"/canvas/index.html", "/artifacts/a.html", "/media/x.svg", "/workspace/index.html",
		"/__openclaw__/canvas/", "/assets/made.html"} {
		resp := g.ask(t, "GET", target, "own")
		if kind := resp.Header.Get("Content-Type"); resp.StatusCode == http.StatusOK && !strings.HasSuffix(target, "/") ||
			strings.Contains(kind, "svg") {
			t.Errorf("%s: %d %s", target, resp.StatusCode, kind)
		}
	}
}
