package greeting_test

import (
	"encoding/json"
	"strings"
	"testing"

	greeting "github.com/hearth-assistant/hearth/docs/examples/feature"
	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// settings is a file with some text.
type settings struct{ text string }

func (s *settings) Snapshot() *config.Snapshot {
	return config.Read(s.text, config.Options{Sections: config.Sections{greeting.Section}})
}

// TestAddAFeature: the host mounts what the feature adds, a changed setting counts
// at once, and switched off it leaves nothing behind.
func TestAddAFeature(t *testing.T) {
	s := &settings{"{}"}
	list := []host.Entry{{Name: "greeting", New: func() (host.Feature, error) { return greeting.New(greeting.Options{Settings: s}), nil }}}
	h := host.New(host.Options{})
	h.Add(t.Context(), list)

	if len(h.Methods()) != 1 || h.Methods()[0].Name != greeting.Method {
		t.Fatalf("methods %+v", h.Methods())
	}
	call := func(params string) (any, error) {
		return h.Methods()[0].Answer(t.Context(), &server.Caller{}, json.RawMessage(params))
	}
	if got, err := call(`{"name":"Anna"}`); err != nil || got != (greeting.Result{Text: "Hello, Anna!"}) {
		t.Errorf("%+v, %v", got, err)
	}
	s.text = `{ greeting: { word: "Good evening" } }`
	if got, err := call(`{}`); err != nil || got != (greeting.Result{Text: "Good evening, everybody!"}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, wrong := range []string{`{"name":5}`, `{"name":"` + strings.Repeat("a", 81) + `"}`} {
		if got, err := call(wrong); err == nil {
			t.Errorf("%.20s was taken: %+v", wrong, got)
		}
	}

	typed, ok := command.NewSet(h.Commands()...).Parse("/greet Anna")
	if !ok {
		t.Fatal("/greet is no command")
	}
	if reply, err := h.Commands()[0].Do(t.Context(), "agent:main:main", typed.Args); err != nil || reply != "Good evening, Anna!" {
		t.Errorf("%q, %v", reply, err)
	}

	off := host.New(host.Options{Enabled: func(name string) bool { return name != "greeting" }})
	off.Add(t.Context(), list)
	if len(off.Methods())+len(off.Commands()) != 0 {
		t.Error("it is switched off and left something behind")
	}
}
