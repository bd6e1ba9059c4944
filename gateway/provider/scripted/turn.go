package scripted

import (
	"bytes"
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
	seen    int  // pictures in the whole conversation
	whole   bool // the answer is wanted in one piece
	// thinking is the parameter of reasoning as it was written
	thinking string
	system   string
}

// rawRequest is a request of any dialect: they differ in what the conversation
// is called and in where tool results stand.
type rawRequest struct {
	Model    string            `json:"model"`
	Stream   *bool             `json:"stream"`
	Messages []rawMessage      `json:"messages"`
	Input    []rawMessage      `json:"input"`    // Responses
	Contents []rawMessage      `json:"contents"` // Gemini
	Tools    []json.RawMessage `json:"tools"`
	Config   json.RawMessage   `json:"toolConfig"` // Bedrock
	Effort   json.RawMessage   `json:"reasoning_effort"`
	Thinking json.RawMessage   `json:"thinking"`
	System   []rawPart         `json:"system"` // Anthropic, Bedrock
	Think    json.RawMessage   `json:"think"`
	Reason   json.RawMessage   `json:"reasoning"`
	More     json.RawMessage   `json:"additionalModelRequestFields"`
	Generate struct {
		Thinking json.RawMessage `json:"thinkingConfig"`
	} `json:"generationConfig"`
}

type rawMessage struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Parts   json.RawMessage `json:"parts"`
	Output  json.RawMessage `json:"output"`
}

type rawPart struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Content  json.RawMessage `json:"content"` // of a tool_result
	Result   *rawPart        `json:"toolResult"`
	Response *struct {
		Response map[string]string `json:"response"`
	} `json:"functionResponse"`
}

// parse reads the request of any dialect.
func parse(r *http.Request) (*turn, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return nil, err
	}
	var raw rawRequest
	if err := json.Unmarshal(body, &raw); err != nil {
		return nil, err
	}
	t := &turn{model: raw.Model, tools: len(raw.Tools)+len(raw.Config) > 0, whole: raw.Stream != nil && !*raw.Stream}
	for _, p := range raw.System {
		t.system += p.Text
	}
	if len(raw.Messages) > 0 && raw.Messages[0].Role == "system" {
		_ = json.Unmarshal(raw.Messages[0].Content, &t.system) // other than a text: none
	}
	for _, p := range []json.RawMessage{raw.Effort, raw.Thinking, raw.Think, raw.Reason, raw.More, raw.Generate.Thinking} {
		t.thinking += string(p)
	}
	for _, mark := range []string{`"data:image/`, `"media_type":"image/`, `"mimeType":"image/`, `"images":["`, `"image":{"format"`} {
		t.seen += bytes.Count(body, []byte(mark))
	}
	if t.model == "" {
		t.model, t.whole = fromPath(r.URL.Path)
	}
	for _, list := range [][]rawMessage{raw.Messages, raw.Input, raw.Contents} {
		for _, m := range list {
			t.add(m)
		}
	}
	return t, nil
}

// fromPath reads the model of dialects that put it into the address.
func fromPath(path string) (id string, whole bool) {
	if _, rest, ok := strings.Cut(path, "/models/"); ok {
		id, verb, _ := strings.Cut(rest, ":")
		return id, verb == "generateContent"
	}
	_, rest, _ := strings.Cut(path, "/model/")
	id, verb, _ := strings.Cut(rest, "/")
	return id, verb == "converse"
}

func (t *turn) add(m rawMessage) {
	switch {
	case m.Type == "function_call_output":
		t.addResult(plain(m.Output))
	case m.Role == "user" && len(m.Parts) > 0:
		t.addUser(m.Parts)
	case m.Role == "user":
		t.addUser(m.Content)
	case m.Role == "tool":
		t.addResult(plain(m.Content))
	}
}

func (t *turn) addUser(content json.RawMessage) {
	var parts []rawPart
	if json.Unmarshal(content, &parts) != nil {
		t.setUser(plain(content))
		return
	}
	var texts []string
	for _, p := range parts {
		switch {
		case p.Type == "tool_result":
			t.addResult(plain(p.Content))
		case p.Result != nil:
			t.addResult(plain(p.Result.Content))
		case p.Response != nil:
			t.addResult(p.Response.Response["output"] + p.Response.Response["error"])
		case p.Text != "":
			texts = append(texts, p.Text)
		}
	}
	if len(texts) > 0 {
		t.setUser(strings.Join(texts, "\n"))
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

// arguments is the JSON object in what the person said, {} when there is none.
func (t *turn) arguments() string {
	from, to := strings.Index(t.user, "{"), strings.LastIndex(t.user, "}")
	if from >= 0 && from < to && json.Valid([]byte(t.user[from:to+1])) {
		return t.user[from : to+1]
	}
	return "{}"
}
