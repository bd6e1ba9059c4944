package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearth-assistant/hearth/gateway/tool"
)

// Words on the standard output of a program are skipped, before the first message
// and during a call; they are told, and the program goes on.
func TestNoiseOnStandardOutputIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]func(io.Reader, io.Writer){"noisy": func(in io.Reader, out io.Writer) {
			_, _ = io.WriteString(out, "Knowledge Graph MCP Server starting\n\n{\"level\":30,\"msg\":\"listening\"}\n{ not: json }\n[INFO] ready\n")
			s := echoServer()
			s.AddTool(&mcp.Tool{Name: "loud", InputSchema: map[string]any{"type": "object"}},
				func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					_, _ = io.WriteString(out, "this is \x1b[31mnot json\u202e\n"+strings.Repeat("y", 3*maxNoise)+"\n")
					return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "noisy"}}}, nil
				})
			sdk(t, s)(in, out)
		}})
		st := w.settle(Server{ID: "noisy", Command: "x"})[0]
		if st.State != Ready || st.Noise.Lines != 4 || st.Noise.Last != "[INFO] ready" {
			t.Fatalf("%+v", st)
		}
		res, err := w.tool("mcp__noisy__loud").Run(t.Context(), tool.Call{Args: []byte("{}"), Progress: func(string) {}})
		if err != nil || !strings.Contains(res.Text, "noisy") {
			t.Errorf("%q %v", res.Text, err)
		}
		st = w.hub.Status()[0]
		if st.State != Ready || st.Restarts != 0 || st.Noise.Lines != 6 || len(st.Noise.Last) > maxNoise+len("…") ||
			strings.ContainsAny(st.Noise.Last, "\x1b\u202e") {
			t.Errorf("%+v", st)
		}
	})
}

// zeros is a line without an end.
type zeros struct{ read int }

func (z *zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	z.read += len(p)
	if z.read > 64<<20 {
		return 0, io.EOF
	}
	return len(p), nil
}
func (z *zeros) Close() error { return nil }

// A line of noise costs nothing, however long it is; one that begins like a
// message is held to the limit and then left to the reader, which refuses it.
func TestSec_A_DOS_NoiseIsBounded(t *testing.T) {
	n := &noise{}
	if b, err := io.ReadAll(newQuiet(&zeros{}, 1<<20, n, func([]byte) {})); len(b) != 0 || err != nil || n.seen().Lines != 1 {
		t.Errorf("%d bytes, %+v, %v", len(b), n.seen(), err)
	}
	long := io.NopCloser(io.MultiReader(strings.NewReader("{"), &zeros{read: 60 << 20}))
	in := bufio.NewReaderSize(newQuiet(long, 1<<20, n, func([]byte) {}), 16)
	total, most := 0, 0
	for {
		b, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			break
		}
		_ = b
		total++
		most = max(most, in.Buffered())
	}
	if total < 4<<20 {
		t.Errorf("a message that is too long was hidden: %d bytes", total)
	}
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "line %d\n{\"jsonrpc\":\"2.0\",\"id\":%d}\n", i, i)
	}
	b, err := io.ReadAll(newQuiet(io.NopCloser(strings.NewReader(many.String())), 1<<20, &noise{}, func([]byte) {}))
	if err != nil || strings.Count(string(b), "\n") != 1000 || strings.Contains(string(b), "line") {
		t.Errorf("%d bytes %v", len(b), err)
	}
}

// What can only be used as a task is not offered: the list says so, or a refusal.
func TestToolsThatNeedTasksAreLeftOut(t *testing.T) {
	s := &server{}
	s.tasks.look([]byte(`{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"now"},{"name":"later","execution":{"taskSupport":"required"}},{"name":"both","execution":{"taskSupport":"optional"}}]}}`))
	o := s.judge([]*mcp.Tool{{Name: "now", InputSchema: map[string]any{"type": "object"}},
		{Name: "later", InputSchema: map[string]any{"type": "object"}}, {Name: "both", InputSchema: map[string]any{"type": "object"}}})
	if len(o.tools) != 2 || len(o.skipped) != 1 || !strings.HasPrefix(o.skipped[0], "later: ") {
		t.Errorf("%v %v", o.tools, o.skipped)
	}
	if !refusedWithoutTask(errors.New("Method not found: Tool simulate-research-query requires task augmentation (taskSupport: 'required')")) {
		t.Error("the words of a refusal are not known")
	}
}
