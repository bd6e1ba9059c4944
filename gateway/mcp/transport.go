package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/process"
)

// transport is the way to a server, with a budget on what comes back.
type transport struct {
	mcp.Transport
	id    string
	proc  Process // nil: a service
	noise *noise
	idle  func() // ends what stands open to a service
	set   *Server
	once  sync.Once

	mu    sync.Mutex
	cause error         // why it was cut
	isCut chan struct{} // closed then
}

func (s *server) transport(ctx context.Context) (*transport, error) {
	t := &transport{id: s.set.ID, set: &s.set, isCut: make(chan struct{})}
	m := &meter{now: s.o.Now, over: func() { t.cut(errFlood) }, large: func() { t.cut(errLarge) }}
	if s.set.URL != "" {
		base := egress.Operator()
		base.ResponseHeaderTimeout, t.idle = s.set.callTime(), base.CloseIdleConnections
		c := &http.Client{Transport: &carrier{base: base, headers: s.set.Headers, meter: m, bearer: s.bearer(t)},
			CheckRedirect: egress.SameOrigin}
		// The library counts an event's name too, and says only that it ended: our own limit comes first.
		t.Transport = &mcp.StreamableClientTransport{
			Endpoint: s.set.URL, HTTPClient: c, MaxEventSize: maxMessage + 64<<10, MaxRetries: -1,
		}
		return t, nil
	}
	p, err := s.o.Launch(ctx, s.set)
	if err != nil {
		if hint := s.set.confined(err.Error()); hint != "" {
			err = fmt.Errorf("%w. %s", err, hint)
		}
		if at := (*process.StartError)(nil); errors.As(err, &at) {
			return nil, fmt.Errorf("%w: %w", errGivenUp, err)
		}
		return nil, fmt.Errorf("%w: it could not be started: %w", errGivenUp, err)
	}
	t.proc = p
	n := &noise{first: func(line string) {
		s.o.Log.Info("an MCP server writes on its standard output what is no message; such lines are skipped", "server", s.set.ID, "line", line)
	}}
	s.mu.Lock()
	s.noise = n
	s.mu.Unlock()
	t.noise = n
	read := newQuiet(metered{p.Output(), m}, maxMessage, n, s.tasks.look)
	read.over = m.large
	t.Transport = &mcp.IOTransport{Reader: read, Writer: input{p}, MaxLineLength: maxMessage}
	return t, nil
}

// cut ends the connection for a reason.
func (t *transport) cut(why error) {
	t.mu.Lock()
	if t.cause == nil {
		t.cause = why
		close(t.isCut)
	}
	t.mu.Unlock()
	t.end()
}

// input is the server's standard input; closing it says goodbye.
type input struct{ p Process }

func (i input) Write(b []byte) (int, error) {
	if err := i.p.Write(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (i input) Close() error { return i.p.CloseInput() }

// end cuts the connection off.
func (t *transport) end() {
	t.once.Do(func() {
		if t.proc != nil {
			t.proc.Stop()
			go func() { // a reader that waits is freed even if somebody holds the pipe
				<-t.proc.Done()
				_ = t.proc.Output().Close()
			}()
			return
		}
		t.idle()
	})
}

// why is the reason for which the connection was cut, nil when it was not. It may be
// asked of none.
func (t *transport) why() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cause
}

// explain adds what the server said itself to the end of a connection.
func (t *transport) explain(ctx context.Context, err error) error {
	cause := t.why()
	switch {
	case cause != nil:
		return cause
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.Canceled):
		err = context.Cause(ctx)
	}
	if t.proc == nil {
		return t.service(err)
	}
	if errors.Is(err, syscall.EPIPE) { // it did not even read what it was asked
		err = io.EOF
	}
	err = plainly(err)
	t.end()
	<-t.proc.Done()
	words, skipped := t.proc.Words(), ""
	if t.noise != nil {
		skipped = t.noise.seen().Words()
	}
	if hint := t.set.confined(words + skipped); hint != "" { // first: what follows may be cut
		err = fmt.Errorf("%w. %s", err, hint)
	}
	if words != "" {
		err = fmt.Errorf("%w. It said: %s", err, words)
	}
	if skipped != "" {
		err = fmt.Errorf("%w. %s", err, skipped)
	}
	return err
}

