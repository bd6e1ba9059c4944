package openaiserver

import "encoding/json"

// echoed is what a response says again of its request.
type echoed fields

// echoOf is what OpenAI's service says again: its clients read it, and the
// defaults stand where nothing was said.
func echoOf(raw *responsesRequest) echoed {
	out := echoed{"instructions": nil, "max_output_tokens": nil, "temperature": 1, "top_p": 1, "tool_choice": "auto",
		"text": fields{"format": fields{"type": "text"}}}
	if raw.Instructions != "" {
		out["instructions"] = raw.Instructions
	}
	if raw.MaxOutput != nil {
		out["max_output_tokens"] = *raw.MaxOutput
	}
	if raw.Temperature != nil {
		out["temperature"] = *raw.Temperature
	}
	if raw.TopP != nil {
		out["top_p"] = *raw.TopP
	}
	if len(raw.ToolChoice) > 0 && string(raw.ToolChoice) != "null" {
		out["tool_choice"] = raw.ToolChoice
	}
	tools := []any{}
	for _, t := range raw.Tools {
		if t.Type != "function" { // it is not offered, so it is not said
			continue
		}
		strict, parameters := false, t.Parameters
		if t.Strict != nil {
			strict = *t.Strict
		}
		if len(parameters) == 0 {
			parameters = json.RawMessage("null")
		}
		tools = append(tools, fields{"type": "function", "name": t.Name, "description": t.Description, "parameters": parameters,
			"strict": strict})
	}
	out["tools"] = tools
	if f := raw.Text.Format; f != nil && f.options() != nil {
		form := fields{"type": f.Type}
		if f.Type == "json_schema" {
			form["name"], form["schema"], form["strict"] = f.Name, f.Schema, f.Strict
			if f.Description != "" {
				form["description"] = f.Description
			}
		}
		out["text"] = fields{"format": form}
	}
	return out
}
