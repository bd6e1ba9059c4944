package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/hearth-assistant/hearth/internal/rpclines"
)

const maxLine = 1 << 20 // bytes of one message of a client

const (
	codeParse   = rpclines.Parse
	codeInvalid = rpclines.Invalid
)

// messages are the lines of a client that hold a message; others are answered.
type messages struct {
	in    *bufio.Reader
	out   io.Writer
	lines *rpclines.Reader
	// single: the client speaks a version of the protocol in which a line is one message.
	single bool
	close  func() error
}

func (m *messages) Read(p []byte) (int, error) {
	if m.lines == nil {
		m.lines = rpclines.New(m.in, m.out, maxLine, m.judge)
	}
	return m.lines.Read(p)
}

func (m *messages) judge(line []byte) *rpclines.Refusal {
	switch {
	case !json.Valid(line):
		return &rpclines.Refusal{Code: codeParse,
			Why: "this line is not JSON; hearth mcp serve talks the Model Context Protocol with a program that starts it"}
	case !isMessage(line):
		return &rpclines.Refusal{Code: codeInvalid, Why: "this line is no JSON-RPC 2.0 message"}
	case m.single && isArray(line):
		return &rpclines.Refusal{Code: codeInvalid, Why: "this version of the protocol has one message a line: several at once are of 2025-03-26"}
	}
	m.single = m.single || begins(line)
	return nil
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

func (m *messages) Close() error { return m.close() }
