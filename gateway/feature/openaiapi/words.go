package openaiapi

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/openaiserver"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// pastOf is what was said before in the form of transcripts.
func pastOf(past []openaiserver.Message) []protocol.Message {
	names := map[string]string{}
	out := make([]protocol.Message, 0, len(past))
	for _, m := range past {
		msg := protocol.Message{Content: protocol.TextBlocks(m.Text)}
		switch m.Role {
		case openaiserver.User:
			msg.Role = protocol.MessageUser
			if len(m.Pictures) > 0 { // only new ones are kept
				msg.Content = protocol.TextBlocks(strings.TrimSpace(m.Text + " (a picture)"))
			}
		case openaiserver.Assistant:
			msg.Role, msg.Provider, msg.StopReason = protocol.MessageAssistant, channel.API, "stop"
			for _, c := range m.Calls {
				names[c.ID] = c.Name
				args := json.RawMessage(c.Arguments)
				if !json.Valid(args) || len(args) == 0 || args[0] != '{' {
					args = json.RawMessage("{}")
				}
				msg.Content = append(msg.Content, protocol.Block{Type: protocol.BlockToolCall, ID: c.ID, Name: c.Name, Arguments: args})
			}
		case openaiserver.Tool:
			name, known := names[m.CallID]
			if !known { // a result of nothing: services refuse it
				continue
			}
			msg.Role, msg.ToolCallID, msg.ToolName = protocol.MessageToolResult, m.CallID, name
		}
		out = append(out, msg)
	}
	return out
}

// forPrograms is why an answer failed, for a program: what had arrived of it is kept
// for the page, and no program gets it.
func forPrograms(problem string) string {
	return strings.NewReplacer(
		" What had arrived is kept; send the message again for a whole answer.", " Send the request again for a whole answer.",
		" What had arrived is kept.", "",
		" Your message is kept: send it again.", " Send the request again.",
		"; your message is kept and you can send it again.", ", then send the request again.",
		"; your message is kept.", ", then send the request again.",
		"end the message again", "end the request again",
	).Replace(problem)
}

// asHook gives errors of the engine the form of programs.
func asHook(err error) error {
	if err == nil {
		return nil
	}
	var pe *protocol.Error
	if !errors.As(method.ForClients("", err), &pe) {
		return err
	}
	switch {
	case pe.Details["code"] == "QUEUE_FULL":
		return openaiserver.Busy(0, "queue_full", pe.Message)
	case pe.Code == protocol.CodeUnavailable:
		return &openaiserver.Error{Status: 503, Type: "api_error", Text: pe.Message}
	}
	return openaiserver.Invalid("", "%s", pe.Message)
}
