// Package wire is what all model dialects share: one HTTP exchange that asks a
// question and reads a streamed answer. It owns the request, the watch for
// silence, the classification of every failure into a model.Error before any
// text is made for people, the cleaning of what services say, and the rules
// that every answer obeys (it ends once, it is not empty, its tool calls are
// valid JSON objects).
//
// It knows no dialect: openai, responses, anthropic, gemini, ollama and bedrock
// describe theirs as a Dialect. It does not retry, choose models or hold keys.
package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/sse"
)

// Limits and times that hold when a Service names none.
const (
	DefaultFirstByte = 30 * time.Second
	DefaultIdle      = 45 * time.Second
	DefaultMaxOutput = 8 << 20 // bytes of text, reasoning and arguments in one answer

	maxErrorBody = 64 << 10
	drainFor     = 100 * time.Millisecond // to let a connection be used again
)

// Service is one model service and how to reach it. A Service is read only
// once it is in use.
type Service struct {
	Ref       model.Ref        // who is asked; the model of a request goes before Ref.Model
	BaseURL   string           //
	Key       func() string    // the key, asked for each request; nil or "" means none
	HTTP      *http.Client     // its Timeout and redirect rule are not used; nil works
	FirstByte time.Duration    // the longest wait for the first record
	Idle      time.Duration    // the longest silence after it
	MaxOutput int              // bytes of one answer
	Now       func() time.Time // for Retry-After dates
	NewID     func() string    // names tool calls that the service did not name
	Whole     bool             // the service cannot stream: answers come in one piece
	// Prepare, when set, has the last word on a request before it is sent: it
	// adds headers, signs, or exchanges the key for another. An *model.Error of
	// its own is kept.
	Prepare func(r *http.Request, body []byte) error
	Debug   *Debug  // nil: nothing is logged
	Stable  *Stable // how tools and system prompts were written before; nil: nothing is remembered
}

// Dialect describes how one family of services speaks. Its functions keep no
// state between calls.
type Dialect struct {
	Stream   Format
	Ask      func(req model.Request) (path string, body any) // an *Object, or what encoding/json writes
	Header   func(h http.Header, key string)                 // adds authentication; key may be empty
	Decoding func() Decoder                                  // a new decoder for one answer
	// Frames, when set, cuts the stream into records in place of Stream.
	Frames func(r io.Reader) iter.Seq2[sse.Event, error]
}

// Format is how records are framed.
type Format int

const (
	EventStream Format = iota // server-sent events
	NDJSON                    // one JSON value a line
)

// Decoder turns the records of one answer into calls on Answer. It returns a
// Reported error for a failure that the service put into its stream, any other
// error for bytes that are not its dialect.
type Decoder interface {
	Decode(data []byte, a *Answer) (Step, error)
	// End closes what is still open. marked is false when the stream ended
	// without the end mark of the dialect; whole then says whether nothing is
	// missing.
	End(a *Answer, marked bool) (whole bool, err error)
}

// Step is what a record was.
type Step int

const (
	Progress  Step = iota // a part of the answer
	KeepAlive             // a sign of life, which does not count as progress
	Done                  // the end mark
)

// errSilent is the cause of a context that the watch for silence ended.
var errSilent = errors.New("the model service was silent for too long")

// Stream asks one question. It keeps the promises of model.Provider.
//
// A service that refuses a question because it cannot use tools, cannot be told
// how long to reason, or does not want back what was signed elsewhere, is asked
// again without that: a small local model is still good to talk with.
func (s *Service) Stream(ctx context.Context, d Dialect, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		req.Messages = Mend(req.Messages)
		err := s.exchange(ctx, d, req, yield)
		for ok := true; ok; {
			if req, ok = lessOf(req, err); ok {
				err = s.exchange(ctx, d, req, yield)
			}
		}
		if err != nil && err != errConsumerLeft {
			yield(model.Event{}, err)
		}
	}
}

// lessOf is the request without what the service refused; false when there is
// nothing left to do without.
func lessOf(req model.Request, err error) (model.Request, bool) {
	switch {
	case err == nil:
		return req, false
	case len(req.Tools) > 0 && req.Exact == nil && refusedTools(err):
		req.Tools = nil
	case refusedSignatures(err) && signed(req.Messages):
		req.Messages = WithoutSignatures(req.Messages)
	case req.Thinking != "" && refusedThinking(err):
		req.Thinking = ""
	default:
		return req, false
	}
	return req, true
}

