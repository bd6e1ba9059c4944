package control

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/docs"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// house is settings in memory.
type house struct {
	written map[string]string
	asked   []Change
	deny    error
}

func (h *house) Path(p string) (string, error) { return p, nil }
func (h *house) Get(p string) (string, bool, error) {
	v, ok := h.written[p]
	return v, ok, nil
}
func (h *house) Written(p string) (string, error) { return h.written[p], nil }
func (h *house) Manual() string                   { return docs.Configuration }
func (h *house) Change(_ context.Context, _ tool.Call, c Change) error {
	h.asked = append(h.asked, c)
	return h.deny
}
func (h *house) Restart(context.Context, tool.Call, string) error { return nil }

func ask(t testing.TB, h *house, scope tool.Scope, args string) (string, error) {
	t.Helper()
	res, err := (&Tool{h}).Run(t.Context(), tool.Call{Scope: scope, Args: json.RawMessage(args)})
	return res.Text, err
}

func TestSec_A_EXEC_21_OnlyTheListCanBeProposed(t *testing.T) {
	owner := tool.Scope{Owner: true}
	for path, ok := range map[string]bool{
		"agents.defaults.model": true, "agents.defaults.model.primary": true, "agents.defaults.model.fallbacks[0]": true, "logging.level": true,
		"messages.queue.mode":    true,
		"agents.defaults.models": false, "agents.defaults": false, "agents": false, "agents.defaults.modelx": false,
		"agents.defaults.workspace": false,
		"tools.exec.ask":            false, "tools": false, "tools.allow": false, "approvals": false, "gateway.auth.token": false,
		"secrets.backend":             false,
		"channels.telegram.allowFrom": false,
		"auth.order":                  false, "models.providers.x.baseUrl": false, "hearth.allowance.daily": false, "session.sendPolicy": false,
		"session":                   false,
		"messages":                  false,
		"agents.defaults.subagents": false, "agents.defaults.subagents.maxSpawnDepth": false, "agents.defaults.subagents.model": true,
	} {
		h := &house{written: map[string]string{}}
		_, err := ask(t, h, owner, `{"action":"config.patch","path":"`+path+`","value":"x"}`)
		if got := err == nil && len(h.asked) == 1; got != ok {
			t.Errorf("%s: changed %v, want %v (%v)", path, got, ok, err)
		}
	}
	for name, scope := range map[string]tool.Scope{"a guest": {}, "a group": {Owner: true, Group: true},
		"a sub-agent": {Owner: true, Depth: 1}, "relayed words": {Owner: true, Relayed: true}} {
		for _, action := range []string{"config.get", "config.patch", "restart", "config.schema.lookup"} {
			h := &house{written: map[string]string{"logging.level": `"info"`}}
			if text, err := ask(t, h, scope, `{"action":"`+action+`","path":"logging.level","value":"debug"}`); err == nil || len(h.asked) > 0 {
				t.Errorf("%s may %s: %q", name, action, text)
			}
		}
	}
}

func TestConfigPatchTellsOldAndNew(t *testing.T) {
	h := &house{written: map[string]string{"logging.level": `"info"`}}
	owner := tool.Scope{Owner: true}
	if _, err := ask(t, h, owner, `{"action":"config.patch","path":"logging.level","value":null,"reason":"quiet"}`); err != nil {
		t.Fatal(err)
	}
	if want := (Change{Path: "logging.level", Old: `"info"`, Reason: "quiet"}); len(h.asked) != 1 || h.asked[0] != want {
		t.Errorf("asked %+v", h.asked)
	}
	if text, err := ask(t, h, owner, `{"action":"config.patch","path":"logging.level","value":"info"}`); err != nil ||
		!strings.Contains(text, "already") || len(h.asked) != 1 {
		t.Errorf("%q %v", text, err)
	}
}

func TestLookupKnowsTheManual(t *testing.T) {
	owner := tool.Scope{Owner: true}
	for path, want := range map[string]string{
		"logging.level":                   "can be changed with config.patch",
		"tools.exec":                      "only the person changes it",
		"models.providers.openai.baseUrl": "models.providers.<id>.baseUrl",
		"agents.defaults.subagents":       "maxSpawnDepth (default `1`)",
	} {
		if text, err := ask(t, &house{}, owner, `{"action":"config.schema.lookup","path":"`+path+`"}`); err != nil ||
			!strings.Contains(text, want) {
			t.Errorf("%s: %v\n%s", path, err, text)
		}
	}
	if all := entries(docs.Configuration); len(all) < 60 {
		t.Errorf("only %d settings are known", len(all))
	}
	if _, err := ask(t, &house{}, owner, `{"action":"config.schema.lookup","path":"no.such"}`); err == nil {
		t.Error("it knows what there is not")
	}
	for _, p := range open() { // what may be changed is explained
		if len(find(entries(docs.Configuration), p)) == 0 {
			t.Errorf("the manual does not tell of %s", p)
		}
	}
}

func FuzzLookup(f *testing.F) {
	f.Add("| `a.b` | `1` | what |\n", "a")
	f.Add("||||\n| `` | | |", ".")
	f.Fuzz(func(t *testing.T, manual, path string) {
		for _, e := range find(entries(manual), path) {
			if e.Path == "" {
				t.Errorf("an entry without a name in %q", manual)
			}
		}
	})
}
