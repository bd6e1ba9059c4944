package gemini

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

type chunk struct {
	Candidates []struct {
		Content struct {
			Parts []struct {
				Text         string        `json:"text"`
				Thought      bool          `json:"thought"`
				Signature    string        `json:"thoughtSignature"`
				FunctionCall *functionCall `json:"functionCall"`
			} `json:"parts"`
		} `json:"content"`
		FinishReason  string `json:"finishReason"`
		FinishMessage string `json:"finishMessage"`
	} `json:"candidates"`
	PromptFeedback *struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *usage          `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

type usage struct {
	Prompt     wire.Count `json:"promptTokenCount"`
	Cached     wire.Count `json:"cachedContentTokenCount"`
	Candidates wire.Count `json:"candidatesTokenCount"`
	Thoughts   wire.Count `json:"thoughtsTokenCount"`
	ToolUse    wire.Count `json:"toolUsePromptTokenCount"`
}

// decoder reads one answer.
type decoder struct{ finished bool }

func (d *decoder) Decode(data []byte, a *wire.Answer) (wire.Step, error) {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		if d.finished {
			return wire.Done, nil // garbage behind a whole answer
		}
		return 0, errors.New("not a JSON object of the Gemini API")
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return 0, &wire.Reported{Body: data}
	}
	if u := c.Usage; u != nil {
		cached := min(u.Cached, u.Prompt)
		a.Usage(model.Usage{Input: int(u.Prompt - cached + u.ToolUse), Output: int(u.Candidates + u.Thoughts), CacheRead: int(cached)})
	}
	if f := c.PromptFeedback; f != nil && f.BlockReason != "" && f.BlockReason != "BLOCK_REASON_UNSPECIFIED" {
		d.finished = true
		a.Stop(model.StopRefusal)
	}
	if len(c.Candidates) == 0 {
		return wire.Progress, nil
	}
	first := c.Candidates[0]
	for _, p := range first.Content.Parts {
		switch {
		case p.FunctionCall != nil:
			a.Signature(dialect, p.Signature)
			if err := a.Call(p.FunctionCall.ID, p.FunctionCall.Name, p.FunctionCall.Args); err != nil {
				return 0, err
			}
			continue
		case p.Thought:
			a.Thinking(p.Text)
		default:
			a.Text(p.Text)
		}
		a.Signature(dialect, p.Signature)
	}
	if first.FinishReason != "" && first.FinishReason != "FINISH_REASON_UNSPECIFIED" {
		return wire.Progress, d.finish(first.FinishReason, first.FinishMessage, a)
	}
	return wire.Progress, nil
}

// finish takes the reason of the end. The stream may still bring token counts.
func (d *decoder) finish(reason, message string, a *wire.Answer) error {
	switch reason {
	case "MAX_TOKENS":
		a.Stop(model.StopLength)
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT",
		"IMAGE_RECITATION":
		a.Stop(model.StopRefusal)
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE":
		return &model.Error{Class: model.ClassMalformed, Detail: fmt.Sprintf("the model wrote a tool call that cannot be read (%s) %s", reason,
			message)}
	default:
		a.Stop(model.StopEnd)
	}
	d.finished = true
	return nil
}

// End has nothing to close; the stream of this dialect has no end mark but a
// reason.
func (d *decoder) End(*wire.Answer, bool) (bool, error) { return d.finished, nil }
