package hooks_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// What a field may not be is refused by its name, whatever else is right.
func TestHookFields(t *testing.T) {
	_, _, c := hooked(t, "chat/echo", `perMinute: 1000, mappings: [
		{match: {path: "list"}, forEach: "items", messageTemplate: "{{items[0]}}", deliver: false},
		{match: {path: "level"}, thinking: "{{how}}", messageTemplate: "x", deliver: false}]`)
	form := c.with("Content-Type", "application/x-www-form-urlencoded")
	for _, x := range []struct {
		c          hookCall
		path, body string
		status     int
		says       string
	}{
		{c, "agent", `{"message": "x", "thinking": "silly"}`, 400, "thinking must be one of off, low, medium, high"},
		{c, "agent", `{"message": "x", "thinking": 3}`, 400, "thinking must be a text"},
		{c, "agent", `{"message": "x", "thinking": "xhigh", "deliver": false}`, 202, ""}, // OpenClaw's
		{c, "agent", `{"message": "x", "thinking": "Low", "deliver": false}`, 202, ""},
		{c, "agent", `{"message": "x", "timeoutSeconds": -1}`, 400, "timeoutSeconds must be a number of seconds from 1"},
		{c, "agent", `{"message": "x", "timeoutSeconds": 0.5}`, 400, "timeoutSeconds must be"},
		{c, "agent", `{"message": "x", "timeoutSeconds": "abc"}`, 400, "timeoutSeconds must be"},
		{c, "agent", `{"message": "x", "timeoutSeconds": [1]}`, 400, "timeoutSeconds must be"},
		{c, "agent", `{"message": "x", "timeoutSeconds": 0, "deliver": false}`, 202, ""},
		{c, "agent", `{"message": "x", "timeoutSeconds": 30.5, "deliver": false}`, 202, ""},
		{c, "agent", `{"message": "x", "timeoutSeconds": null, "deliver": false, "thinking": null, "name": null}`, 202, ""},
		{c, "agent", `{"message": "x", "deliver": "no"}`, 400, "deliver must be boolean: true or false"},
		{c, "agent", `{"message": "x", "deliver": 0}`, 400, "deliver must be boolean"},
		{c, "agent", `{"message": 5}`, 400, "message must be a text"},
		{c, "agent", `{"message": "x", "name": {}}`, 400, "name must be a text"},
		{c, "agent", `{"message": "x", "sessionKey": 5}`, 400, "sessionKey must be a text"},
		{c, "agent", `{"message": "x", "channel": "telegram", "to": 5}`, 400, "to must be a text"},
		{c, "agent", `{"message": "x", "idempotencyKey": 5}`, 400, "idempotencyKey must be a text"},
		{form, "agent", `message=x&deliver=false&timeoutSeconds=30`, 202, ""},
		{form, "agent", `message=x&deliver=perhaps`, 400, "deliver must be boolean"},
		{form, "agent", `message=x&timeoutSeconds=abc`, 400, "timeoutSeconds must be"},
		{c, "wake", `{"text": "x", "mode": "sometime"}`, 400, "mode must be now or next-heartbeat"},
		{c, "wake", `{"text": "x", "mode": true}`, 400, "mode must be a text"},
		{c, "wake", `{"text": "x", "mode": "next-heartbeat"}`, 202, ""},
		{c, "list", `{"items": {"a": 1}}`, 400, `There is no list at "items"`},
		{c, "list", `{"items": "a"}`, 400, "is something else"},
		{c, "list", `{"item": ["a"]}`, 400, "nothing of that name was sent"},
		{c, "list", `["a"]`, 400, `There is no list at "items"`},
		{c, "list", `{"items": []}`, 204, ""},
		{c, "list", `{"items": null}`, 204, ""},
		{c, "level", `{"how": "silly"}`, 400, "thinking must be one of"},
		{c, "level", `{}`, 202, ""},
	} {
		if a := x.c.post("/hooks/"+x.path, x.body); a.status != x.status || !strings.Contains(a.Error, x.says) {
			t.Errorf("%s %s: %d %s, want %d %q", x.path, x.body, a.status, a.Error, x.status, x.says)
		}
	}
	if a := form.post("/hooks/agent", `message=x&deliver=no&waitForCompletion=yes`); a.status != http.StatusOK || a.Done.Status != "ok" {
		t.Errorf("a form that waits: %+v", a)
	}
}

