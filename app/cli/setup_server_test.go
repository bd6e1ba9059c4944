package cli

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
)

// A server of models is taken by its address, and stands in the settings once.
func TestSetupTakesTheAddressOfAServer(t *testing.T) {
	models := httptest.NewServer(scripted.New())
	t.Cleanup(models.Close)
	home := newComputer(t, false)
	setup := func(want int, typed string, terminal bool, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		code := Main(t.Context(), append([]string{"setup"}, args...), World{In: strings.NewReader(typed), Out: &out, Err: &out,
			InTerminal: terminal, Version: "test", Env: func(k string) string { return map[string]string{"HEARTH_HOME": home, "HOME": home}[k] }})
		if code != want {
			t.Fatalf("%v = %d: %s", args, code, out.String())
		}
		return out.String()
	}
	says := func(said string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(said, w) {
				t.Errorf("it does not say %q:\n%s", w, said)
			}
		}
	}
	says(setup(exitFailure, "", false, "--use", "http://127.0.0.1:9"), "Nobody answers at 127.0.0.1:9")
	said := setup(exitOK, "", false, "--use", models.URL+"/v1")
	says(said, "Answered in", "model     done")
	if again := setup(exitOK, "", false, "--use", models.URL+"/v1"); !strings.Contains(again, "Answered in") {
		t.Error(again)
	}
	_, settings, _ := run(t, home, "", "config", "get", "models.providers")
	if n := strings.Count(settings, "baseUrl"); n != 1 {
		t.Errorf("it stands there %d times: %s", n, settings)
	}
	// A step that is to be asked for anew is asked for.
	said = setup(exitOK, "\n", true, "--again", "model")
	says(said, "What should answer you?", "enter the address of a server", "leave it as it is")
}
