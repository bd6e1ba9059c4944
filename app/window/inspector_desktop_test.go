//go:build desktop && linux

package window

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/app/desktoptest"
)

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}

// eval runs a script in the page, once, and returns its value. The inspector
// drops a connection that comes right behind another one; nothing was run then.
func (s *shown) eval(script string) (v json.RawMessage, err error) {
	for range 20 {
		var sent bool
		if v, sent, err = s.tryEval(script); err == nil || sent {
			break
		}
		desktoptest.Pause(s.t, 50*time.Millisecond)
	}
	return v, err
}

// tryEval connects anew each time, because the target changes when the window
// goes to another origin. sent: the script may have run.
func (s *shown) tryEval(script string) (v json.RawMessage, sent bool, err error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.inspector+"/", nil)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, sent, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, sent, err
	}
	path := regexp.MustCompile(`/socket/\d+/\d+/WebPage`).FindString(string(b))
	if path == "" {
		return nil, false, fmt.Errorf("no page yet")
	}
	c, _, err := websocket.Dial(ctx, "ws://"+s.inspector+path, nil)
	if err != nil {
		return nil, sent, err
	}
	defer c.CloseNow()
	c.SetReadLimit(32 << 20)
	target := ""
	for {
		_, d, err := c.Read(ctx)
		if err != nil {
			return nil, sent, err
		}
		var m message
		if err := json.Unmarshal(d, &m); err != nil {
			return nil, sent, err
		}
		switch m.Method {
		case "Target.targetCreated":
			var p struct {
				TargetInfo struct{ TargetID, Type string }
			}
			if json.Unmarshal(m.Params, &p) == nil && p.TargetInfo.Type == "page" && target == "" {
				target = p.TargetInfo.TargetID
				inner, _ := json.Marshal(map[string]any{"id": 1, "method": "Runtime.evaluate", "params": map[string]any{"expression": script,
					"returnByValue": true}})
				outer, _ := json.Marshal(map[string]any{"id": 1001, "method": "Target.sendMessageToTarget", "params": map[string]any{"targetId": target,
					"message": string(inner)}})
				sent = true
				if err := c.Write(ctx, websocket.MessageText, outer); err != nil {
					return nil, sent, err
				}
			}
		case "Target.dispatchMessageFromTarget":
			var p struct{ Message string }
			var in message
			if json.Unmarshal(m.Params, &p) != nil || json.Unmarshal([]byte(p.Message), &in) != nil || in.ID != 1 {
				continue
			}
			var r struct {
				Result struct{ Value json.RawMessage }
			}
			err := json.Unmarshal(in.Result, &r)
			return r.Result.Value, true, err
		}
	}
}

// until waits for a script to be true in the page.
func (s *shown) until(what, script string) {
	s.t.Helper()
	var last any
	for range 300 {
		v, err := s.eval("!!(" + script + ")")
		if err == nil && string(v) == "true" {
			return
		}
		last = err
		desktoptest.Pause(s.t, 100*time.Millisecond)
	}
	body, _ := s.eval("document.body?.innerText")
	s.t.Fatalf("%s did not come (%v); the window shows %s", what, last, body)
}
