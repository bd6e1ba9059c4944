package openaiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// responsesRequest is what we read of a request for a response.
type responsesRequest struct {
	Model        string          `json:"model"`
	Input        json.RawMessage `json:"input"`
	Instructions string          `json:"instructions"`
	Tools        []responsesTool `json:"tools"`
	ToolChoice   json.RawMessage `json:"tool_choice"`
	Previous     string          `json:"previous_response_id"`
	Conversation json.RawMessage `json:"conversation"`
	Background   bool            `json:"background"`
	User         string          `json:"user"`
	Stream       bool            `json:"stream"`
	Text         struct {
		Format *format `json:"format"`
	} `json:"text"`
	MaxOutput   *int     `json:"max_output_tokens"`
	Temperature *float64 `json:"temperature"`
	TopP        *float64 `json:"top_p"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict"`
}

// item is one thing of the input; its type says which fields are set.
type item struct {
	Type      string  `json:"type"`
	ID        string  `json:"id"`
	Role      string  `json:"role"`
	Content   content `json:"content"`
	CallID    string  `json:"call_id"`
	Name      string  `json:"name"`
	Arguments string  `json:"arguments"`
	Output    content `json:"output"`
}

// parseResponses reads a request for a response.
func parseResponses(raw *responsesRequest, find func(id string) (Message, bool)) (*Request, error) {
	switch {
	case raw.Background:
		return nil, Invalid("background", "Hearth answers while the request is open; leave background out.")
	case len(raw.Conversation) > 0 && string(raw.Conversation) != "null":
		return nil, Invalid("conversation", "Name the conversation with previous_response_id, user, or the header X-Hearth-Session.")
	case len(raw.Previous) > maxUser:
		return nil, Invalid("previous_response_id", "This id is too long.")
	}
	r := &Request{Model: raw.Model, User: raw.User, Stream: raw.Stream, Previous: raw.Previous}
	rules := []string{raw.Instructions}
	items, err := itemsOf(raw.Input)
	if err != nil {
		return nil, err
	}
	for i, it := range items {
		if it.Role == "system" || it.Role == "developer" {
			rules = append(rules, it.Content.text)
			continue
		}
		if it.Type == "item_reference" {
			r.refer(it.ID, find)
			continue
		}
		if err := r.take(it); err != nil {
			e := *asError(err)
			e.Param = fmt.Sprintf("input[%d]", i)
			return nil, &e
		}
	}
	for _, t := range raw.Tools {
		if t.Type == "function" { // the others are OpenAI's own; Hearth has tools of its own
			r.Tools = append(r.Tools, Function{t.Name, t.Description, t.Parameters})
		}
	}
	limits := map[string]*int{"max_output_tokens": raw.MaxOutput}
	if err := r.tune(tuning{Temperature: raw.Temperature, TopP: raw.TopP}, leastOutput, limits); err != nil {
		return nil, err
	}
	r.Echo = echoOf(raw)
	r, err = r.finish(rules, raw.ToolChoice, raw.Text.Format, names{"input", "instructions", "text.format"})
	return r, ofInput(err)
}

// leastOutput is the least that OpenAI takes for max_output_tokens.
const leastOutput = 16

// ofInput says of an error about the messages that it is about the input, whose items
// are others.
func ofInput(err error) error {
	var own *Error
	if errors.As(err, &own) && strings.HasPrefix(own.Param, "messages") {
		e := *own
		e.Param = "input"
		return &e
	}
	return err
}

// itemsOf reads the input: text, or a list of items.
func itemsOf(raw json.RawMessage) ([]item, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, Invalid("input", "There is no input to answer.")
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []item{{Role: string(User), Content: content{text: text}}}, nil
	}
	var items []item
	if err := json.Unmarshal(raw, &items); err != nil {
		if own, ok := err.(*Error); ok { //nolint:errorlint // it comes from UnmarshalJSON as it is
			return nil, own
		}
		return nil, Invalid("input", "The input is text, or a list of items.")
	}
	if len(items) > maxMessages {
		return nil, Invalid("input", "There are %d items, at most %d are allowed.", len(items), maxMessages)
	}
	return items, nil
}

// take adds an item to the messages. Calls stand with the assistant's message
// before them, as in chat completions.
func (r *Request) take(it item) error {
	switch it.Type {
	case "", "message":
		switch Role(it.Role) {
		case User:
			r.Messages = append(r.Messages, Message{Role: User, Text: it.Content.text, Pictures: it.Content.pictures})
		case Assistant:
			r.Messages = append(r.Messages, Message{Role: Assistant, Text: it.Content.text})
		default:
			return Invalid("role", "The role %q is not known; system, developer, user and assistant are.", clip(it.Role, 40))
		}
	case "function_call":
		if n := len(r.Messages); n == 0 || r.Messages[n-1].Role != Assistant {
			r.Messages = append(r.Messages, Message{Role: Assistant})
		}
		last := &r.Messages[len(r.Messages)-1]
		last.Calls = append(last.Calls, Call{it.CallID, it.Name, it.Arguments})
	case "function_call_output":
		if it.CallID == "" {
			return Invalid("call_id", "A result needs the call_id that it answers.")
		}
		r.Messages = append(r.Messages, Message{Role: Tool, CallID: it.CallID, Text: it.Output.text})
	case "reasoning": // of OpenAI's own models
	default:
		return Invalid("type", "Items of the type %q cannot be sent.", clip(it.Type, 40))
	}
	return nil
}