// errConsumerLeft ends an exchange whose events nobody wants any more.
var errConsumerLeft = errors.New("wire: the consumer left")

// exchange does one request. It returns nil after EventStop was given out.
func (s *Service) exchange(parent context.Context, d Dialect, req model.Request, yield func(model.Event, error) bool) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	w := &watch{timer: awake.AfterFunc(or(s.FirstByte, DefaultFirstByte), func() { cancel(errSilent) }), idle: or(s.Idle, DefaultIdle)}
	defer w.timer.Stop()

	f := fault{service: s, ref: s.ref(req), parent: parent, ctx: ctx}
	resp, err := s.post(ctx, d, req, &f)
	if err != nil {
		return f.of(err)
	}
	defer resp.Body.Close()
	if err := f.refused(resp, d.Stream); err != nil {
		return err
	}
	body, err := decoded(resp)
	if err != nil {
		return f.of(err)
	}
	h := &head{r: body}
	a := newAnswer(s, w, yield)
	if err := f.read(s.Debug.events(s.records(h, d, resp), &f), d.Decoding(), a, h); err != nil {
		return err
	}
	if err = a.finish(); err != nil && err != errConsumerLeft {
		return f.of(err)
	}
	// Who leaves with the stop has the whole answer. A connection of HTTP/1 can be
	// used again only when its end was read, which services often send after it.
	if resp.ProtoMajor == 1 {
		w.timer.Reset(drainFor)
		io.Copy(io.Discard, io.LimitReader(body, maxErrorBody))
	}
	return err
}

func (s *Service) ref(req model.Request) model.Ref {
	return model.Ref{Provider: s.Ref.Provider, Model: or(req.Model, s.Ref.Model)}
}

// post sends the question. What it sends as a secret is remembered in f, so that
// no error repeats it.
func (s *Service) post(ctx context.Context, d Dialect, req model.Request, f *fault) (*http.Response, error) {
	path, value := d.Ask(req)
	sent, err := written(value)
	if err != nil {
		return nil, &model.Error{Class: model.ClassInvalid, Detail: "the question cannot be written as JSON", Err: err}
	}
	if err := exact(sent, req.Exact); err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(s.BaseURL, "/")+path, bytes.NewReader(sent))
	if err != nil || r.URL.Host == "" || (r.URL.Scheme != "http" && r.URL.Scheme != "https") {
		return nil, &model.Error{Class: model.ClassInvalid, Detail: "baseUrl is not a web address that starts with http:// or https://"}
	}
	key := ""
	if s.Key != nil {
		key = strings.TrimSpace(s.Key())
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
		return nil, &model.Error{Class: model.ClassAuth, Detail: "the API key holds characters that no key has; was something else pasted?"}
	}
	f.secrets = append(f.secrets, key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Hearth")
	r.Header.Set("Accept", "text/event-stream, application/x-ndjson, application/json")
	// Compression would make some services hold back words until a block is full.
	r.Header.Set("Accept-Encoding", "identity")
	d.Header(r.Header, key)
	if s.Prepare != nil {
		if err := s.Prepare(r, sent); err != nil {
			return nil, err
		}
		for _, name := range []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cf-Aig-Authorization"} {
			f.secrets = append(f.secrets, strings.TrimPrefix(r.Header.Get(name), "Bearer "))
		}
	}
	s.Debug.sent(r, sent, f)
	resp, err := s.client().Do(r)
	s.Debug.answered(resp, err, f)
	return resp, err
}

// written is the body of a request: an *Object, or anything else as JSON.
func written(body any) ([]byte, error) {
	if o, ok := body.(*Object); ok {
		return o.Bytes()
	}
	return JSON(body)
}

// client is the given client with our redirect rule: a redirect that leaves
// the origin would carry the key and the conversation to somebody else, and
// one that changes the method would lose the question.
func (s *Service) client() *http.Client {
	var c http.Client
	if s.HTTP != nil {
		c = *s.HTTP
	}
	c.Timeout, c.Jar = 0, nil
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		first := via[0]
		if len(via) > 3 || r.Method != first.Method || r.URL.Scheme != first.URL.Scheme || r.URL.Host != first.URL.Host {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return &c
}

// or is the first value unless it is zero.
func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// watch ends an exchange that is silent. It does not run while the consumer
// works on an event, and time asleep is no silence.
type watch struct {
	timer *awake.Timer
	idle  time.Duration
}

func (w *watch) pause()  { w.timer.Stop() }
func (w *watch) resume() { w.timer.Reset(w.idle) }
