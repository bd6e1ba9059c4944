// Package serve is Hearth as an MCP server: other programs talk to the
// assistant, read its sessions and search what it remembers. It knows our protocol
// and the client that is handed in, and gives nobody more than that client may.
package serve

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/rpclines"
)

// Gateway makes calls of our protocol.
type Gateway interface {
	Call(ctx context.Context, method string, params, result any) error
	CallTwice(ctx context.Context, method string, params, first, final any) error
}

const (
	maxMessage = 64 << 10
	maxText    = 128 << 10 // of an answer
	maxRows    = 100
	maxSeconds = 3600
)

// Options of a server.
type Options struct {
	Version string
	// Own leaves out what tells of the owner: the gateway that is handed in knows
	// only the caller's own conversations.
	Own bool
	// Life ends calls that are under way; nil = nothing but their own end.
	Life context.Context
}

// Run serves over a pair of streams until in ends. A line that is no message is
// answered with an error and ends nothing.
func Run(ctx context.Context, g Gateway, version string, in io.ReadCloser, out io.WriteCloser) error {
	both := wholeLines{&rpclines.Whole{Writer: out}, out}
	read := &messages{in: bufio.NewReader(in), out: both, close: in.Close}
	t := &mcp.IOTransport{Reader: read, Writer: both, MaxLineLength: -1} // messages has a limit of its own
	return New(g, Options{Version: version}).Run(ctx, t)
}

// wholeLines is a stream into which two write whole lines.
type wholeLines struct {
	io.Writer
	io.Closer
}

// New returns the server.
func New(g Gateway, o Options) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "hearth", Title: "Hearth", Version: o.Version}, &mcp.ServerOptions{
		Instructions: "Hearth is its owner's assistant. chat_send talks to it; what it may do, and what it asks its owner for, is decided there.",
	})
	add := func(name, about, schema string, harmless bool, do func(context.Context, json.RawMessage) (string, error)) {
		t := &mcp.Tool{Name: name, Description: about, InputSchema: json.RawMessage(schema), Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: harmless}}
		s.AddTool(t, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			args := req.Params.Arguments
			if len(args) == 0 {
				args = json.RawMessage("{}")
			}
			ctx, done := within(ctx, o.Life)
			defer done()
			if token := req.Params.GetProgressToken(); token != nil {
				defer beat(ctx, req.Session, token)()
			}
			text, err := do(ctx, args)
			if err != nil {
				text = err.Error()
			}
			return &mcp.CallToolResult{IsError: err != nil, Content: []mcp.Content{&mcp.TextContent{Text: cut(text)}}}, nil
		})
	}
	b := bridge{g}
	add("chat_send", "Say something to the assistant and get its answer.",
		`{"type":"object","properties":{"message":{"type":"string"},"session":{"type":"string","description":"a name; default: main"},"timeoutSeconds":{"type":"integer","minimum":1,"maximum":3600}},"required":["message"]}`, false, b.chat)
	add("sessions_list", "List the conversations.",
		`{"type":"object","properties":{"search":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":100}}}`, true, b.sessions)
	add("sessions_history", "Read the latest messages of a conversation.",
		`{"type":"object","properties":{"session":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":100}},`+
			`"required":["session"]}`,
		true, b.history)
	if o.Own {
		return s
	}
	add("memory_search", "Search what the assistant remembers: its notes, not the conversations.",
		`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`, true, b.search)
	add("nodes", "List the devices that lend the assistant their abilities.", `{"type":"object"}`, true,
		b.nodes)
	return s
}

func (b bridge) nodes(ctx context.Context, _ json.RawMessage) (string, error) {
	var list protocol.NodeList
	if err := b.g.Call(ctx, protocol.MethodNodeList, struct{}{}, &list); err != nil {
		return "", err
	}
	if len(list.Nodes) == 0 {
		return "There are none.", nil
	}
	type row struct {
		Name      string   `json:"name"`
		Platform  string   `json:"platform"`
		Connected bool     `json:"connected"`
		Commands  []string `json:"commands"`
	}
	rows := []row{}
	for _, n := range list.Nodes {
		rows = append(rows, row{n.DisplayName, n.Platform, n.Connected, n.Commands})
	}
	raw, err := json.Marshal(rows)
	if err != nil {
		return "", fmt.Errorf("write the list: %w", err)
	}
	return string(raw), nil
}

