package scripted

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// play is one answer being written.
type play struct {
	w      http.ResponseWriter
	flush  func() error
	ctx    context.Context
	voice  voice
	turn   *turn
	count  int // requests with this text, this one included
	begun  bool
	deltas int
}

func (h *Handler) answer(w http.ResponseWriter, r *http.Request, v voice) {
	t, err := parse(r)
	if err != nil {
		writeJSON(w, 400, v.failureBody(400, "invalid_request_error", "the request is not JSON"))
		return
	}
	if t.whole {
		v = inOnePiece(v)
	}
	p := &play{w: w, flush: http.NewResponseController(w).Flush, ctx: r.Context(), voice: v, turn: t, count: h.begin(t)}
	defer h.end(r)
	if strings.HasPrefix(t.model, "fault-") {
		p.fault(strings.TrimPrefix(t.model, "fault-"))
		return
	}
	p.act(t.model)
}

// act plays the models that work.
func (p *play) act(id string) {
	kind, rest, _ := strings.Cut(id, "-")
	switch kind {
	case "stream":
		n, ms, _ := strings.Cut(rest, "-")
		p.words(number(n), time.Duration(number(ms))*time.Millisecond)
	case "long":
		p.say(Markdown(number(rest) << 10))
		p.end("stop")
	case "think":
		p.begin()
		p.send(p.voice.thinking("Let me think "))
		p.send(p.voice.thinking("about that."))
		p.echo()
	case "see":
		p.say(fmt.Sprintf("I see %d pictures.", p.turn.seen))
		p.end("stop")
	case "tool":
		p.tool(rest)
	case "tools":
		p.tools(number(rest))
	case "window":
		p.window(number(rest))
	case "wait":
		ms, id, _ := strings.Cut(rest, "-")
		if p.wait(time.Duration(number(ms)) * time.Millisecond) {
			p.act(id)
		}
	default:
		p.echo()
	}
}

func (p *play) echo() {
	p.say("echo: " + p.turn.user)
	p.end("stop")
}

// window finds "the secret word is X" in the last words of what the person said;
// four tokens are taken for three words.
func (p *play) window(tokens int) {
	words := strings.Fields(p.turn.user)
	words = words[max(0, len(words)-tokens*3/4):]
	answer := "I do not know."
	for i, w := range words {
		if w == "secret" && i+3 < len(words) && words[i+2] == "is" {
			answer = "It is " + words[i+3]
		}
	}
	p.say(answer)
	p.end("stop")
}

func (p *play) words(n int, gap time.Duration) {
	p.begin()
	p.delta("re: " + p.turn.user + "\n")
	for i := 1; i <= n; i++ {
		if !p.wait(gap) {
			return
		}
		if p.delta(fmt.Sprintf("w%d ", i)) != nil {
			return
		}
	}
	p.end("stop")
}

func (p *play) tool(name string) {
	args := p.turn.arguments()
	if s, ok := strings.CutPrefix(name, "loop-"); ok {
		name = s
	} else if s, ok := strings.CutPrefix(name, "badargs-"); ok {
		name, args = s, `{"broken": `
	} else if p.turn.results > 0 {
		p.say("The tool said: " + p.turn.result)
		p.end("stop")
		return
	} else if s, ok := strings.CutPrefix(name, "text-"); ok {
		name, args = s, p.turn.user
	}
	p.begin()
	p.send(p.voice.tool(0, fmt.Sprintf("call_%d", p.count), name, args))
	p.end("tool")
}

func (p *play) tools(n int) {
	if p.turn.results > 0 {
		p.say(fmt.Sprintf("%d results came.", p.turn.results))
		p.end("stop")
		return
	}
	p.begin()
	for i := range n {
		p.send(p.voice.tool(i, fmt.Sprintf("call_%d", i), "session_status", fmt.Sprintf(`{"n":%d}`, i)))
	}
	p.end("tool")
}

func (p *play) begin() {
	if p.begun {
		return
	}
	p.begun = true
	p.w.Header().Set("Content-Type", p.voice.contentType())
	p.w.WriteHeader(http.StatusOK)
	p.send(p.voice.begin(p.turn.model))
}

func (p *play) say(text string) {
	p.begin()
	for _, s := range pieces(text) {
		if p.delta(s) != nil {
			return
		}
	}
}

func (p *play) delta(s string) error {
	p.deltas++
	return p.send(p.voice.text(s))
}

func (p *play) send(s string) error {
	if _, err := io.WriteString(p.w, s); err != nil {
		return err
	}
	return p.flush()
}

func (p *play) end(stop string) {
	p.begin()
	p.send(p.voice.end(stop, p.deltas))
}

// wait reports false when the client left meanwhile.
func (p *play) wait(d time.Duration) bool {
	if d <= 0 {
		return p.ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.ctx.Done():
		return false
	}
}

func (p *play) hang() { <-p.ctx.Done() }

func (p *play) cut() { panic(http.ErrAbortHandler) }

