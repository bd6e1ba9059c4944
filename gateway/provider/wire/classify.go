package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Phrases that tell a class when the status does not. They are specific on
// purpose: a rate-limit answer may well hold a link to a billing page.
var (
	billingPhrases = []string{"insufficient_quota", "exceeded your current quota", "credit balance", "insufficient credit",
		"insufficient balance", "insufficient funds", "out of credits", "no credits", "billing_hard_limit", "billing hard limit",
		"billing_not_active", "billing_error", "payment required", "payment_required", "requires more credits", "add more credits",
		"purchase credits", "buy credits", "top up", "spending limit", "spend limit", "used all available credits",
		"credits exhausted", "account balance", "in arrears", "overdue", "prepaid", "balance is too low", "usage limit reached for your plan"}
	contextPhrases = []string{"context_length", "context length", "context window", "context size", "context limit", "context_window",
		"exceed_context", "maximum context", "prompt is too long", "prompt too long", "input is too long", "input too long",
		"too many tokens", "maximum prompt length", "maximum number of tokens", "input token count", "max_prompt_tokens",
		"reduce the length", "reduce your prompt", "exceeds the model's maximum", "request_too_large", "tokens_limit_reached",
		"input tokens exceed", "exceed context", "n_ctx"}
	authPhrases = []string{"invalid api key", "invalid_api_key", "incorrect api key", "api key not valid", "api_key_invalid",
		"authentication_error", "authentication failed", "unauthorized", "missing api key", "no api key", "api key is required",
		"permission_error", "invalid token", "api key expired", "invalid x-api-key", "invalid authentication"}
	modelPhrases = []string{"model_not_found", "model not found", "unknown model", "invalid model", "not a valid model",
		"no such model", "try pulling it", "no endpoints found", "model is not supported", "model_not_available", "decommissioned",
		"model_decommissioned", "unsupported model", "model does not exist", "model not exist", "is not a chat model",
		"not_found_error", "no model loaded", "no models loaded"}
	refusalPhrases = []string{"content_filter", "content filter", "content management policy", "content policy", "content_policy",
		"responsibleaipolicy", "safety system", "moderation", "flagged", "violates our usage polic"}
	overloadPhrases = []string{"overloaded", "at capacity", "over capacity", "model is loading", "loading model", "server is busy",
		"server busy", "temporarily unavailable"}
	ratePhrases = []string{"rate limit", "rate_limit", "ratelimit", "too many requests", "resource_exhausted", "resource exhausted",
		"throttl",
		"too many concurrent requests", "concurrency limit", "quota limit exceeded"}
	// What a plan or an organization allows in a while comes back by itself, also
	// where a service answers 402 or speaks of spending.
	windowPhrases = []string{"usage limit exhausted", "weekly usage limit", "monthly usage limit", "daily usage limit", "daily limit reached",
		"weekly limit reached", "monthly limit reached", "weekly/monthly limit", "resets tomorrow", "limit resets",
		"organization spending limit", "organization spend limit", "workspace spending limit", "workspace spend limit"}
	notReadyPhrases  = []string{"modelnotreadyexception"}
	transientPhrases = []string{"internal server error", "unknown error, 520", "upstream error", "backend error"}
	noToolsPhrases   = []string{"does not support tools", "does not support tool", "no endpoints found that support tool",
		"tools param requires", "tool use is not supported", "tool calling is not supported", "tools are not supported",
		"does not support function calling"}
	// A message about the limit comes from the budget, which raises it.
	noThinkingPhrases  = []string{"reasoning", "think", "budget_tokens", "max_tokens"}
	noSignaturePhrases = []string{"signature", "encrypted_content", "encrypted content", "redacted_thinking", "thinking block",
		"thinking blocks", "thought_signature"}
	timeoutPhrases = []string{"timeout_error", "timed out", "deadline exceeded", "stop reason: error", "reason: error"}
	// ownPhrases are other programs' words for a failure that they do not know.
	ownPhrases       = []string{"llm request failed with an unknown error"}
	notServerPhrases = []string{"invalid_request_error", "bad_request", "invalid_argument"}
)

