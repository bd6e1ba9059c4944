package openaiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/model"
)

func chatOf(raw string) (*Request, error) {
	var c chatRequest
	if err := decode([]byte(raw), &c); err != nil {
		return nil, err
	}
	return parseChat(&c)
}

func responsesOf(raw string) (*Request, error) {
	var c responsesRequest
	if err := decode([]byte(raw), &c); err != nil {
		return nil, err
	}
	return parseResponses(&c, func(string) (Message, bool) { return Message{}, false })
}

func TestBothFormsComeToTheSame(t *testing.T) {
	chat, err := chatOf(`{"model":"hearth","user":"anna","stream":true,"messages":[
		{"role":"system","content":"Be brief."},
		{"role":"user","content":[{"type":"text","text":"Look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},
		{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"a cat"},
		{"role":"user","content":"and?"}],
		"tools":[{"type":"function","function":{"name":"look","description":"Looks.","parameters":{"type":"object"}}}],
		"temperature":0.2,"max_tokens":20,"logit_bias":{"1":2}}`)
	if err != nil {
		t.Fatal(err)
	}
	responses, err := responsesOf(`{"model":"hearth","user":"anna","stream":true,"instructions":"Be brief.","input":[
		{"role":"user","content":[{"type":"input_text","text":"Look"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]},
		{"type":"reasoning","summary":[]},
		{"type":"function_call","call_id":"c1","name":"look","arguments":"{}"},
		{"type":"function_call_output","call_id":"c1","output":"a cat"},
		{"type":"message","role":"user","content":"and?"}],
		"tools":[{"type":"function","name":"look","description":"Looks.","parameters":{"type":"object"}},{"type":"web_search"}],
		"temperature":0.2,"max_output_tokens":20}`)
	if err != nil {
		t.Fatal(err)
	}
	responses.Echo = nil
	if diff := cmp.Diff(chat, responses); diff != "" {
		t.Error(diff)
	}
	warm := 0.2
	want := &Request{
		Options: model.Options{MaxTokens: 20, Temperature: &warm},
		Model:   "hearth", Instructions: "Be brief.", User: "anna", Stream: true,
		Messages: []Message{
			{Role: User, Text: "Look", Pictures: []string{"data:image/png;base64,AAAA"}},
			{Role: Assistant, Calls: []Call{{"c1", "look", "{}"}}},
			{Role: Tool, Text: "a cat", CallID: "c1"},
			{Role: User, Text: "and?"},
		},
		Tools: []Function{{"look", "Looks.", json.RawMessage(`{"type":"object"}`)}},
	}
	if diff := cmp.Diff(want, chat); diff != "" {
		t.Error(diff)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	user := `"messages":[{"role":"user","content":"x"}]`
	tool := func(name string) string {
		return `{"type":"function","function":{"name":"` + name + `"}}`
	}
	for _, x := range []struct{ raw, param, words string }{
		{`{`, "", "not JSON"},
		{`[]`, "", "JSON object"},
		{`{"messages":"x"}`, "messages", "must not be"},
		{`{"messages":[],"messages":[]}`, "", "twice"},
		{`{}`, "messages", "no message"},
		{`{` + user + `,"temperature":3}`, "temperature", "from 0 to 2"},
		{`{` + user + `,"top_p":-1}`, "top_p", "from 0 to 1"},
		{`{` + user + `,"max_tokens":0}`, "max_tokens", "at least 1"},
		{`{` + user + `,"stop":["a","b","c","d","e"]}`, "stop", "at most 4"},
		{`{` + user + `,"stop":7}`, "stop", "a text, or a list"},
		{`{"messages":[{"role":"user","content":"x"}],"n":2}`, "n", "one answer"},
		{`{` + user + `,"n":0}`, "n", "at least 1"},
		{`{` + user + `,"n":-1}`, "n", "at least 1"},
		{`{` + user + `,"response_format":{"type":"xml"}}`, "response_format", `has the type "xml"`},
		{`{` + user + `,"response_format":{}}`, "response_format", "text, json_object and json_schema"},
		{`{` + user + `,"response_format":{"type":"json_schema"}}`, "response_format", "needs a schema"},
		{`{` + user + `,"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":null}}}`, "response_format",
			"needs a schema"},
		{`{` + user + `,"response_format":{"type":"json_schema","json_schema":{"schema":[]}}}`, "response_format", "no object"},
		{`{` + user + `,"tool_choice":"required"}`, "tool_choice", "no function among the tools"},
		{`{` + user + `,"tool_choice":"required","tools":[]}`, "tool_choice", "no function among the tools"},
		// What is of the wrong type is called as the program called it.
		{`{` + user + `,"temperature":"x"}`, "temperature", "temperature must not be a text, but a number."},
		{`{` + user + `,"seed":[]}`, "seed", "seed must not be a list, but a whole number."},
		{`{` + user + `,"max_tokens":1.5}`, "max_tokens", "max_tokens must not be 1.5, but a whole number."},
		{`{` + user + `,"max_tokens":99999999999999999999}`, "max_tokens", "must not be 99999999999999999999, which is too large."},
		{`{` + user + `,"top_p":1e999}`, "top_p", "too large"},
		{`{` + user + `,"stream":"yes"}`, "stream", "stream must not be a text, but true or false."},
		{`{` + user + `,"tools":{}}`, "tools", "tools must not be an object, but a list."},
		{`{` + user + `,"tools":[{"type":"function","function":{"name":true}}]}`, "tools[0].function.name", "true or false, but a text."},
		{`{` + user + `,"response_format":{"type":"json_schema","json_schema":{"name":5}}}`, "response_format.json_schema.name", "a text."},
		{`{` + user + `,"response_format":{"type":"json_schema","name":5}}`, "response_format.name", "a text."},
		{`{"messages":[5]}`, "messages[0]", "messages[0] must not be a number, but an object."},
		{`{"model":"x","metadata":{"a":[1,{"b":2}]},"messages":[{"role":"user","content":"x"},{"role":[]}]}`, "messages[1].role", "a list"},
		{`{"messages":[{"role":"wizard","content":"x"}]}`, "messages[0]", "wizard"},
		{`{"messages":[{"role":"user","content":7}]}`, "content", "text, or a list"},
		{`{"messages":[{"role":"user","content":[{"type":"input_audio"}]}]}`, "content", "input_audio"},
		{`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://169.254.169.254/"}}]}]}`, "image_url",
			"fetches none"},
		{`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}]}`, "image_url", "fetches none"},
		{`{"messages":[{"role":"tool","content":"x"}]}`, "messages[0]", "tool_call_id"},
		{`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}`, "messages", "nothing to answer"},
		{`{"messages":[{"role":"assistant","tool_calls":[{"id":"","function":{"name":"x"}}]},{"role":"user","content":"x"}]}`, "messages[0]",
			"id"},
		{`{` + user + `,"tools":[` + tool("a b") + `]}`, "tools", "no name"},
		{`{` + user + `,"tools":[` + tool("a") + `,` + tool("a") + `]}`, "tools", "Two tools"},
		{`{` + user + `,"tools":[{"type":"custom"}]}`, "tools", "custom"},
		{`{` + user + `,"tools":[{"type":"function","function":{"name":"a","parameters":[1]}}]}`, "tools", "no object"},
		{`{` + user + `,"tool_choice":"sometimes"}`, "tool_choice", "sometimes"},
		{`{` + user + `,"tool_choice":{"type":"function","function":{"name":"a"}}}`, "tool_choice", "not among"},
		{`{` + user + `,"functions":[{}]}`, "functions", "old form"},
		{`{` + user + `,"modalities":["audio"]}`, "modalities", "text"},
		{`{` + user + `,"user":"` + strings.Repeat("x", 300) + `"}`, "user", "256"},
		{`{"messages":[{"role":"user","content":"` + strings.Repeat("x", 2<<20) + `"}]}`, "messages[0]", "send it in parts"},
		{`{"messages":[{"role":"system","content":"` + strings.Repeat("x", 300<<10) + `"},{"role":"user","content":"x"}]}`, "messages",
			"instructions"},
	} {
		_, err := chatOf(x.raw)
		var e *Error
		//nolint:errorlint // they are not wrapped
		if e, _ = err.(*Error); e == nil || e.Status != 400 || e.Param != x.param || !strings.Contains(e.Text, x.words) {
			t.Errorf("%.80s: %+v", x.raw, err)
		}
	}
	for _, x := range []struct{ raw, words string }{
		{`{}`, "no input"}, {`{"input":7}`, "text, or a list"}, {`{"input":[{"type":"item_reference","id":"x"}]}`, "no message"},
		{`{"input":"x","background":true}`, "background"}, {`{"input":"x","conversation":"c"}`, "previous_response_id"},
		{`{"input":[{"type":"function_call_output","output":"x"}]}`, "call_id"}, {`{"input":[{"role":"user","content":[{"type":"input_file"}]}]}`,
			"input_file"},
	} {
		if _, err := responsesOf(x.raw); err == nil || !strings.Contains(err.Error(), x.words) {
			t.Errorf("%s: %v", x.raw, err)
		}
	}
	for _, x := range []struct{ raw, param, words string }{
		{`{"input":[]}`, "input", "no message"},
		{`{"input":[{"role":"assistant","content":"x"}]}`, "input", "nothing to answer"},
		{`{"input":[5]}`, "input", "text, or a list"},
		{`{"input":"x","instructions":"` + strings.Repeat("x", 300<<10) + `"}`, "instructions", "at most"},
		{`{"input":"` + strings.Repeat("x", 2<<20) + `"}`, "input", "send it in parts"},
		{`{"input":"x","text":{"format":{"type":"xml"}}}`, "text.format", `has the type "xml"`},
		{`{"input":"x","text":{"format":{"type":"json_schema","name":"x"}}}`, "text.format", "needs a schema"},
		{`{"input":"x","max_output_tokens":3}`, "max_output_tokens", "at least 16"},
		{`{"input":"x","tool_choice":"required","tools":[{"type":"web_search"}]}`, "tool_choice", "no function among the tools"},
		{`{"input":"x","temperature":"x"}`, "temperature", "temperature must not be a text, but a number."},
		{`{"input":"x","text":{"format":{"type":"json_schema","name":5}}}`, "text.format.name", "a text."},
	} {
		_, err := responsesOf(x.raw)
		var e *Error
		if !errors.As(err, &e) || e.Status != 400 || e.Param != x.param || !strings.Contains(e.Text, x.words) {
			t.Errorf("%.80s: %+v", x.raw, err)
		}
	}
}

// A-DOS-06: shapes are refused before they are built.
func TestSec_A_DOS_06_HostileRequests(t *testing.T) {
	var many strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&many, `"k%d":1,`, i)
	}
	var tools []string
	for i := range maxTools + 1 {
		tools = append(tools, fmt.Sprintf(`{"type":"function","function":{"name":"t%d"}}`, i))
	}
	for name, raw := range map[string]string{
		"deep": strings.Repeat("[", 1_000_000),
		"deep schema": `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"a","parameters":` +
			strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat("}", 200) + `}}]}`,
		"wide":        `{` + many.String() + `"messages":[]}`,
		"long number": `{"n":` + strings.Repeat("9", 1_000_000) + `}`,
		"surrogate":   `{"messages":[{"role":"user","content":"\ud800"}]}`,
		"not UTF-8":   "{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}",
		"two values":  `{"messages":[{"role":"user","content":"x"}]} {}`,
		"many tools":  `{"messages":[{"role":"user","content":"x"}],"tools":[` + strings.Join(tools, ",") + `]}`,
		"large tool": `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"a","description":"` +
			strings.Repeat("x", 100<<10) + `"}}]}`,
		"many messages": `{"messages":[` + strings.Repeat(`{"role":"user"},`, 3000) + `{"role":"user","content":"x"}]}`,
	} {
		if _, err := chatOf(raw); err == nil || asError(err).Status != 400 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestChoiceAndFormatAreAskedForInWords(t *testing.T) {
	base := `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"look"}}]`
	for more, want := range map[string]string{
		``:                          "",
		`,"tool_choice":"auto"`:     "",
		`,"tool_choice":"required"`: "Call one of the program's tools before you answer.",
		`,"tool_choice":{"type":"function","function":{"name":"look"}}`: "Call the tool look before you answer.",
		`,"response_format":{"type":"json_object"}`: "Answer with one JSON object and nothing " +
			"else, without a code fence.",
		`,"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"object"}}}`: `Answer with JSON of this schema and nothing else, without a code fence: {"type":"object"}`,
	} {
		r, err := chatOf(base + more + `}`)
		if err != nil || r.Instructions != want || len(r.Tools) != 1 {
			t.Errorf("%s: %v %+v", more, err, r)
		}
	}
	if r, err := chatOf(base + `,"tool_choice":"none"}`); err != nil || len(r.Tools) != 0 {
		t.Errorf("%v %+v", err, r)
	}
}

// sound says what holds of every request that is taken.
func sound(t *testing.T, r *Request) {
	t.Helper()
	last := r.Messages[len(r.Messages)-1]
	if last.Role == Assistant || len(r.Messages) > maxMessages || len(r.Tools) > maxTools || len(r.Instructions) > maxInstructions {
		t.Fatalf("%+v", r)
	}
	for _, f := range r.Tools {
		if !validName(f.Name) || !json.Valid(f.Schema) || f.Schema[0] != '{' {
			t.Fatalf("%+v", f)
		}
	}
	past, now := split(r.Messages)
	if len(now) == 0 {
		t.Fatal("nothing is new")
	}
	words(past, now)
	headOf("c", "a", seed(past, now))
	for _, m := range r.Messages {
		for _, p := range m.Pictures {
			if !strings.HasPrefix(p, "data:") {
				t.Fatalf("an address that is not data: %q", p)
			}
		}
	}
}

func FuzzChatRequest(f *testing.F) {
	f.Add(`{"model":"hearth","messages":[{"role":"system","content":"x"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":"data:x"}]}],"tool_choice":"none"}`)
	f.Add(`{"messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"b","arguments":"{"}}]},{"role":"tool","tool_call_id":"a","content":null}],"tools":[{"type":"function","function":{"name":"b","parameters":{}}}],"tool_choice":{"type":"function","name":"b"}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		if r, err := chatOf(raw); err == nil {
			sound(t, r)
		} else if asError(err).Status != 400 {
			t.Fatal(err)
		}
	})
}

func FuzzResponsesRequest(f *testing.F) {
	f.Add(`{"input":"x","instructions":"y","text":{"format":{"type":"json_schema","schema":{}}}}`)
	f.Add(`{"input":[{"type":"function_call","call_id":"a","name":"b","arguments":""},{"type":"function_call_output","call_id":"a","output":[{"type":"output_text","text":"x"}]}],"tools":[{"type":"function","name":"b"},{"type":"x"}]}`)
	f.Fuzz(func(t *testing.T, raw string) {
		if r, err := responsesOf(raw); err == nil {
			sound(t, r)
		} else if asError(err).Status != 400 {
			t.Fatal(err)
		}
	})
}

func FuzzEmbeddingsRequest(f *testing.F) {
	f.Add(`{"input":"x"}`)
	f.Add(`{"input":["x","y"],"encoding_format":"base64"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		var r embeddingsRequest
		if decode([]byte(raw), &r) != nil {
			return
		}
		if texts, err := textsOf(&r); err == nil && len(texts) == 0 {
			t.Fatal("no texts")
		}
	})
}
