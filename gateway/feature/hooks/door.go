package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/webhook"
	"github.com/hearth-assistant/hearth/internal/httpbody"
)

const (
	maxBody     = 256 << 10
	bodyTime    = 30 * time.Second
	answerTime  = 30 * time.Second // to send an answer, from when the body is there
	maxUnproven = 16
)

// refusal is an answer that is no acceptance.
type refusal struct {
	status int
	text   string
	retry  time.Duration
}

func (r *refusal) Error() string { return r.text }

func bad(text string) error { return &refusal{status: http.StatusBadRequest, text: text} }

// incoming is a call whose sender is known.
type incoming struct {
	name    string // behind the path of hooks
	by      string // what proved the sender: the token, or a mapping's signature
	event   string // id of what was signed, "" without a signature
	payload any
	form    bool // the payload is a form's fields, which are all texts
	req     webhook.Request
	idem    string // the caller's key, "" for none
}

// ServeHTTP implements http.Handler.
func (f *feature) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := Section.Of(f.o.Settings.Snapshot().Config)
	name := strings.Trim(strings.TrimPrefix(r.URL.Path, f.path), "/")
	if err := f.called(r, h, name); err != nil {
		if err.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", http.MethodPost)
		}
		f.refuse(w, name, err)
		return
	}
	in, err := f.prove(w, r, h, name)
	if err != nil {
		f.refuse(w, name, err)
		return
	}
	if challenge, ok := slackChallenge(in); ok {
		answer(w, http.StatusOK, map[string]any{"challenge": challenge})
		return
	}
	f.act(w, r, h, in)
}

// called looks at how a hook is called, before who calls it; nil when that is right.
func (f *feature) called(r *http.Request, h Configured, name string) *refusal {
	switch {
	case !h.Enabled:
		return &refusal{status: http.StatusNotFound, text: "Hooks are off. hooks.enabled in the settings switches them on."}
	case name == "":
		return &refusal{status: http.StatusNotFound, text: "There is no hook at " + f.path + " itself. " + f.there()}
	case r.URL.Query().Has("token"):
		return &refusal{status: http.StatusBadRequest, text: "A token in the address is not taken, because addresses are written into logs. " +
			"Send it as Authorization: Bearer <token>, or as x-openclaw-token."}
	case r.Method != http.MethodPost:
		return &refusal{status: http.StatusMethodNotAllowed, text: "Hooks are called with POST, not with " + r.Method + "."}
	}
	return nil
}

// there says what can be called, without the names of what the owner made.
func (f *feature) there() string {
	return "Call " + f.path + "/wake, " + f.path + "/agent, or the name of a mapping; `hearth config get hooks.mappings` shows those."
}

// act does what a call asks for.
func (f *feature) act(w http.ResponseWriter, r *http.Request, h Configured, in incoming) {
	p, err := f.plan(r.Context(), h, in)
	if err != nil {
		f.refuse(w, in.name, err)
		return
	}
	if len(p.actions) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	rows, err := f.accept(r.Context(), h, in, p)
	if err != nil {
		f.refuse(w, in.name, err)
		return
	}
	out := map[string]any{"ok": true}
	if p.actions[0].kind == kindWake {
		out["mode"], out["eventOutcome"] = p.actions[0].wakeMode, "queued"
	}
	if rows.duplicate {
		out["duplicate"] = true
	}
	if out["runId"] = rows.ids[0]; len(rows.ids) > 1 {
		out["runIds"], out["dispatched"] = rows.ids, len(rows.ids)
	}
	if p.dropped > 0 {
		out["dropped"] = p.dropped
		f.o.Log.Warn("a hook sent more items than one call may have", "hook", in.name, "dropped", p.dropped)
	}
	if p.wait {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // an answer takes its time
		done, err := f.book.await(r.Context(), rows.ids[0])
		if err != nil {
			return // the caller has left, or we stop: the run goes on by itself
		}
		out["completion"] = done
		answer(w, http.StatusOK, out)
		return
	}
	answer(w, http.StatusAccepted, out)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (f *feature) refuse(w http.ResponseWriter, name string, err error) {
	var r *refusal
	if !errors.As(err, &r) {
		f.o.Log.Error("a hook could not be taken", "hook", name, "err", err)
		r = &refusal{status: http.StatusServiceUnavailable, text: "This cannot be kept now, so it was not taken. Send it again later.",
			retry: 5 * time.Second}
	}
	if r.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(r.retry.Seconds()))))
	}
	if r.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	answer(w, r.status, map[string]any{"ok": false, "error": r.text})
}