// A key that cannot be kept is refused: without it a call would be done twice.
func TestHookKeysAreKeptOrRefused(t *testing.T) {
	_, _, c := hooked(t, "chat/echo", "")
	for _, n := range []int{256, 257, 1000} {
		key := strings.Repeat("k", n)
		for name, a := range map[string]hookAnswer{
			"Idempotency-Key": c.with("Idempotency-Key", key).post("/hooks/agent", `{"message": "one", "deliver": false}`),
			"X-Openclaw-Idempotency-Key": c.with("X-Openclaw-Idempotency-Key", key).post("/hooks/agent",
				`{"message": "one", "deliver": false}`),
			"idempotencyKey": c.post("/hooks/agent", `{"message": "one", "deliver": false, "idempotencyKey": "`+key+`"}`),
		} {
			switch says := name + " has " + strconv.Itoa(n) + " characters, and 256 are the most"; {
			case n <= 256 && a.status != http.StatusAccepted:
				t.Errorf("%s of %d: %d %s", name, n, a.status, a.Error)
			case n > 256 && (a.status != http.StatusBadRequest || !strings.Contains(a.Error, says)):
				t.Errorf("%s of %d: %d %s", name, n, a.status, a.Error)
			}
		}
	}
	a := c.with("Idempotency-Key", strings.Repeat("ü", 256)).post("/hooks/agent", `{"message": "two", "deliver": false}`)
	if a.status != http.StatusAccepted {
		t.Errorf("256 characters of two bytes: %d %s", a.status, a.Error)
	}
}

