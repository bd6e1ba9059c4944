package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const maxLine = 1 << 20 // bytes of one message of a client

// Codes of JSON-RPC 2.0 §5.1.
const (
	codeParse   = -32700
	codeInvalid = -32600
)

// messages are the lines of a client that hold a message. Others are answered with
// an error that belongs to no request, as JSON-RPC wants it, and the connection goes
// on: the library would end it.
type messages struct {
	in   *bufio.Reader
	out  io.Writer
	rest []byte // of the line that is being read
	// single: the client speaks a version of the protocol in which a line is one message.
	single bool
	close  func() error
}

func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		line, whole, err := m.line()
		switch {
		case len(bytes.TrimSpace(line)) == 0 && whole:
		case !whole:
			m.refuse(codeInvalid, fmt.Sprintf("this line is longer than %d bytes, the most of one message", maxLine))
		case !json.Valid(line):
			m.refuse(codeParse, "this line is not JSON; hearth mcp serve talks the Model Context Protocol with a program that starts it")
		case !isMessage(line):
			m.refuse(codeInvalid, "this line is no JSON-RPC 2.0 message")
		case m.single && isArray(line):
			m.refuse(codeInvalid, "this version of the protocol has one message a line: several at once are of 2025-03-26")
		default:
			m.single = m.single || begins(line)
			m.rest = append(line, '\n')
		}
		if len(m.rest) == 0 && err != nil {
			return 0, err
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// line is the next one, without its end. Of one that is too long it is the beginning,
// and whole is false.
func (m *messages) line() (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := m.in.ReadSlice('\n')
		if whole = whole && len(line)+len(part) <= maxLine; whole {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return bytes.TrimSuffix(line, []byte("\n")), whole, err
		}
	}
}

// isMessage says whether JSON is one message or, as older versions of the protocol
// allow, several.
func isMessage(line []byte) bool {
	var all []json.RawMessage
	if !isArray(line) {
		all = append(all, line)
	} else if json.Unmarshal(line, &all) != nil || len(all) == 0 {
		return false
	}
	for _, one := range all {
		if _, err := jsonrpc.DecodeMessage(one); err != nil {
			return false
		}
	}
	return true
}

func isArray(line []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(line), []byte("[")) }

// begins says whether a message begins a session of a version without batches.
func begins(line []byte) bool {
	var first struct {
		Method string `json:"method"`
		Params struct {
			Version string `json:"protocolVersion"`
		} `json:"params"`
	}
	return json.Unmarshal(line, &first) == nil && first.Method == "initialize" && first.Params.Version >= "2025-06-18"
}

func (m *messages) refuse(code int, why string) {
	type object struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	raw, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   object          `json:"error"`
	}{"2.0", json.RawMessage("null"), object{code, why}})
	if err == nil {
		_, _ = m.out.Write(append(raw, '\n')) // who reads no answers is noticed by the next one that the server writes
	}
}

func (m *messages) Close() error { return m.close() }

// oneAtATime is a stream into which two write whole lines.
type oneAtATime struct {
	mu sync.Mutex
	io.WriteCloser
}

func (o *oneAtATime) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.WriteCloser.Write(p)
}
