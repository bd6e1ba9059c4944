package gateway_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Timezone page: without userTimezone the prompt names the host's zone; Go's own
// word for it, "Local", would tell the model nothing.
func TestPromptNamesTheHostsZone(t *testing.T) {
	for tz, want := range map[string]string{"Asia/Kathmandu": "Time zone: Asia/Kathmandu.", "": "Time zone: "} {
		env := gatewaytest.Env(t)
		r := &gatewaytest.Rig{T: t, Dir: statedir.Dir(t.TempDir()), Env: func(name string) string {
			if name == "TZ" {
				return tz
			}
			return env(name)
		}}
		raw := `{agents: {defaults: {model: "chat/echo", workspace: "` + filepath.ToSlash(t.TempDir()) + `"}}}`
		if err := os.WriteFile(filepath.Join(string(r.Dir), "hearth.json"), []byte(raw), 0o600); err != nil {
			t.Fatal(err)
		}
		r.Start()
		text := r.Gateway.PromptOf("agent:main:main")
		r.Shutdown()
		if !strings.Contains(text, want) || strings.Contains(text, "Time zone: Local") {
			t.Errorf("TZ=%q: the prompt says %q", tz, text[max(0, strings.Index(text, "Time zone")):][:60])
		}
	}
}
