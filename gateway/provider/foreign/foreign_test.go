package foreign

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/provider/profile"
)

func noEnv(string) string { return "" }

func source(t *testing.T, id, content string) Program {
	t.Helper()
	home := t.TempDir()
	for _, s := range Sources(home, noEnv) {
		if s.ID != id {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.Path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Fatal("no such source")
	return Program{}
}

func token(email string) string {
	return "h." + base64.RawURLEncoding.EncodeToString([]byte(`{"email":"`+email+`"}`)) + ".s"
}

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		id, content, profile, value string
		typ                         profile.Type
		expires                     int64
	}{
		{"claude-code", `{"claudeAiOauth":{"accessToken":"sk-ant-oat01-x","refreshToken":"sk-ant-ort01-y","expiresAt":1772442000000,"scopes":["user:inference"]}}`, "anthropic:claude-code", "sk-ant-oat01-x", profile.OAuth, 1772442000000},
		{"codex", `{"OPENAI_API_KEY":"sk-proj-x","tokens":null}`, "openai:codex", "sk-proj-x", profile.APIKey, 0},
		{"gemini-cli", `{"access_token":"ya29.x","refresh_token":"1//y","expiry_date":1772442000000,"id_token":"` + token("me@example.com") +
			`"}`, "google:gemini-cli", "ya29.x", profile.OAuth, 1772442000000},
	} {
		p, c, err := source(t, tt.id, tt.content).Read()
		if err != nil || p.ID != tt.profile || p.Type != tt.typ || c.Value() != tt.value || c.Service != tt.id {
			t.Errorf("%s: %+v, %v", tt.id, p, err)
		}
		if tt.expires != 0 && !c.Expires.Equal(time.UnixMilli(tt.expires)) {
			t.Errorf("%s ends at %v", tt.id, c.Expires)
		}
		if c.Refresh != "" {
			t.Errorf("%s: the refresh token of another program was taken", tt.id)
		}
	}
}

func TestRead_notLoggedIn(t *testing.T) {
	for id, contents := range map[string][]string{
		"claude-code": {`{}`, `{"claudeAiOauth":null}`, `not json`, ``},
		"codex":       {`{}`, `{"tokens":{}}`, `[`},
		"gemini-cli":  {`{}`, `{"access_token":""}`},
	} {
		for _, content := range contents {
			if _, c, err := source(t, id, content).Read(); err == nil || c.Value() != "" {
				t.Errorf("%s: %q is taken", id, content)
			}
		}
	}
	_, _, err := source(t, "codex", `{"tokens":{"access_token":"x","id_token":"`+token("me@example.com")+`"}}`).Read()
	if err == nil || !strings.Contains(err.Error(), "me@example.com") || !strings.Contains(err.Error(), "API key") {
		t.Errorf("a subscription gives %v", err)
	}
	for _, s := range Sources(t.TempDir(), noEnv) {
		if _, _, err := s.Read(); !errors.Is(err, ErrNone) || s.Present() {
			t.Errorf("%s: %v", s.ID, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(0, `{"claudeAiOauth":{"accessToken":"x","expiresAt":1e300}}`)
	f.Add(1, `{"tokens":{"access_token":"x","id_token":"a.b.c"}}`)
	f.Add(2, `{"access_token":"x","expiry_date":-1}`)
	f.Fuzz(func(t *testing.T, i int, raw string) {
		all := Sources("/", noEnv)
		c, err := all[uint(i)%uint(len(all))].parse([]byte(raw))
		if (err == nil) != (c.Value() != "") {
			t.Errorf("%q gives %v and a value: %v", raw, err, c.Value() != "")
		}
	})
}
