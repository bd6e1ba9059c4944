package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

const (
	maxRetryAfter = 24 * time.Hour
	maxDetail     = 200
)

// Reported is a failure that a service put into its stream. Status is 0 when
// only the words tell what it is.
type Reported struct {
	Status int
	Body   []byte // the JSON of the failure
}

func (r *Reported) Error() string { return "the model service reported a failure" }

// fault makes the errors of one exchange.
type fault struct {
	service *Service
	ref     model.Ref
	parent  context.Context // whose end is the caller's doing
	ctx     context.Context // whose end may be the watch's
	secrets []string        // what was sent to say who asks
}

func (f fault) make(c model.Class, detail string, err error) error {
	return &model.Error{Class: c, Ref: f.ref, Detail: f.clean(detail), Err: err}
}

func (f fault) clean(s string) string { return Clean(s, maxDetail, f.secrets...) }

// of classifies anything that ended an exchange.
func (f fault) of(err error) error {
	if perr := f.parent.Err(); perr != nil {
		return perr
	}
	if context.Cause(f.ctx) == errSilent {
		return f.make(model.ClassTimeout, "", errSilent)
	}
	var me *model.Error
	if errors.As(err, &me) {
		e := *me
		e.Ref, e.Detail = f.ref, f.clean(e.Detail)
		return &e
	}
	return f.transport(err)
}

// transport classifies what the network or the HTTP client says. url.Error is
// taken off because it repeats the address, which may hold a password.
func (f fault) transport(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	var (
		dns  *net.DNSError
		op   *net.OpError
		cert *tls.CertificateVerificationError
		rec  tls.RecordHeaderError
		host x509.HostnameError
	)
	switch {
	case errors.As(err, &dns):
		return f.make(model.ClassConnect, "there is no server called "+dns.Name, err)
	case errors.As(err, &cert), errors.As(err, &host):
		return f.make(model.ClassConnect, "the server's certificate is not valid: "+err.Error(), err)
	case errors.As(err, &rec), errors.Is(err, http.ErrSchemeMismatch):
		return f.make(model.ClassConnect, "the server does not speak TLS", err)
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return f.make(model.ClassConnect, "the proxy could not be used: "+op.Err.Error(), err)
	case errors.As(err, &op) && op.Op == "dial":
		return f.make(model.ClassConnect, op.Err.Error(), err)
	case errors.As(err, &op) && op.Op == "remote error":
		return f.make(model.ClassConnect, err.Error(), err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &op):
		return f.make(model.ClassInterrupted, "the connection was closed", err)
	case isDecompression(err):
		return f.make(model.ClassMalformed, err.Error(), err)
	}
	if s := err.Error(); strings.Contains(s, "http2:") || strings.Contains(s, "stream error") {
		return f.make(model.ClassInterrupted, s, err)
	}
	return f.make(model.ClassMalformed, err.Error(), err)
}

func isDecompression(err error) bool {
	s := err.Error()
	return strings.Contains(s, "gzip:") || strings.Contains(s, "flate:")
}

// refused returns the error of a response that is not a stream, nil for one.
func (f fault) refused(resp *http.Response, want Format) error {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode == http.StatusOK && (isStream(media, want) || f.service.Whole && media == "application/json") {
		return nil
	}
	r, err := decoded(resp)
	if err != nil {
		r = bytes.NewReader(nil)
	}
	body, err := io.ReadAll(io.LimitReader(r, maxErrorBody))
	if err != nil && len(body) == 0 && f.ctx.Err() != nil {
		return f.of(err)
	}
	if f.parent.Err() != nil {
		return f.parent.Err()
	}
	e := &model.Error{Ref: f.ref, Status: resp.StatusCode}
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		e.Class = model.ClassInvalid
		e.Detail = "the server redirects to " + location(resp)
	case resp.StatusCode == http.StatusOK && !holdsError(body):
		e.Class, e.Detail = model.ClassMalformed, "expected a stream, got "+or(media, "something")+": "+words(body)
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
		e.Class, e.Detail = classifyOf(f.ref.Provider, 0, body), words(body)
	default:
		e.Class, e.Detail = classifyOf(f.ref.Provider, resp.StatusCode, body), words(body)
		if e.RetryAfter = retryAfter(resp.Header, f.service.Now); e.RetryAfter == 0 {
			e.RetryAfter = retryInfo(body)
		}
	}
	e.Detail = f.clean(e.Detail)
	return e
}

func isStream(media string, want Format) bool {
	switch media {
	case "", "text/event-stream", "application/x-ndjson", "application/ndjson", "application/jsonl", "application/octet-stream", "text/plain",
		"application/vnd.amazon.eventstream":
		return true
	case "application/json":
		return want == NDJSON // older Ollama servers, and proxies before them
	}
	return false
}

// location is where a redirect leads, without anything that could be secret.
func location(resp *http.Response) string {
	u, err := resp.Location()
	if err != nil {
		return "nowhere"
	}
	return u.Scheme + "://" + u.Host + u.Path
}

func (f fault) reported(r *Reported) error {
	return &model.Error{Class: classifyOf(f.ref.Provider, r.Status, r.Body), Ref: f.ref, Status: r.Status, Detail: f.clean(words(r.Body))}
}

// retryAfter reads how long a service asks to wait.
func retryAfter(h http.Header, now func() time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return clampWait(ms * float64(time.Millisecond))
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(strings.TrimSuffix(v, "s"), 64); err == nil {
		return clampWait(s * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		if now == nil {
			now = time.Now
		}
		return clampWait(float64(at.Sub(now())))
	}
	return 0
}

// retryInfo reads Google's way to say how long to wait: in the body.
func retryInfo(body []byte) time.Duration {
	r, _ := inner(body)
	for _, d := range r.Details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil {
			return clampWait(float64(wait))
		}
	}
	return 0
}

func clampWait(ns float64) time.Duration {
	switch {
	case !(ns > 0): // also NaN
		return 0
	case ns > float64(maxRetryAfter):
		return maxRetryAfter
	}
	return time.Duration(ns)
}