// A-DOS-09: calls are counted one each, and what lists bring by a limit of its own.
func TestSec_A_DOS_09_HooksPerMinute(t *testing.T) {
	_, p, c := hooked(t, "chat/echo", `perMinute: 2, mappings: [
		{match: {path: "own"}, perMinute: 3, messageTemplate: "x", deliver: false},
		{match: {path: "two", source: "a"}, perMinute: 1, messageTemplate: "x", deliver: false},
		{match: {path: "two"}, perMinute: 2, messageTemplate: "x", deliver: false},
		{match: {path: "list"}, perMinute: 5, forEach: "items", messageTemplate: "{{items[0]}}", deliver: false}]`)
	taken := func(path, body string, calls int) (n int, last hookAnswer) {
		t.Helper()
		for range calls {
			a := c.post("/hooks/"+path, body)
			switch {
			case a.status == http.StatusAccepted:
				n++
			case a.status != http.StatusTooManyRequests || a.head.Get("Retry-After") == "":
				t.Errorf("%s: %d %s", path, a.status, a.Error)
			default:
				last = a
			}
		}
		return n, last
	}
	for _, x := range []struct {
		path, body string
		most       int
		says       string
	}{
		{"own", `{}`, 3, "perMinute of its mapping allows 3 a minute"},
		{"agent", `{"message": "x", "deliver": false}`, 2, "hooks.perMinute allows 2 a minute"},
		{"two", `{"source": "a"}`, 1, "allows 1 a minute"},
		{"two", `{}`, 2, "allows 2 a minute"},
		{"two", `{"source": "a"}`, 0, "allows 1 a minute"}, // another mapping of the address changed nothing
	} {
		if n, last := taken(x.path, x.body, 6); n != x.most || !strings.Contains(last.Error, x.says) {
			t.Errorf("%s %s: %d of 6 were taken, the last was told %q", x.path, x.body, n, last.Error)
		}
	}
	// The longest list stands above the calls of a minute, and has no other behind it.
	long := `{"items": [` + strings.Repeat("1,", 199) + "1]}"
	if a := c.post("/hooks/list", long); a.status != http.StatusAccepted || len(a.RunIDs) != 200 {
		t.Fatalf("a list of 200: %d %s", a.status, a.Error)
	}
	a := c.post("/hooks/list", strings.ReplaceAll(long, "1", "2"))
	if a.status != http.StatusTooManyRequests || !strings.Contains(a.Error, "200 items a minute are the most") {
		t.Errorf("another one: %d %s", a.status, a.Error)
	}
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{hooks: {perMinute: 4}}`}, nil)
	if n, _ := taken("agent", `{"message": "x", "deliver": false}`, 6); n != 4 {
		t.Errorf("%d of 6 were taken where 4 are allowed now", n)
	}
}

// Whatever is refused is told in the same shape, and why.
func TestHookRefusals(t *testing.T) {
	_, p, c := hooked(t, "chat/echo", "")
	off := func() {
		p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{hooks: {enabled: false}}`}, nil)
	}
	const list = "hearth config get hooks.mappings"
	for _, x := range []struct {
		before       func()
		method, path string
		status       int
		says         []string
	}{
		{nil, "GET", "/hooks/", 404, []string{"There is no hook at /hooks itself", "/hooks/wake", "/hooks/agent", list}},
		{nil, "POST", "/hooks/", 404, []string{"There is no hook at /hooks itself", list}},
		{nil, "POST", "/hooks/nothing", 404, []string{"There is no hook of this name", list}},
		{nil, "GET", "/hooks/agent", 405, []string{"POST"}},
		{nil, "POST", "/hooks/agent?token=x", 400, []string{"Authorization: Bearer"}},
		{off, "POST", "/hooks/", 404, []string{"Hooks are off", "hooks.enabled"}},
		{nil, "POST", "/hooks/agent", 404, []string{"Hooks are off", "hooks.enabled"}},
	} {
		if x.before != nil {
			x.before()
		}
		a := c.do(x.method, x.path, `{}`)
		if a.status != x.status || a.OK || a.head.Get("Content-Type") != "application/json" || strings.HasPrefix(a.Error, "{") ||
			strings.Contains(a.Error, "hooks.enabled") != (x.says[0] == "Hooks are off") {
			t.Errorf("%s %s: %d %s", x.method, x.path, a.status, a.Error)
		}
		for _, s := range x.says {
			if !strings.Contains(a.Error, s) {
				t.Errorf("%s %s says %q, not %q", x.method, x.path, a.Error, s)
			}
		}
	}
}

// What is wrong in a mapping is told with the mapping and the key.
func TestHookMappingsAreRefusedByName(t *testing.T) {
	_, p, _ := hooked(t, "chat/echo", "")
	for mapping, says := range map[string]string{
		`signature: {kind: "bogus", secret: "0123456789abcdef"}, messageTemplate: "x"`: "hooks.mappings[1].signature.kind: " +
			"this is not a known choice; allowed: github, ",
		`action: "do", messageTemplate: "x"`:       "hooks.mappings[1].action: this is not a known choice; allowed: agent, wake",
		`name: "b"`:                                "hooks.mappings[1]: a mapping needs messageTemplate",
		`forEach: "a.b", messageTemplate: "x"`:     "hooks.mappings[1].forEach: ",
		`timeoutSeconds: -1, messageTemplate: "x"`: "hooks.mappings[1].timeoutSeconds: ",
	} {
		said := p.Refused(protocol.MethodConfigPatch, protocol.ConfigSetParams{
			Raw: `{hooks: {mappings: [{match: {path: "a"}, messageTemplate: "x"}, {match: {path: "b"}, ` + mapping + `}]}}`})
		if !strings.Contains(said, says) {
			t.Errorf("%s: %q, want %q", mapping, said, says)
		}
	}
}