// plainly is why a server could not be asked or stopped answering, without the
// library's words of what it was doing.
func plainly(err error) error {
	var network net.Error
	var said *jsonrpc.Error
	switch {
	case errors.As(err, &network): // before said, which the library's own refusals are too
		return egress.Plain(err)
	case errors.Is(err, io.EOF), errors.Is(err, mcp.ErrConnectionClosed):
		return errors.New("it ended")
	case errors.As(err, &said):
		return fmt.Errorf("it answered with an error: %s", said.Message)
	}
	if text := doing.ReplaceAllString(err.Error(), ""); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// doing is what the library puts in front of an error: the method that it was calling.
var doing = regexp.MustCompile(`^(?:(?:calling|sending) "[^"]*": )+(?:rejected by transport: )?`)

// service says what a person can do about a service that refuses.
func (t *transport) service(err error) error {
	text := err.Error()
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	what := ""
	switch {
	case says("Unauthorized", "401"):
		what = "the service wants a login or a key"
	case says("Forbidden", "403"):
		what = "the service does not let Hearth do this"
	case says("Not Found", "404", "Method Not Allowed", "405"):
		return errors.New("there is no MCP service of the present kind (streamable HTTP) at this address. Older services speak SSE, often " +
			"at an address that ends in /sse; Hearth does not support those. Many have a newer address too, often one that ends in /mcp")
	default:
		return plainly(err)
	}
	return fmt.Errorf("%w: %s. Log in with `hearth mcp login %s`, or set a key with `hearth mcp add … --header \"Authorization: Bearer …\"`",
		errRefused, what, t.id)
}

// The budget of what a server may send: buckets that fill by the second. A line
// is a message of a program, or a third of one of a service.
const (
	lineBurst, linesPerSecond = 2000, 100
	byteBurst, bytesPerSecond = 64 << 20, 4 << 20
)

var errFlood = errors.New("it sent more than anybody could use, so it was cut off")

var errLarge = fmt.Errorf("it sent a message of more than %d MB, the most that one may have, so it was cut off", maxMessage>>20)

// meter counts what comes back, and cuts off a server that floods.
type meter struct {
	now   func() time.Time
	over  func()
	large func() // one message is too large

	mu           sync.Mutex
	last         time.Time
	lines, bytes float64
}

func (m *meter) pass(b []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if m.last.IsZero() {
		m.last, m.lines, m.bytes = now, lineBurst, byteBurst
	}
	passed := now.Sub(m.last).Seconds()
	m.last = now
	m.lines = min(lineBurst, m.lines+passed*linesPerSecond) - float64(bytes.Count(b, []byte{'\n'}))
	m.bytes = min(byteBurst, m.bytes+passed*bytesPerSecond) - float64(len(b))
	if m.lines < 0 || m.bytes < 0 {
		m.over()
		return errFlood
	}
	return nil
}

// events is a stream of events with a meter, in which a message is a line.
type events struct {
	metered
	line int
}

func (e *events) Read(p []byte) (int, error) {
	n, err := e.metered.Read(p)
	for part := range bytes.Lines(p[:n]) {
		if e.line += len(part); e.line > maxMessage {
			e.m.large()
			return 0, errLarge
		}
		if part[len(part)-1] == '\n' {
			e.line = 0
		}
	}
	return n, err
}

// metered is a stream with a meter.
type metered struct {
	io.ReadCloser
	m *meter
}

func (r metered) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if over := r.m.pass(p[:n]); over != nil {
		return 0, over
	}
	return n, err
}
