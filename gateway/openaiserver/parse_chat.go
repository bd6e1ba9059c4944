package openaiserver

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Limits of one request.
const (
	maxMessages     = 2000
	maxTools        = 128
	maxInstructions = 256 << 10
	maxToolBytes    = 64 << 10  // of one tool
	maxAllTools     = 512 << 10 // of all together
	maxUser         = 256
	maxModel        = 256
	maxPictures     = protocol.MaxAttachments
)

// chatRequest is what we read of a chat completion.
type chatRequest struct {
	Model         string          `json:"model"`
	Messages      []chatMessage   `json:"messages"`
	Tools         []chatTool      `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
	Functions     json.RawMessage `json:"functions"`
	User          string          `json:"user"`
	N             *int            `json:"n"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	ResponseFormat *format  `json:"response_format"`
	Modalities     []string `json:"modalities"`
	MaxTokens      *int     `json:"max_tokens"`
	MaxCompletion  *int     `json:"max_completion_tokens"`
	tuning
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    content    `json:"content"`
	ToolCalls  []chatCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// format is how the answer has to look.
type format struct {
	Type       string     `json:"type"`
	jsonSchema            // of responses
	JSONSchema jsonSchema `json:"json_schema"`
}

type jsonSchema struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Strict      *bool           `json:"strict"`
}

// content is text, or parts of which we take text and pictures.
type content struct {
	text     string
	pictures []string
}

type part struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Refusal  string          `json:"refusal"`
	ImageURL json.RawMessage `json:"image_url"` // an address, or an object with one
}

func (c *content) UnmarshalJSON(raw []byte) error {
	switch {
	case string(raw) == "null":
		return nil
	case len(raw) > 0 && raw[0] == '"':
		return json.Unmarshal(raw, &c.text)
	}
	var parts []part
	if err := json.Unmarshal(raw, &parts); err != nil {
		return Invalid("content", "A message's content is text, or a list of parts.")
	}
	var texts []string
	for _, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text":
			texts = append(texts, p.Text)
		case "refusal":
			texts = append(texts, p.Refusal)
		case "image_url", "input_image":
			address, err := pictureOf(p.ImageURL)
			if err != nil {
				return err
			}
			c.pictures = append(c.pictures, address)
		default:
			return Invalid("content", "Parts of the type %q cannot be sent; text and pictures can.", clip(p.Type, 40))
		}
	}
	c.text = strings.Join(texts, "\n")
	return nil
}

// pictureOf is the address of a picture. Hearth opens none on a program's word:
// the picture has to be in it.
func pictureOf(raw json.RawMessage) (string, error) {
	var address string
	if json.Unmarshal(raw, &address) != nil {
		var o struct {
			URL string `json:"url"`
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			return "", Invalid("image_url", "A picture is sent as image_url: {url: \"data:image/png;base64,…\"}.")
		}
		address = o.URL
	}
	if !strings.HasPrefix(address, "data:") {
		return "", Invalid("image_url", "Send the picture itself, as a data: address; Hearth fetches none for a program.")
	}
	return address, nil
}

// parseChat reads a chat completion.
func parseChat(c *chatRequest) (*Request, error) {
	switch {
	case c.N != nil && *c.N < 1:
		return nil, Invalid("n", "n must be at least 1; leave it out.")
	case c.N != nil && *c.N > 1:
		return nil, Invalid("n", "Hearth gives one answer; leave n out.")
	case len(c.Functions) > 0 && string(c.Functions) != "null":
		return nil, Invalid("functions", "functions is an old form; send the same as tools.")
	case len(c.Messages) > maxMessages:
		return nil, Invalid("messages", "There are %d messages, at most %d are allowed.", len(c.Messages), maxMessages)
	}
	for _, m := range c.Modalities {
		if m != "text" {
			return nil, Invalid("modalities", "Hearth answers in text.")
		}
	}
	r := &Request{Model: c.Model, User: c.User, Stream: c.Stream, Usage: c.StreamOptions.IncludeUsage}
	var rules []string
	for i, m := range c.Messages {
		if m.Role == "system" || m.Role == "developer" {
			rules = append(rules, m.Content.text)
			continue
		}
		msg, err := m.message()
		if err != nil {
			return nil, inMessage(err, i)
		}
		r.Messages = append(r.Messages, msg)
	}
	for _, t := range c.Tools {
		if t.Type != "function" {
			return nil, Invalid("tools", "Tools of the type %q cannot be sent; functions can.", clip(t.Type, 40))
		}
		r.Tools = append(r.Tools, Function{t.Function.Name, t.Function.Description, t.Function.Parameters})
	}
	if err := r.tune(c.tuning, 1, map[string]*int{"max_tokens": c.MaxTokens, "max_completion_tokens": c.MaxCompletion}); err != nil {
		return nil, err
	}
	return r.finish(rules, c.ToolChoice, c.ResponseFormat, names{"messages", "messages", "response_format"})
}

func inMessage(err error, i int) error {
	e := *asError(err)
	e.Param = fmt.Sprintf("messages[%d]", i)
	return &e
}

// names are how a form calls what both have.
type names struct{ messages, instructions, format string }

func (m *chatMessage) message() (Message, error) {
	out := Message{Role: Role(m.Role), Text: m.Content.text, Pictures: m.Content.pictures}
	switch out.Role {
	case User:
	case Assistant:
		for _, c := range m.ToolCalls {
			out.Calls = append(out.Calls, Call{c.ID, c.Function.Name, c.Function.Arguments})
		}
	case Tool:
		if out.CallID = m.ToolCallID; out.CallID == "" {
			return out, Invalid("tool_call_id", "A tool's message needs the tool_call_id that it answers.")
		}
	default:
		return out, Invalid("role", "The role %q is not known; system, developer, user, assistant and tool are.", clip(m.Role, 40))
	}
	return out, nil
}

