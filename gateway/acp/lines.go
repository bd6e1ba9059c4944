package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/hearth-assistant/hearth/internal/rpclines"
)

// maxLine is the most bytes of one message of an editor: with more the library ends the
// connection without a word.
const maxLine = 10<<20 - 2

// messages are the lines of an editor that hold a message; others are answered into out.
func messages(in io.Reader, out io.Writer) io.Reader {
	return rpclines.New(bufio.NewReader(in), out, maxLine, func(line []byte) *rpclines.Refusal {
		switch {
		case !json.Valid(line):
			return &rpclines.Refusal{Code: rpclines.Parse,
				Why: "this line is not JSON; hearth acp talks the Agent Client Protocol with an editor that starts it"}
		case !isMessage(line):
			return &rpclines.Refusal{Code: rpclines.Invalid, Why: "this line is no JSON-RPC 2.0 message"}
		}
		return nil
	})
}

// isMessage says whether JSON is a request, a notification or a response. One that belongs
// to no request is a response too: it is answered by nobody, or two would never end.
func isMessage(line []byte) bool {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if json.Unmarshal(line, &m) != nil || m.Version != "2.0" || len(m.ID) > 0 && bytes.IndexByte([]byte("{[tf"), m.ID[0]) >= 0 {
		return false
	}
	if m.Method != nil {
		return *m.Method != ""
	}
	return len(m.ID) > 0 && len(m.Result)+len(m.Error) > 0
}
