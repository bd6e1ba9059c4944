package gateway_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Timezone page: session_status tells the time of the person's zone, as they
// read it, and not the gateway's.
func TestStatusTellsThePersonsTime(t *testing.T) {
	r := newRig(t, "chat/tool-session_status")
	p := r.connect()
	for _, tc := range []struct {
		format any
		want   string
	}{{12, "PM "}, {"auto", "(Asia/Kathmandu)"}} {
		p.patch(map[string]any{"agents": map[string]any{"defaults": map[string]any{"userTimezone": "Asia/Kathmandu", "timeFormat": tc.format}}})
		id := "a" + tc.want
		said := p.say("main", id, "what time is it?").Message.Text()
		at, err := time.LoadLocation("Asia/Kathmandu")
		if err != nil {
			t.Skip(err)
		}
		hour := time.Now().In(at).Format("PM ")
		if want := strings.Replace(tc.want, "PM ", hour, 1); !strings.Contains(said, want) || !strings.Contains(said, "+0545") {
			t.Errorf("timeFormat %v: %q", tc.format, said)
		}
	}
}

// Timezone page: without userTimezone the prompt names the host's zone; Go's own
// word for it, "Local", would tell the model nothing.
func TestPromptNamesTheHostsZone(t *testing.T) {
	for tz, want := range map[string]string{"Asia/Kathmandu": "Time zone: Asia/Kathmandu.", "": "Time zone: "} {
		r := &rig{t: t, dir: statedir.Dir(t.TempDir()), env: func(name string) string {
			if name == "TZ" {
				return tz
			}
			return noEnv(name)
		}}
		raw := `{agents: {defaults: {model: "chat/echo", workspace: "` + filepath.ToSlash(t.TempDir()) + `"}}}`
		if err := os.WriteFile(filepath.Join(string(r.dir), "hearth.json"), []byte(raw), 0o600); err != nil {
			t.Fatal(err)
		}
		r.start()
		text := r.gw.PromptOf("agent:main:main")
		r.shutdown()
		if !strings.Contains(text, want) || strings.Contains(text, "Time zone: Local") {
			t.Errorf("TZ=%q: the prompt says %q", tz, text[max(0, strings.Index(text, "Time zone")):][:60])
		}
	}
}

// Failover page: "User-pinned profiles stay locked to that profile; if it fails
// and model fallbacks are configured, Nodmix moves to the next model".
func TestAPinnedAccountFallsBackToTheNextModel(t *testing.T) {
	for _, how := range []string{"/model chat/fault-429-60@chat:default", "/model @default", "/model default@default"} {
		t.Run(how, func(t *testing.T) {
			p := newRig(t, chain("chat/fault-429-60", "chat/echo")).connect()
			if end := p.say("main", "m", how); !strings.Contains(end.Message.Text(), "now uses **chat/fault-429-60@") {
				t.Fatalf("%+v", end.Message.Text())
			}
			if end := p.say("main", "s", "/status"); !strings.Contains(end.Message.Text(), "account chat:default, chosen for this session") {
				t.Errorf("/status: %s", end.Message.Text())
			}
			if end := p.say("main", "q", "hello"); end.State != protocol.ChatFinal || !strings.Contains(end.Message.Text(), "echo: hello") {
				t.Errorf("answered %+v", end)
			}
		})
	}
}