// prove finds out who calls and reads what they send. A token is looked at before
// a byte of the body, a signature is of all of it.
func (f *feature) prove(w http.ResponseWriter, r *http.Request, h Configured, name string) (in incoming, err error) {
	in = incoming{name: name, by: "token"}
	i, sig := signatureOf(h, name)
	if !sig.given() {
		if err := f.byToken(r, h); err != nil {
			return in, err
		}
	} else {
		select {
		case f.unproven <- struct{}{}:
			defer func() { <-f.unproven }()
		default:
			return in, &refusal{http.StatusServiceUnavailable, "Too many calls at once. Send it again in a moment.", time.Second}
		}
	}
	body, err := readBody(w, r, bodyTime)
	if err != nil {
		return in, err
	}
	if sig.given() {
		in.by = secretPath(i)
		if in.event, err = f.bySignature(r, i, sig, body); err != nil {
			return in, err
		}
	}
	if in.payload, in.form, err = payloadOf(r, body); err != nil {
		return in, err
	}
	in.req = webhook.Request{Path: name, Payload: in.payload, Headers: headersOf(r.Header), Query: queryOf(r.URL.Query()), Now: f.o.Now()}
	in.idem, err = idempotencyKey(r.Header, in.payload)
	return in, err
}

// signatureOf is the signature that a hook needs, none when a token does.
func signatureOf(h Configured, name string) (int, Signature) {
	if name == "wake" || name == "agent" {
		return 0, Signature{}
	}
	for i, m := range h.Mappings {
		if m.Match.Path == name && m.Signature.given() {
			return i, m.Signature
		}
	}
	return 0, Signature{}
}

func (f *feature) byToken(r *http.Request, h Configured) error {
	want, err := f.o.Secrets.Value(r.Context(), tokenPath, h.Token)
	if err != nil {
		f.o.Log.Warn("the token of hooks cannot be read", "err", err)
	}
	got := tokenOf(r.Header)
	if err == nil && !want.IsZero() && secret.New(got).Equal(want) {
		f.tries.good(peer(r))
		return nil
	}
	return f.failed(r, "the token is missing or wrong")
}

func (f *feature) bySignature(r *http.Request, i int, s Signature, body []byte) (string, error) {
	key, err := f.o.Secrets.Value(r.Context(), secretPath(i), s.Secret)
	if err != nil {
		f.o.Log.Warn("the secret of a hook cannot be read", "setting", secretPath(i), "err", err)
	}
	id, err := webhook.Verify(webhook.Scheme{
		Kind: s.Kind, Secret: key, Header: s.Header, Prefix: s.Prefix, Encoding: s.Encoding, Algorithm: s.Algorithm,
		TimestampHeader: s.TimestampHeader,
	}, r.Header, body, f.o.Now())
	if err != nil {
		f.o.Log.Warn("a hook was refused", "hook", r.URL.Path, "err", err)
		return "", f.failed(r, "the signature is missing or wrong")
	}
	f.tries.good(peer(r))
	return id, nil
}

// failed counts a bad try.
func (f *feature) failed(r *http.Request, why string) error {
	if wait, ok := f.tries.bad(peer(r), f.o.Now()); !ok {
		return &refusal{http.StatusTooManyRequests, "Too many wrong tries.", wait}
	}
	return &refusal{status: http.StatusUnauthorized, text: "Not let in: " + why + "."}
}