// finish checks what both forms have in common.
func (r *Request) finish(rules []string, choice json.RawMessage, f *format, n names) (*Request, error) {
	if err := f.check(n.format); err != nil {
		return nil, err
	}
	wish, err := r.choose(choice)
	if err != nil {
		return nil, err
	}
	r.Options.Format = f.options()
	r.Instructions = strings.Join(append(rules, wish, f.words()), "\n\n")
	r.Instructions = strings.TrimSpace(r.Instructions)
	switch {
	case len(r.Instructions) > maxInstructions:
		return nil, Invalid(n.instructions, "The instructions have %d bytes, at most %d are allowed.", len(r.Instructions), maxInstructions)
	case len(r.User) > maxUser:
		return nil, Invalid("user", "user has %d bytes, at most %d are allowed.", len(r.User), maxUser)
	case len(r.Model) > maxModel:
		return nil, Invalid("model", "model has %d bytes, at most %d are allowed.", len(r.Model), maxModel)
	case len(r.Messages) == 0:
		return nil, Invalid(n.messages, "There is no message to answer.")
	}
	pictures := 0
	for i, m := range r.Messages {
		pictures += len(m.Pictures)
		if len(m.Text) > protocol.MaxMessageText {
			return nil, inMessage(Invalid("", "The message has %d bytes, at most %d are allowed; send it in parts.", len(m.Text),
				protocol.MaxMessageText), i)
		}
		for _, c := range m.Calls {
			if c.ID == "" || len(c.ID) > 256 || !validName(c.Name) || len(c.Arguments) > protocol.MaxMessageText {
				return nil, inMessage(Invalid("tool_calls", "A call needs an id, the name of a tool, and arguments."), i)
			}
		}
		if len(m.CallID) > 256 {
			return nil, inMessage(Invalid("tool_call_id", "This id is too long."), i)
		}
	}
	if last := r.Messages[len(r.Messages)-1]; last.Role == Assistant {
		return nil, Invalid(n.messages, "The last message is the assistant's, so there is nothing to answer.")
	}
	if pictures > maxPictures*10 {
		return nil, Invalid(n.messages, "There are %d pictures, which is too many.", pictures)
	}
	return r, r.checkTools()
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func validName(s string) bool { return len(s) <= 64 && toolName.MatchString(s) }

func (r *Request) checkTools() error {
	if len(r.Tools) > maxTools {
		return Invalid("tools", "There are %d tools, at most %d are allowed.", len(r.Tools), maxTools)
	}
	seen, all := map[string]bool{}, 0
	for i := range r.Tools {
		t := &r.Tools[i]
		size := len(t.Description) + len(t.Schema)
		all += size
		switch {
		case !validName(t.Name):
			return Invalid("tools", "%q is no name of a tool: 1 to 64 letters, digits, '_' and '-'.", clip(t.Name, 80))
		case seen[t.Name]:
			return Invalid("tools", "Two tools are called %q.", t.Name)
		case size > maxToolBytes || all > maxAllTools:
			return Invalid("tools", "What is said about the tools is too long: at most %d KB each and %d KB together.", maxToolBytes>>10,
				maxAllTools>>10)
		case len(t.Schema) == 0 || string(t.Schema) == "null":
			t.Schema = json.RawMessage(`{"type":"object","properties":{}}`)
		case t.Schema[0] != '{':
			return Invalid("tools", "The parameters of %s are no object.", t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

// choose reads tool_choice: without tools, or with one that has to be called.
// The words are for models that cannot be forced.
func (r *Request) choose(raw json.RawMessage) (words string, err error) {
	var kind string
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	if json.Unmarshal(raw, &kind) == nil {
		switch kind {
		case "auto":
			return "", nil
		case "none":
			r.Tools, r.NoTools = nil, true
			return "", nil
		case "required":
			if len(r.Tools) == 0 {
				return "", Invalid("tool_choice", "tool_choice is \"required\", but there is no function among the tools to call; send tools, or "+
					"leave tool_choice out.")
			}
			for _, t := range r.Tools {
				r.Options.Call = append(r.Options.Call, t.Name)
			}
			return "Call one of the program's tools before you answer.", nil
		}
		return "", Invalid("tool_choice", "tool_choice %q is not known.", clip(kind, 40))
	}
	var named struct {
		Type     string `json:"type"`
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if err := json.Unmarshal(raw, &named); err != nil || named.Type != "function" {
		return "", Invalid("tool_choice", "tool_choice names a function, or is auto, none or required.")
	}
	name := named.Name + named.Function.Name
	for _, t := range r.Tools {
		if t.Name == name && validName(name) {
			r.Options.Call, r.Options.Named = []string{name}, true
			return "Call the tool " + name + " before you answer.", nil
		}
	}
	return "", Invalid("tool_choice", "tool_choice names %q, which is not among the tools.", clip(name, 80))
}

// words ask the model for the form of its answer.
func (f *format) words() string {
	if f == nil {
		return ""
	}
	switch f.Type {
	case "json_object":
		return "Answer with one JSON object and nothing else, without a code fence."
	case "json_schema":
		return "Answer with JSON of this schema and nothing else, without a code fence: " + strings.ToValidUTF8(string(f.schema()), "")
	}
	return ""
}
