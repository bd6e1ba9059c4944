package scripted

import (
	"encoding/json"
	"fmt"
	"strings"
)

// wholeVoice gathers an answer and writes it in one piece at the end.
type wholeVoice struct {
	voice
	write           func(*wholeVoice, string, int) string
	words, thoughts string
	calls           []wholeCall
}

type wholeCall struct{ id, name, args string }

// inOnePiece is v for a client that wants no stream.
func inOnePiece(v voice) voice {
	w := &wholeVoice{voice: v}
	switch v.(type) {
	case openaiVoice:
		w.write = wholeOpenAI
	case anthropicVoice:
		w.write = wholeAnthropic
	case responsesVoice:
		w.write = wholeResponses
	case geminiVoice:
		w.write = wholeGemini
	case bedrockVoice:
		w.write = wholeBedrock
	default:
		w.write = wholeOllama
	}
	return w
}

func (w *wholeVoice) contentType() string             { return "application/json" }
func (w *wholeVoice) begin(string) string             { return "" }
func (w *wholeVoice) text(s string) string            { w.words += s; return "" }
func (w *wholeVoice) thinking(s string) string        { w.thoughts += s; return "" }
func (w *wholeVoice) broken() string                  { return "{oops" }
func (w *wholeVoice) keepAlive() string               { return " " }
func (w *wholeVoice) end(stop string, out int) string { return w.write(w, stop, out) }

func (w *wholeVoice) tool(_ int, id, name, args string) string {
	w.calls = append(w.calls, wholeCall{id, name, args})
	return ""
}

func (w *wholeVoice) failure() string {
	b, err := json.Marshal(w.voice.failureBody(500, "server_error", "The server had an error while processing your request"))
	if err != nil {
		return "{}"
	}
	return string(b)
}

// object is arguments where a JSON object is wanted.
func object(args string) string {
	if json.Valid([]byte(args)) {
		return args
	}
	return quote(args)
}

func (w *wholeVoice) list(format func(c wholeCall) string) string {
	var all []string
	for _, c := range w.calls {
		all = append(all, format(c))
	}
	return strings.Join(all, ",")
}

func wholeOpenAI(w *wholeVoice, stop string, out int) string {
	reason := map[string]string{"stop": "stop", "tool": "tool_calls", "length": "length", "refusal": "content_filter"}[stop]
	calls := w.list(func(c wholeCall) string {
		return `{"id":` + quote(c.id) + `,"type":"function","function":{"name":` + quote(c.name) + `,"arguments":` + quote(c.args) + `}}`
	})
	return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":%s,"reasoning_content":%s,"tool_calls":[%s]},"finish_reason":%s}],"usage":{"prompt_tokens":10,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":4}}}`,
		quote(w.words), quote(w.thoughts), calls, quote(reason), out)
}

func (w *wholeVoice) anthropicParts() (parts []string) {
	if w.thoughts != "" {
		parts = append(parts, `{"type":"thinking","thinking":`+quote(w.thoughts)+`,"signature":"c2ln"}`)
	}
	if w.words != "" {
		parts = append(parts, `{"type":"text","text":`+quote(w.words)+`}`)
	}
	return parts
}

func wholeAnthropic(w *wholeVoice, stop string, out int) string {
	reason := map[string]string{"stop": "end_turn", "tool": "tool_use", "length": "max_tokens", "refusal": "refusal"}[stop]
	parts := w.anthropicParts()
	for _, c := range w.calls {
		parts = append(parts, `{"type":"tool_use","id":`+quote(c.id)+`,"name":`+quote(c.name)+`,"input":`+object(c.args)+`}`)
	}
	return fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","content":[%s],"stop_reason":%s,"usage":{"input_tokens":6,"cache_read_input_tokens":4,"output_tokens":%d}}`,
		strings.Join(parts, ","), quote(reason), out)
}

func wholeResponses(w *wholeVoice, stop string, out int) string {
	var items []string
	if w.thoughts != "" {
		items = append(items, `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":`+quote(w.thoughts)+`}]}`)
	}
	if w.words != "" {
		items = append(items, `{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":`+quote(w.words)+`}]}`)
	}
	for _, c := range w.calls {
		items = append(items, `{"type":"function_call","id":"fc_`+c.id+`","call_id":`+quote(c.id)+`,"name":`+quote(c.name)+`,"arguments":`+
			quote(c.args)+`}`)
	}
	_, rest := responsesEnd(stop, strings.Join(items, ","), out)
	return "{" + rest + "}"
}

func wholeGemini(w *wholeVoice, stop string, out int) string {
	var parts []string
	if w.thoughts != "" {
		parts = append(parts, `{"thought":true,"text":`+quote(w.thoughts)+`}`)
	}
	if w.words != "" {
		parts = append(parts, `{"text":`+quote(w.words)+`}`)
	}
	for _, c := range w.calls {
		parts = append(parts, `{"functionCall":{"id":`+quote(c.id)+`,"name":`+quote(c.name)+`,"args":`+object(c.args)+`}}`)
	}
	return `{"candidates":[{"content":{"role":"model","parts":[` + strings.Join(parts, ",") + `]},"finishReason":` +
		quote(geminiReason(stop)) + `}],` + geminiUsage(out) + `}`
}

func wholeBedrock(w *wholeVoice, stop string, out int) string {
	var parts []string
	if w.thoughts != "" {
		parts = append(parts, `{"reasoningContent":{"reasoningText":{"text":`+quote(w.thoughts)+`,"signature":"c2ln"}}}`)
	}
	if w.words != "" {
		parts = append(parts, `{"text":`+quote(w.words)+`}`)
	}
	for _, c := range w.calls {
		parts = append(parts, `{"toolUse":{"toolUseId":`+quote(c.id)+`,"name":`+quote(c.name)+`,"input":`+object(c.args)+`}}`)
	}
	return `{"output":{"message":{"role":"assistant","content":[` + strings.Join(parts, ",") + `]}},"stopReason":` +
		quote(bedrockReason(stop)) + `,` + bedrockUsage(out) + `}`
}

func wholeOllama(w *wholeVoice, stop string, out int) string {
	reason := "stop"
	if stop == "length" {
		reason = stop
	}
	calls := w.list(func(c wholeCall) string {
		return `{"function":{"name":` + quote(c.name) + `,"arguments":` + object(c.args) + `}}`
	})
	return fmt.Sprintf(`{"model":"scripted","message":{"role":"assistant","content":%s,"thinking":%s,"tool_calls":[%s]},"done":true,"done_reason":%s,"prompt_eval_count":10,"eval_count":%d}`,
		quote(w.words), quote(w.thoughts), calls, quote(reason), out)
}