// within is ctx, but ends with life too.
func within(ctx, life context.Context) (context.Context, func()) {
	if life == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(life, func() { cancel(context.Cause(life)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "\n[the rest was cut]"
}

type bridge struct{ g Gateway }

// chat runs one turn. When the caller gives up, the turn is stopped.
func (b bridge) chat(ctx context.Context, args json.RawMessage) (string, error) {
	var a struct {
		Message, Session string
		TimeoutSeconds   int64
	}
	if err := read(args, &a); err != nil {
		return "", err
	}
	switch {
	case strings.TrimSpace(a.Message) == "":
		return "", fmt.Errorf("message is empty")
	case len(a.Message) > maxMessage:
		return "", fmt.Errorf("message is larger than %d KB", maxMessage>>10)
	case a.TimeoutSeconds < 0 || a.TimeoutSeconds > maxSeconds:
		return "", fmt.Errorf("timeoutSeconds must be from 1 to %d", maxSeconds)
	}
	if a.Session == "" {
		a.Session = "main"
	}
	p := protocol.AgentParams{Message: a.Message, SessionKey: a.Session, IdempotencyKey: rand.Text(), Timeout: a.TimeoutSeconds}
	var first protocol.AgentAccepted
	var final protocol.AgentResult
	if err := b.g.CallTwice(ctx, protocol.MethodAgent, p, &first, &final); err != nil {
		if ctx.Err() != nil {
			stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			var res protocol.ChatAbortResult
			_ = b.g.Call(stop, protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: a.Session, RunID: p.IdempotencyKey}, &res)
		}
		return "", err
	}
	var out []string
	for _, t := range final.Result.Payloads {
		out = append(out, t.Text)
	}
	text := strings.Join(out, "\n\n")
	if final.Status != "ok" {
		return "", fmt.Errorf("the answer ended with an error: %s %s", final.Summary, text)
	}
	return text, nil
}

func (b bridge) sessions(ctx context.Context, args json.RawMessage) (string, error) {
	var a struct {
		Search string
		Limit  int
	}
	if err := read(args, &a); err != nil {
		return "", err
	}
	limit, err := rows(a.Limit)
	if err != nil {
		return "", err
	}
	var res protocol.SessionsList
	p := protocol.SessionsListParams{Search: a.Search, Limit: limit, IncludeDerivedTitles: true}
	if err := b.g.Call(ctx, protocol.MethodSessionsList, p, &res); err != nil {
		return "", err
	}
	type row struct {
		Session   string `json:"session"`
		Title     string `json:"title,omitempty"`
		UpdatedAt string `json:"updatedAt"`
	}
	out := []row{}
	for _, s := range res.Sessions {
		title := s.Label
		if title == "" {
			title = s.DerivedTitle
		}
		out = append(out, row{s.Key, title, time.UnixMilli(s.UpdatedAt).UTC().Format(time.RFC3339)})
	}
	return asJSON(out)
}

func (b bridge) history(ctx context.Context, args json.RawMessage) (string, error) {
	var a struct {
		Session string
		Limit   int
	}
	if err := read(args, &a); err != nil {
		return "", err
	}
	if a.Session == "" {
		return "", fmt.Errorf("session is missing; sessions_list names those that there are")
	}
	limit, err := rows(a.Limit)
	if err != nil {
		return "", err
	}
	var res protocol.ChatHistory
	if err := b.g.Call(ctx, protocol.MethodChatHistory, protocol.ChatHistoryParams{SessionKey: a.Session, Limit: limit}, &res); err != nil {
		return "", err
	}
	type row struct {
		Role string `json:"role"`
		Text string `json:"text"`
	}
	out := []row{}
	for i := range res.Messages {
		if m := &res.Messages[i]; m.Text() != "" {
			out = append(out, row{m.Role, m.Text()})
		}
	}
	return asJSON(out)
}

func (b bridge) search(ctx context.Context, args json.RawMessage) (string, error) {
	var a struct{ Query string }
	if err := read(args, &a); err != nil {
		return "", err
	}
	if strings.TrimSpace(a.Query) == "" {
		return "", fmt.Errorf("query is empty")
	}
	var res protocol.MemoryFound
	if err := b.g.Call(ctx, protocol.MethodMemorySearch, protocol.MemorySearchParams{Query: a.Query}, &res); err != nil {
		return "", err
	}
	type row struct {
		Where string  `json:"where"`
		Text  string  `json:"text"`
		Score float64 `json:"score"`
	}
	out := []row{}
	for _, hit := range res.Results {
		where := hit.Citation
		if where == "" {
			where = fmt.Sprintf("%s:%d-%d", hit.Path, hit.StartLine, hit.EndLine)
		}
		out = append(out, row{where, hit.Snippet, hit.Score})
	}
	return asJSON(out)
}

func asJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("write the result: %w", err)
	}
	return string(b), nil
}
