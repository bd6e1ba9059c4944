package serve

import (
	"encoding/json"
	"strings"
	"testing"
)

// Arguments that are not the tool's are refused in words, and nothing is asked.
func TestWrongArguments(t *testing.T) {
	for _, c := range []struct {
		tool       func(*testing.T, bridge, string) (string, error)
		args, want string
	}{
		{history, `{"sessionKey":"mine"}`, "session is missing"},
		{history, `{"session":5}`, "session must be a string"},
		{history, `{"session":"x","limit":"5"}`, "limit must be an integer"},
		{history, `{"session":"x","limit":101}`, "from 1 to 100"},
		{history, `[]`, "they must be a JSON object"},
		{history, `5`, "they must be a JSON object"},
		{list, `{"limit":-1}`, "from 1 to 100"},
		{chat, `{"message":5}`, "message must be a string"},
		{chat, `{"message":"hi","timeoutSeconds":99999}`, "from 1 to 3600"},
		{chat, `{"message":"hi","timeoutSeconds":-1}`, "from 1 to 3600"},
		{chat, `{"message":" "}`, "message is empty"},
	} {
		g := &fake{}
		_, err := c.tool(t, bridge{g}, c.args)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(g.methods) > 0 {
			t.Errorf("%s: %v, asked %v", c.args, err, g.methods)
		}
	}
}

func history(t *testing.T, b bridge, args string) (string, error) {
	return b.history(t.Context(), json.RawMessage(args))
}

func list(t *testing.T, b bridge, args string) (string, error) {
	return b.sessions(t.Context(), json.RawMessage(args))
}

func chat(t *testing.T, b bridge, args string) (string, error) {
	return b.chat(t.Context(), json.RawMessage(args))
}
