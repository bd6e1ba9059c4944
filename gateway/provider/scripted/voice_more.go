package scripted

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// responsesVoice is OpenAI's Responses.
type responsesVoice struct{}

func (responsesVoice) contentType() string { return "text/event-stream; charset=utf-8" }

func responsesEvent(name, rest string) string {
	return "event: " + name + "\ndata: {\"type\":\"" + name + "\"" + rest + "}\n\n"
}

func (responsesVoice) begin(model string) string {
	return responsesEvent("response.created", `,"response":{"id":"resp_1","object":"response","status":"in_progress","model":`+quote(model)+
		`,"output":[],"usage":null,"error":null}`)
}

func (responsesVoice) text(s string) string {
	return responsesEvent("response.output_text.delta", `,"item_id":"msg_1","output_index":1,"content_index":0,"delta":`+quote(s))
}

func (responsesVoice) thinking(s string) string {
	return responsesEvent("response.reasoning_summary_text.delta", `,"item_id":"rs_1","output_index":0,"summary_index":0,"delta":`+quote(s))
}

func (responsesVoice) tool(i int, id, name, args string) string {
	a, b := half(args)
	item := fmt.Sprintf(`"id":"fc_%d","type":"function_call","call_id":%s,"name":%s`, i, quote(id), quote(name))
	at := fmt.Sprintf(`,"item_id":"fc_%d","output_index":%d`, i, i+2)
	return responsesEvent("response.output_item.added", `,"output_index":2,"item":{`+item+`,"arguments":"","status":"in_progress"}`) +
		responsesEvent("response.function_call_arguments.delta", at+`,"delta":`+quote(a)) +
		responsesEvent("response.function_call_arguments.delta", at+`,"delta":`+quote(b)) +
		responsesEvent("response.output_item.done", `,"output_index":2,"item":{`+item+`,"arguments":`+quote(args)+`,"status":"completed"}`)
}

func responsesUsage(out int) string {
	return fmt.Sprintf(`{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%d}`, out, out+10)
}

func responsesEnd(stop, output string, out int) (status, rest string) {
	status, why := "completed", "null"
	switch stop {
	case "length":
		status, why = "incomplete", `{"reason":"max_output_tokens"}`
	case "refusal":
		status, why = "incomplete", `{"reason":"content_filter"}`
	}
	return status, `"id":"resp_1","object":"response","status":` + quote(status) + `,"error":null,"incomplete_details":` + why +
		`,"output":[` + output + `],"usage":` + responsesUsage(out)
}

func (responsesVoice) end(stop string, out int) string {
	status, rest := responsesEnd(stop, "", out)
	return responsesEvent("response."+status, `,"response":{`+rest+`}`)
}

func (responsesVoice) broken() string    { return "event: x\ndata: {\"type\": [}\n\n" }
func (responsesVoice) keepAlive() string { return responsesEvent("keepalive", "") }
func (responsesVoice) failure() string {
	return responsesEvent("response.failed",
		`,"response":{"id":"resp_1","status":"failed","error":{"code":"server_error","message":"The model failed to generate a response"}}`)
}

func (responsesVoice) failureBody(status int, kind, message string) any {
	return openaiVoice{}.failureBody(status, kind, message)
}

// geminiVoice is Google's own dialect.
type geminiVoice struct{}

func (geminiVoice) contentType() string { return "text/event-stream" }

func geminiChunk(parts, more string) string {
	return `data: {"candidates":[{"content":{"role":"model","parts":[` + parts + `]},"index":0` + more + `}],"modelVersion":"scripted"}` +
		"\n\n"
}

func (geminiVoice) begin(string) string  { return "" }
func (geminiVoice) text(s string) string { return geminiChunk(`{"text":`+quote(s)+`}`, "") }
func (geminiVoice) thinking(s string) string {
	return geminiChunk(`{"text":`+quote(s)+`,"thought":true}`, "")
}

func (geminiVoice) tool(_ int, id, name, args string) string {
	if !json.Valid([]byte(args)) {
		args = quote(args)
	}
	return geminiChunk(`{"functionCall":{"id":`+quote(id)+`,"name":`+quote(name)+`,"args":`+args+`}}`, "")
}

