package scripted

import (
	"encoding/json"
	"fmt"
	"strings"
)

// voice writes one dialect. Every method returns bytes ready for the wire.
type voice interface {
	contentType() string
	begin(model string) string
	text(s string) string
	thinking(s string) string
	// tool writes one call; args is JSON text, or not when it should be broken.
	tool(index int, id, name, args string) string
	end(stop string, out int) string // stop: stop, tool, length, refusal
	broken() string                  // bytes that are not the dialect
	keepAlive() string
	failure() string // an error inside the stream
	failureBody(status int, kind, message string) any
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

// half splits s in the middle, to send arguments in pieces.
func half(s string) (string, string) { return s[:len(s)/2], s[len(s)/2:] }

type openaiVoice struct{}

func (openaiVoice) contentType() string { return "text/event-stream; charset=utf-8" }

func openaiChunk(delta, finish string) string {
	return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"scripted","choices":[{"index":0,"delta":` + delta +
		`,"finish_reason":` + finish + "}]}\n\n"
}

func (openaiVoice) begin(string) string {
	return openaiChunk(`{"role":"assistant","content":""}`, "null")
}
func (openaiVoice) text(s string) string { return openaiChunk(`{"content":`+quote(s)+`}`, "null") }
func (openaiVoice) thinking(s string) string {
	return openaiChunk(`{"reasoning_content":`+quote(s)+`}`, "null")
}

func (openaiVoice) tool(i int, id, name, args string) string {
	a, b := half(args)
	return openaiChunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`, i,
		quote(id), quote(name)), "null") +
		openaiChunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quote(a)), "null") +
		openaiChunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quote(b)), "null")
}

func (openaiVoice) end(stop string, out int) string {
	reason := map[string]string{"stop": "stop", "tool": "tool_calls", "length": "length", "refusal": "content_filter"}[stop]
	return openaiChunk("{}", quote(reason)) +
		fmt.Sprintf(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":4}}}`, out, out+10) + "\n\ndata: [DONE]\n\n"
}

func (openaiVoice) broken() string    { return "data: {\"choices\": [{]}\n\n" }
func (openaiVoice) keepAlive() string { return ": keep-alive\n\n" }
func (openaiVoice) failure() string {
	return `data: {"error":{"message":"The server had an error while processing your request","type":"server_error","code":502}}` + "\n\n"
}

func (openaiVoice) failureBody(status int, kind, message string) any {
	return map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": kind}}
}

type anthropicVoice struct{}

func (anthropicVoice) contentType() string { return "text/event-stream; charset=utf-8" }

func anthropicEvent(name, rest string) string {
	return "event: " + name + "\ndata: {\"type\":\"" + name + "\"" + rest + "}\n\n"
}

func (anthropicVoice) begin(model string) string {
	return anthropicEvent("message_start", `,"message":{"id":"msg_1","type":"message","role":"assistant","model":`+quote(model)+
		`,"content":[],"stop_reason":null,"usage":{"input_tokens":6,"cache_read_input_tokens":4,"output_tokens":1}}`) +
		anthropicEvent("ping", "")
}

// Text and reasoning reuse one block index: readers must not rely on more.
func (anthropicVoice) text(s string) string {
	return anthropicEvent("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":`+quote(s)+`}`)
}

func (anthropicVoice) thinking(s string) string {
	return anthropicEvent("content_block_delta", `,"index":0,"delta":{"type":"thinking_delta","thinking":`+quote(s)+`}`)
}

func (anthropicVoice) tool(i int, id, name, args string) string {
	a, b := half(args)
	index := fmt.Sprintf(`,"index":%d`, i+1)
	return anthropicEvent("content_block_start", index+`,"content_block":{"type":"tool_use","id":`+quote(id)+`,"name":`+quote(name)+
		`,"input":{}}`) +
		anthropicEvent("content_block_delta", index+`,"delta":{"type":"input_json_delta","partial_json":`+quote(a)+`}`) +
		anthropicEvent("content_block_delta", index+`,"delta":{"type":"input_json_delta","partial_json":`+quote(b)+`}`) +
		anthropicEvent("content_block_stop", index)
}

func (anthropicVoice) end(stop string, out int) string {
	reason := map[string]string{"stop": "end_turn", "tool": "tool_use", "length": "max_tokens", "refusal": "refusal"}[stop]
	return anthropicEvent("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%s,"stop_sequence":null},"usage":{"output_tokens":%d}`,
		quote(reason), out)) +
		anthropicEvent("message_stop", "")
}

func (anthropicVoice) broken() string    { return "event: content_block_delta\ndata: {\"type\": oops\n\n" }
func (anthropicVoice) keepAlive() string { return anthropicEvent("ping", "") }
func (anthropicVoice) failure() string {
	return anthropicEvent("error", `,"error":{"type":"overloaded_error","message":"Overloaded"}`)
}

func (anthropicVoice) failureBody(status int, kind, message string) any {
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}, "request_id": "req_1"}
}

type ollamaVoice struct{}

func (ollamaVoice) contentType() string { return "application/x-ndjson" }

func ollamaLine(message string) string {
	return `{"model":"scripted","created_at":"2026-01-01T00:00:00Z","message":` + message + `,"done":false}` + "\n"
}

func (ollamaVoice) begin(string) string { return "" }
func (ollamaVoice) text(s string) string {
	return ollamaLine(`{"role":"assistant","content":` + quote(s) + `}`)
}
func (ollamaVoice) thinking(s string) string {
	return ollamaLine(`{"role":"assistant","content":"","thinking":` + quote(s) + `}`)
}

func (ollamaVoice) tool(_ int, _, name, args string) string {
	if !json.Valid([]byte(args)) {
		args = quote(args)
	}
	return ollamaLine(`{"role":"assistant","content":"","tool_calls":[{"function":{"name":` + quote(name) + `,"arguments":` + args + `}}]}`)
}

func (ollamaVoice) end(stop string, out int) string {
	reason := "stop"
	if stop == "length" {
		reason = stop
	}
	return fmt.Sprintf(`{"model":"scripted","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done":true,"done_reason":%s,"prompt_eval_count":10,"eval_count":%d}`, quote(reason), out) + "\n"
}

func (ollamaVoice) broken() string    { return "{\"message\": {oops\n" }
func (ollamaVoice) keepAlive() string { return "\n" }
func (ollamaVoice) failure() string {
	return `{"error":"an error was encountered while running the model: CUDA error"}` + "\n"
}

func (ollamaVoice) failureBody(status int, kind, message string) any {
	return map[string]string{"error": message}
}

// pieces splits s into words, each with the space behind it.
func pieces(s string) []string { return strings.SplitAfter(s, " ") }