// peer is who the kernel says is there; what proxies write is not believed.
func peer(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// tokenOf reads the two headers that carry a token.
func tokenOf(h http.Header) string {
	if v := h.Values("Authorization"); len(v) == 1 && len(v[0]) > 7 && strings.EqualFold(v[0][:7], "bearer ") {
		if t := strings.TrimSpace(v[0][7:]); t != "" {
			return t
		}
	}
	return strings.TrimSpace(h.Get("X-Openclaw-Token"))
}

// readBody takes the body, which has some time to come. What the server allows an
// answer counts from the head of the request and may be over by then, so that it
// begins anew here.
func readBody(w http.ResponseWriter, r *http.Request, within time.Duration) ([]byte, error) {
	body, err := httpbody.Read(w, r, maxBody, within)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime))
	switch {
	case err == nil:
		return body, nil
	case errors.Is(err, httpbody.ErrLarge):
		return nil, &refusal{status: http.StatusRequestEntityTooLarge,
			text: "That is more than 256 KB. Send less, or an address where the rest is."}
	case errors.Is(err, httpbody.ErrLate):
		return nil, &refusal{status: http.StatusRequestTimeout, text: "The body did not arrive within " + strconv.Itoa(int(within.Seconds())) +
			" seconds, so nothing was accepted. Send it again."}
	}
	return nil, bad("The body did not arrive whole, so nothing was accepted. Send it again.")
}

// payloadOf reads JSON, or what forms send, and says which.
func payloadOf(r *http.Request, body []byte) (payload any, isForm bool, err error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	// curl calls everything a form.
	if json := bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")); kind == "application/x-www-form-urlencoded" && !json {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, true, bad("The form could not be read.")
		}
		out := map[string]any{}
		for k, v := range form {
			out[k] = strings.Join(v, ",")
		}
		if inner, ok := out["payload"].(string); ok && len(out) == 1 { // buttons of Slack, GitHub's form
			if v, err := readJSON([]byte(inner)); err == nil {
				return v, false, nil
			}
		}
		return out, true, nil
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return map[string]any{}, false, nil
	}
	payload, err = readJSON(body)
	return payload, false, err
}

func readJSON(body []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, bad("The body is not valid JSON.")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, bad("There is more than one JSON value in the body.")
	}
	return v, nil
}

func headersOf(h http.Header) map[string]string {
	out := make(map[string]string, len(h))
	for k, v := range h {
		switch k = strings.ToLower(k); k {
		case "authorization", "x-openclaw-token", "cookie", "proxy-authorization":
		default:
			out[k] = strings.Join(v, ", ")
		}
	}
	return out
}

func queryOf(q url.Values) map[string]string {
	out := make(map[string]string, len(q))
	for k := range q {
		out[k] = q.Get(k)
	}
	return out
}

const maxIdempotencyKey = 256

// idempotencyKey is the caller's key, the first of the three places that has one. One
// that cannot be kept is refused: without it the same call would be done twice.
func idempotencyKey(h http.Header, payload any) (string, error) {
	body, _ := payload.(map[string]any)
	inBody, _ := body["idempotencyKey"].(string)
	for _, at := range []struct{ name, value string }{
		{"Idempotency-Key", h.Get("Idempotency-Key")}, {"X-Openclaw-Idempotency-Key", h.Get("X-Openclaw-Idempotency-Key")},
		{"idempotencyKey", inBody},
	} {
		v := strings.TrimSpace(at.value)
		switch n := utf8.RuneCountInString(v); {
		case n > maxIdempotencyKey:
			return "", bad(fmt.Sprintf("%s has %d characters, and %d are the most, so nothing was accepted. Send a shorter one, "+
				"for example a hash of it.", at.name, n, maxIdempotencyKey))
		case n > 0:
			return v, nil
		}
	}
	return "", nil
}

// slackChallenge: Slack asks once, signed, whether an address is ours.
func slackChallenge(in incoming) (string, bool) {
	body, _ := in.payload.(map[string]any)
	if !strings.HasPrefix(in.event, webhook.Slack+":") || body["type"] != "url_verification" {
		return "", false
	}
	c, ok := body["challenge"].(string)
	return c, ok
}

// accept keeps what a call asks for, unless its hook was called too often.
func (f *feature) accept(ctx context.Context, h Configured, in incoming, p plan) (accepted, error) {
	rows, known, err := f.book.known(in, p)
	if err != nil || known {
		return rows, err
	}
	if err := f.allowed(h, in, p); err != nil {
		return accepted{}, err
	}
	return f.book.accept(ctx, in, p)
}
