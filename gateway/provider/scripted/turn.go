package scripted

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// turn is what a request asks, in any dialect.
type turn struct {
	model   string
	user    string // the last user text
	result  string // the tool results behind it
	results int
	tools   bool
	// thinking is the parameter of reasoning as it was written
	thinking string
}

type rawRequest struct {
	Model    string            `json:"model"`
	Messages []rawMessage      `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
	Effort   json.RawMessage   `json:"reasoning_effort"`
	Thinking json.RawMessage   `json:"thinking"`
	Think    json.RawMessage   `json:"think"`
}

type rawMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type rawPart struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Content json.RawMessage `json:"content"` // of a tool_result
}

// parse reads the request of any dialect: they differ only in where tool
// results stand.
func parse(r *http.Request) (*turn, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return nil, err
	}
	var raw rawRequest
	if err := json.Unmarshal(body, &raw); err != nil {
		return nil, err
	}
	t := &turn{model: raw.Model, tools: len(raw.Tools) > 0, thinking: string(raw.Effort) + string(raw.Thinking) + string(raw.Think)}
	for _, m := range raw.Messages {
		t.add(m)
	}
	return t, nil
}

func (t *turn) add(m rawMessage) {
	switch m.Role {
	case "user":
		var parts []rawPart
		if json.Unmarshal(m.Content, &parts) != nil {
			t.setUser(plain(m.Content))
			return
		}
		var texts []string
		for _, p := range parts {
			if p.Type == "tool_result" {
				t.addResult(plain(p.Content))
			} else if p.Text != "" {
				texts = append(texts, p.Text)
			}
		}
		if len(texts) > 0 {
			t.setUser(strings.Join(texts, "\n"))
		}
	case "tool":
		t.addResult(plain(m.Content))
	}
}

func (t *turn) setUser(s string) { t.user, t.result, t.results = s, "", 0 }

func (t *turn) addResult(s string) {
	if t.results++; t.results > 1 {
		s = t.result + "\n" + s
	}
	t.result = s
}

// plain is a JSON string, or the texts of a list of parts.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []rawPart
	json.Unmarshal(raw, &parts)
	for _, p := range parts {
		s += p.Text
	}
	return s
}
