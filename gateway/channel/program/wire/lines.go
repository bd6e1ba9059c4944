package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
)

// ErrLong is a line that is longer than MaxLine.
var ErrLong = errors.New("it sent a line of more than 4 MB")

// ErrFlood is more than the other side may send in a time.
var ErrFlood = errors.New("it sent more than anybody could use")

// ErrNoMessage is a line that is no JSON-RPC message.
var ErrNoMessage = errors.New("it wrote a line that is no message")

// The budget of what comes: buckets that fill by the second.
const (
	lineBurst, linesPerSecond = 20_000, 500
	byteBurst, bytesPerSecond = 64 << 20, 4 << 20
)

// Lines is a jsonrpc2.ObjectStream of one message a line. Its errors are kept, for
// whoever learns only that the connection has ended.
type Lines struct {
	out io.WriteCloser
	in  *bufio.Reader
	now func() time.Time

	mu           sync.Mutex
	cause        error
	last         time.Time
	lines, bytes float64
}

// NewLines reads from in and writes to out, which Close closes.
func NewLines(in io.Reader, out io.WriteCloser, now func() time.Time) *Lines {
	return &Lines{in: bufio.NewReaderSize(in, 64<<10), out: out, now: now, lines: lineBurst, bytes: byteBurst}
}

// Cause is the first error, nil for none and for an orderly end.
func (l *Lines) Cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

func (l *Lines) fail(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause == nil && !errors.Is(err, io.EOF) {
		l.cause = err
	}
	return err
}

// WriteObject implements jsonrpc2.ObjectStream.
func (l *Lines) WriteObject(obj any) error {
	b, err := json.Marshal(obj)
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	if len(b) >= MaxLine {
		return fmt.Errorf("write a message of %d bytes: at most %d are taken", len(b), MaxLine)
	}
	_, err = l.out.Write(append(b, '\n'))
	return err
}

// ReadObject implements jsonrpc2.ObjectStream. An empty line is skipped.
func (l *Lines) ReadObject(v any) error {
	for {
		line, err := l.line()
		if err != nil {
			return l.fail(err)
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := json.Unmarshal(line, v); err != nil {
			return l.fail(fmt.Errorf("%w: %s", ErrNoMessage, strconv.QuoteToGraphic(cut(string(line[:min(len(line), 200)])))))
		}
		return nil
	}
}

// line is the next one; the end within one is the end.
func (l *Lines) line() (out []byte, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		if len(out)+len(part) > MaxLine {
			return nil, ErrLong
		}
		if err == nil && out == nil {
			return part, l.pass(len(part))
		}
		out = append(out, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, err
		default:
			return out, l.pass(len(out))
		}
	}
}

// pass takes a line from the budget.
func (l *Lines) pass(n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if !l.last.IsZero() {
		passed := max(now.Sub(l.last).Seconds(), 0)
		l.lines = min(lineBurst, l.lines+passed*linesPerSecond)
		l.bytes = min(byteBurst, l.bytes+passed*bytesPerSecond)
	}
	l.last = now
	l.lines--
	l.bytes -= float64(n)
	if l.lines < 0 || l.bytes < 0 {
		return ErrFlood
	}
	return nil
}

// Close implements jsonrpc2.ObjectStream.
func (l *Lines) Close() error { return l.out.Close() }
