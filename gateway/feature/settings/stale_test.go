package settings_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Whoever is told that the file was changed meanwhile reads that change next,
// whether or not the watcher has noticed it.
func TestAStaleEditIsFollowedByTheFileAsItIs(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	var before, after protocol.ConfigSnapshot
	p.Do(protocol.MethodConfigGet, nil, &before)
	file := filepath.Join(string(r.Dir), "hearth.json")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(raw), "{", `{"tools":{"profile":"coding"},`, 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if why := p.Refused(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{"tools":{"exec":{"ask":"always"}}}`,
		BaseHash: before.Hash}); !strings.Contains(why, "somebody else") {
		t.Errorf("it was refused with %q", why)
	}
	p.Do(protocol.MethodConfigGet, nil, &after)
	got, _ := json.Marshal(after.Parsed)
	if after.Hash == before.Hash || !strings.Contains(string(got), `"coding"`) {
		t.Errorf("the old settings were read again: %s", got)
	}
}
