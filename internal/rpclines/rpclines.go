// Package rpclines reads JSON-RPC 2.0 from a stream, a message a line. What is no
// message is answered with an error that belongs to no request, as JSON-RPC wants it,
// and the connection goes on: libraries end it there, or say nothing.
package rpclines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Codes of JSON-RPC 2.0 §5.1.
const (
	Parse   = -32700
	Invalid = -32600
)

// Refusal is why a line is no message.
type Refusal struct {
	Code int
	Why  string
}

// Reader is a stream of the lines that hold a message.
type Reader struct {
	in    *bufio.Reader
	out   io.Writer
	most  int
	judge func(line []byte) *Refusal
	rest  []byte // of the line that is being read
}

// New reads in, and answers into out, to which others write whole lines too: see Whole.
// A line has at most so many bytes; judge says why one that has no more, and is not
// empty, is no message, nil when it is one.
func New(in *bufio.Reader, out io.Writer, most int, judge func(line []byte) *Refusal) *Reader {
	return &Reader{in: in, out: out, most: most, judge: judge}
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, whole, err := r.line()
		if len(bytes.TrimSpace(line)) > 0 || !whole {
			r.take(line, whole)
		}
		if len(r.rest) == 0 && err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// take hands a line on, or answers it.
func (r *Reader) take(line []byte, whole bool) {
	no := &Refusal{Invalid, fmt.Sprintf("this line is longer than %d bytes, the most of one message", r.most)}
	if whole {
		no = r.judge(line)
	}
	if no != nil {
		r.refuse(no)
		return
	}
	r.rest = append(line, '\n')
}

// line is the next one, without its end. Of one that is too long it is the beginning,
// and whole is false.
func (r *Reader) line() (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := r.in.ReadSlice('\n')
		if whole = whole && len(line)+len(part) <= r.most; whole {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(line, []byte("\n")), whole, err
		}
	}
}

func (r *Reader) refuse(no *Refusal) {
	type object struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	raw, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   object          `json:"error"`
	}{"2.0", json.RawMessage("null"), object{no.Code, no.Why}})
	if err == nil {
		_, _ = r.out.Write(append(raw, '\n')) // who reads no answers is noticed by the next one that is written
	}
}

// Whole is a stream into which several write whole lines.
type Whole struct {
	mu sync.Mutex
	io.Writer
}

// Write implements io.Writer.
func (w *Whole) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Writer.Write(p)
}