func geminiReason(stop string) string {
	return map[string]string{"stop": "STOP", "tool": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}[stop]
}

func geminiUsage(out int) string {
	return fmt.Sprintf(`"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":%d,"totalTokenCount":%d}`,
		out, out+10)
}

func (geminiVoice) end(stop string, out int) string {
	return `data: {"candidates":[{"content":{"role":"model","parts":[]},"finishReason":` + quote(geminiReason(stop)) + `,"index":0}],` +
		geminiUsage(out) + "}\n\n"
}

func (geminiVoice) broken() string    { return "data: {\"candidates\": [{]}\n\n" }
func (geminiVoice) keepAlive() string { return ": keep-alive\n\n" }
func (geminiVoice) failure() string {
	return `data: {"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}` + "\n\n"
}

func (geminiVoice) failureBody(status int, kind, message string) any {
	return map[string]any{"error": map[string]any{"code": status, "message": message, "status": kind}}
}

// bedrockVoice is Amazon's Converse, in binary frames.
type bedrockVoice struct{}

func (bedrockVoice) contentType() string { return "application/vnd.amazon.eventstream" }

// Frame is one of Amazon's binary frames: kind is event or exception.
func Frame(kind, name, payload string) string {
	header := func(key, value string) string {
		return string(byte(len(key))) + key + "\x07" + string([]byte{byte(len(value) >> 8), byte(len(value))}) + value
	}
	headers := header(":message-type", kind) + header(":"+kind+"-type", name) + header(":content-type", "application/json")
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, headers...), payload...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

func bedrockDelta(index int, delta string) string {
	return Frame("event", "contentBlockDelta", fmt.Sprintf(`{"contentBlockIndex":%d,"delta":%s,"p":"abcdefgh"}`, index, delta))
}

func (bedrockVoice) begin(string) string {
	return Frame("event", "messageStart", `{"role":"assistant","p":"abc"}`)
}
func (bedrockVoice) text(s string) string { return bedrockDelta(0, `{"text":`+quote(s)+`}`) }
func (bedrockVoice) thinking(s string) string {
	return bedrockDelta(0, `{"reasoningContent":{"text":`+quote(s)+`}}`)
}

func (bedrockVoice) tool(i int, id, name, args string) string {
	a, b := half(args)
	return Frame("event", "contentBlockStart", fmt.Sprintf(`{"contentBlockIndex":%d,"start":{"toolUse":{"toolUseId":%s,"name":%s}}}`, i+1,
		quote(id), quote(name))) +
		bedrockDelta(i+1, `{"toolUse":{"input":`+quote(a)+`}}`) + bedrockDelta(i+1, `{"toolUse":{"input":`+quote(b)+`}}`) +
		Frame("event", "contentBlockStop", fmt.Sprintf(`{"contentBlockIndex":%d}`, i+1))
}

func bedrockReason(stop string) string {
	return map[string]string{"stop": "end_turn", "tool": "tool_use", "length": "max_tokens", "refusal": "content_filtered"}[stop]
}

func bedrockUsage(out int) string {
	return fmt.Sprintf(`"usage":{"inputTokens":6,"outputTokens":%d,"totalTokens":%d,"cacheReadInputTokens":4,"cacheWriteInputTokens":0}`, out,
		out+10)
}

func (bedrockVoice) end(stop string, out int) string {
	return Frame("event", "messageStop", `{"stopReason":`+quote(bedrockReason(stop))+`}`) + Frame("event", "metadata",
		`{`+bedrockUsage(out)+`,"metrics":{"latencyMs":1}}`)
}

func (bedrockVoice) broken() string {
	return Frame("event", "contentBlockDelta", `{"delta": oops`)
}
func (bedrockVoice) keepAlive() string { return Frame("event", "ping", "{}") }
func (bedrockVoice) failure() string {
	return Frame("exception", "internalServerException", `{"message":"The system encountered an unexpected error"}`)
}

func (bedrockVoice) failureBody(_ int, _, message string) any {
	return map[string]string{"message": message}
}