// classify sorts a failure by its status and its words. Status 0 means that
// the failure came inside a stream that began well.
func classify(status int, body []byte) model.Class {
	if status == 0 {
		status = innerStatus(body)
	}
	if isHTML(body) {
		body = nil // a page for people says nothing reliable
		if status == http.StatusForbidden {
			return model.ClassInvalid // a firewall, not the service
		}
	}
	has := saying(body)
	switch {
	case status == 0:
		return classifyWords(has)
	case status == http.StatusUnauthorized:
		return firstOf(has, model.ClassAuth, window, billing)
	case status == http.StatusPaymentRequired:
		return firstOf(has, model.ClassBilling, window)
	case status == http.StatusForbidden:
		return firstOf(has, model.ClassAuth, window, billing, refusal, contextLength)
	case status == http.StatusNotFound:
		if has(modelPhrases) || has([]string{"model"}) {
			return model.ClassNoModel
		}
		return model.ClassInvalid
	case status == http.StatusRequestTimeout:
		return model.ClassTimeout
	case status == http.StatusRequestEntityTooLarge:
		return model.ClassContext
	case status == http.StatusTooManyRequests:
		return firstOf(has, model.ClassRateLimit, notReady, window, billing)
	case status == http.StatusServiceUnavailable, status == 529:
		return model.ClassOverloaded
	case status >= 500:
		return firstOf(has, model.ClassServer, contextLength, overload)
	case has([]string{"api_error"}) && has(transientPhrases):
		return model.ClassServer
	default:
		return firstOf(has, model.ClassInvalid, contextLength, notReady, window, billing, auth, rate, refusal, noModel)
	}
}

// rule pairs a class with its phrases.
type rule struct {
	class   model.Class
	phrases *[]string
}

var (
	window        = rule{model.ClassRateLimit, &windowPhrases}
	notReady      = rule{model.ClassOverloaded, &notReadyPhrases}
	billing       = rule{model.ClassBilling, &billingPhrases}
	contextLength = rule{model.ClassContext, &contextPhrases}
	auth          = rule{model.ClassAuth, &authPhrases}
	noModel       = rule{model.ClassNoModel, &modelPhrases}
	refusal       = rule{model.ClassRefusal, &refusalPhrases}
	overload      = rule{model.ClassOverloaded, &overloadPhrases}
	rate          = rule{model.ClassRateLimit, &ratePhrases}
	timeout       = rule{model.ClassTimeout, &timeoutPhrases}
	own           = rule{model.ClassUnknown, &ownPhrases}
	invalid       = rule{model.ClassInvalid, &notServerPhrases}
)

func classifyWords(has func([]string) bool) model.Class {
	return firstOf(has, model.ClassServer, own, contextLength, notReady, window, billing, auth, overload, rate, refusal, noModel, timeout,
		invalid)
}

func firstOf(has func([]string) bool, otherwise model.Class, rules ...rule) model.Class {
	for _, r := range rules {
		if has(*r.phrases) {
			return r.class
		}
	}
	return otherwise
}

// saying returns a test for phrases in a body.
func saying(body []byte) func([]string) bool {
	lower := strings.ToLower(string(body))
	return func(phrases []string) bool {
		for _, p := range phrases {
			if strings.Contains(lower, p) {
				return true
			}
		}
		return false
	}
}

// refusedTools tells a failure that would not have happened without tools.
func refusedTools(err error) bool {
	me, ok := err.(*model.Error)
	return ok && me.Status >= 400 && saying([]byte(me.Detail))(noToolsPhrases)
}

// refusedThinking tells a failure that would not have happened without a level
// of reasoning: the parameter is not known, or its budget does not fit.
func refusedThinking(err error) bool {
	me, ok := err.(*model.Error)
	return ok && (me.Status == 400 || me.Status == 422) && saying([]byte(me.Detail))(noThinkingPhrases)
}