// fault plays the models that fail.
func (p *play) fault(id string) {
	kind, rest, _ := strings.Cut(id, "-")
	switch kind {
	case "slowfirst":
		if p.wait(time.Duration(number(rest)) * time.Millisecond) {
			p.echo()
		}
	case "cut":
		p.faultCut(rest)
	case "once":
		if p.count > 1 {
			p.echo()
			return
		}
		p.status(number(rest), "")
	case "hang":
		p.begin()
		if rest == "mid" {
			p.say("one two")
		}
		p.hang()
	case "malformed":
		p.say("fine ")
		p.send(p.voice.broken())
		p.end("stop")
	case "stream":
		p.say("fine ")
		p.send(p.voice.failure())
	case "keepalive":
		p.begin()
		for p.wait(time.Second) && p.send(p.voice.keepAlive()) == nil {
		}
	case "empty":
		p.end("stop")
	case "thinkonly":
		p.begin()
		p.send(p.voice.thinking("hmm"))
		p.end("stop")
	case "refusal":
		p.end("refusal")
	default:
		p.faultAnswer(kind, rest)
	}
}

func (p *play) faultCut(rest string) {
	p.begin()
	if rest == "tool" {
		whole := p.voice.tool(0, "call_1", "session_status", `{"a":"b"}`)
		p.send(whole[:len(whole)*2/3])
	}
	for i := range number(rest) {
		p.delta(fmt.Sprintf("w%d ", i+1))
	}
	p.cut()
}

// faultAnswer plays the faults that are one answer, not a stream.
func (p *play) faultAnswer(kind, rest string) {
	switch kind {
	case "html":
		p.w.Header().Set("Content-Type", "text/html")
		io.WriteString(p.w, "<!DOCTYPE html><html><head><title>Sign in to the hotel network</title></head><body>Welcome</body></html>")
	case "json":
		writeJSON(p.w, 200, map[string]any{"id": "x", "choices": []any{}})
	case "gzip":
		p.gzip()
	case "context":
		writeJSON(p.w, 400, p.voice.failureBody(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"))
	case "billing":
		writeJSON(p.w, 400, p.voice.failureBody(400, "invalid_request_error", "Your credit balance is too low to access the API."))
	case "big":
		p.w.Header().Set("Content-Type", "text/html")
		p.w.WriteHeader(http.StatusInternalServerError)
		io.WriteString(p.w, "<html><title>Oops</title>"+strings.Repeat("<p>all is lost</p>", 2<<20/18)+"</html>")
	case "waf":
		p.w.Header().Set("Content-Type", "text/html")
		p.w.WriteHeader(http.StatusForbidden)
		io.WriteString(p.w, "<!DOCTYPE html><html><head><title>Attention Required! | Firewall</title></head><body>unauthorized access to your "+
			"API key</body></html>")
	case "away":
		p.w.Header().Set("Location", "http://elsewhere.test/v1/steal")
		p.w.WriteHeader(http.StatusTemporaryRedirect)
	case "encoding":
		p.w.Header().Set("Content-Type", p.voice.contentType())
		p.w.Header().Set("Content-Encoding", "br")
		io.WriteString(p.w, "\x0b\x02\x80")
	case "noise":
		p.w.Header().Set("Content-Type", p.voice.contentType())
		io.WriteString(p.w, "this is not what you asked for\n\n")
	case "nothing":
		p.w.Header().Set("Content-Type", p.voice.contentType())
		p.w.WriteHeader(http.StatusOK)
	case "notools":
		if p.turn.tools {
			writeJSON(p.w, 400, p.voice.failureBody(400, "invalid_request_error", p.turn.model+" does not support tools"))
			return
		}
		p.echo()
	case "nothink":
		if p.turn.thinking != "" {
			writeJSON(p.w, 400, p.voice.failureBody(400, "invalid_request_error", p.turn.model+": reasoning_effort and thinking are not supported"))
			return
		}
		p.echo()
	default:
		p.status(number(kind), rest)
	}
}

// gzip sends the first part of a compressed answer.
func (p *play) gzip() {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, p.voice.begin(p.turn.model)+p.voice.text("packed ")+p.voice.end("stop", 1))
	z.Close()
	p.w.Header().Set("Content-Type", p.voice.contentType())
	p.w.Header().Set("Content-Encoding", "gzip")
	p.w.Write(b.Bytes()[:b.Len()/2])
}

func (p *play) status(code int, retryAfter string) {
	if code < 400 || code > 599 {
		code = 500
	}
	kind, message := "api_error", "Internal server error"
	switch code {
	case 401:
		kind, message = "authentication_error", "Incorrect API key provided: sk-abc***xyz."
	case 402:
		kind, message = "billing_error", "This request requires more credits."
	case 403:
		kind, message = "permission_error", "Your API key does not have permission to use this resource."
	case 404:
		kind, message = "not_found_error", "model: "+p.turn.model+" not found"
	case 413:
		kind, message = "request_too_large", "Request exceeds the maximum size"
	case 429:
		kind, message = "rate_limit_error", "Rate limit reached; see https://example.com/account/billing"
		if retryAfter != "" {
			p.w.Header().Set("Retry-After", retryAfter)
		}
	case 529, 503:
		kind, message = "overloaded_error", "Overloaded"
	}
	writeJSON(p.w, code, p.voice.failureBody(code, kind, message))
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return min(n, 1<<20)
}