// refusedSignatures tells a failure over reasoning that another account or
// model had signed.
func refusedSignatures(err error) bool {
	me, ok := err.(*model.Error)
	return ok && (me.Status == 400 || me.Status == 422) && saying([]byte(me.Detail))(noSignaturePhrases)
}

// report is the JSON that services wrap a failure in; all fields are optional.
type report struct {
	Error   json.RawMessage `json:"error"`
	Message string          `json:"message"`
	Detail  json.RawMessage `json:"detail"`
	Code    json.RawMessage `json:"code"`
	Details details         `json:"details"`
}

// details are Google's; others put anything under that name.
type details []struct {
	RetryDelay string `json:"retryDelay"`
}

func (d *details) UnmarshalJSON(b []byte) error {
	var list []struct {
		RetryDelay string `json:"retryDelay"`
	}
	if json.Unmarshal(b, &list) != nil {
		return nil
	}
	*d = list
	return nil
}

// inner is the object that belongs to a failure: the "error" member if there
// is one, else the body itself.
func inner(body []byte) (r report, found bool) {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(body, &list) != nil || len(list) == 0 {
			return report{}, false
		}
		body = list[0]
	}
	if json.Unmarshal(body, &r) != nil {
		return report{}, false
	}
	if len(r.Error) == 0 || string(r.Error) == "null" {
		return r, r.Message != "" || len(r.Detail) > 0
	}
	var text string
	if json.Unmarshal(r.Error, &text) == nil {
		return report{Message: text, Code: r.Code, Error: r.Error}, true
	}
	var nested report
	if json.Unmarshal(r.Error, &nested) == nil {
		nested.Error = r.Error
		return nested, true
	}
	return r, true
}

// holdsError tells a JSON failure from other JSON.
func holdsError(body []byte) bool {
	r, ok := inner(body)
	return ok && len(r.Error) > 0
}

// innerStatus is the HTTP status that a failure inside a stream names, or 0.
func innerStatus(body []byte) int {
	r, _ := inner(body)
	n, err := strconv.Atoi(strings.Trim(string(r.Code), `"`))
	if err != nil || n < 400 || n > 599 {
		return 0
	}
	return n
}

// words is what a failure says to people: the message inside its JSON, the
// text of a page, or the body as it is.
func words(body []byte) string {
	if r, ok := inner(body); ok {
		if r.Message != "" {
			return r.Message
		}
		var s string
		if json.Unmarshal(r.Detail, &s) == nil && s != "" {
			return s
		}
		if len(r.Error) > 0 {
			return string(r.Error)
		}
	}
	if isHTML(body) {
		return pageText(body)
	}
	return string(cut(body, 4*maxDetail))
}

func isHTML(body []byte) bool {
	b := bytes.ToLower(cut(bytes.TrimSpace(body), 256))
	return bytes.HasPrefix(b, []byte("<!doctype")) || bytes.HasPrefix(b, []byte("<html")) || bytes.HasPrefix(b, []byte("<head")) ||
		bytes.HasPrefix(b, []byte("<?xml"))
}

// pageText is the title of a page, or its text without tags.
func pageText(body []byte) string {
	s := strings.ToValidUTF8(string(cut(body, 16<<10)), "")
	lower := strings.ToLower(s)
	if len(lower) == len(s) {
		if i := strings.Index(lower, "<title"); i >= 0 {
			if j := strings.IndexByte(lower[i:], '>'); j >= 0 {
				if k := strings.IndexByte(lower[i+j:], '<'); k > 1 {
					return "a web page: " + s[i+j+1:i+j+k]
				}
			}
		}
	}
	var out strings.Builder
	depth := 0
	for _, r := range s {
		switch {
		case r == '<':
			depth = 1
			out.WriteByte(' ')
		case r == '>':
			depth = 0
		case depth == 0:
			out.WriteRune(r)
		}
	}
	return "a web page: " + out.String()
}
