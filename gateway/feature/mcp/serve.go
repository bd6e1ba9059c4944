package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/mcp/serve"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pairing/admission"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// Programs that use Hearth's own tools over HTTP, by the Model Context Protocol.

// Programs is what programs come through, and what they may use.
type Programs struct {
	Door     *admission.Door
	Dispatch *dispatch.Dispatcher
	Sessions *session.Manager
	Agents   *agents.Directory
	Choice   *choice.Chooser
	// Memory finds what is remembered; nil: nothing is.
	Memory func(context.Context, protocol.MemorySearchParams) (protocol.MemoryFound, error)
	Errors method.Errors // what a program is told went wrong
}

// serving is the handler at /mcp. Whether it is on is looked at with every
// request.
func (f *Servers) serving() http.Handler {
	return serve.NewHandler(serve.HTTPOptions{Version: f.o.Version, Life: f.o.Work.Context(),
		Go: func(work func()) { f.o.Work.Go(func(context.Context) { work() }) }, Admit: f.admit})
}

func (f *Servers) admit(r *http.Request) (serve.Visit, error) {
	if !Section.Of(f.o.Settings.Snapshot().Config).Serves {
		return serve.Visit{}, &admission.Refusal{Status: http.StatusNotFound, Text: "MCP over HTTP is off; `hearth config set " +
			"mcp.serve.http.enabled true` turns it on"}
	}
	v, err := f.o.Programs.Door.Admit(r, pairing.ClientMCP)
	if err != nil {
		return serve.Visit{}, err
	}
	own := !v.Client.May(pairing.ClientOwner)
	return serve.Visit{ID: v.Client.ID, Gateway: &client{Programs: f.o.Programs, client: v.Client, own: own}, Own: own, Bind: v.Bind,
		Release: v.Release}, nil
}

// client is what a program with a token may call. One without the right
// "owner" has conversations of its own, sees no others, and what it says is not
// the owner's words.
type client struct {
	Programs
	client pairing.Client
	own    bool
}

// prefix begins the names of the program's own conversations.
func (c *client) prefix() string { return "mcp-" + c.client.ID + "-" }

// key is the conversation that the program means.
func (c *client) key(name string) (string, error) {
	if !c.own {
		return name, nil
	}
	name = cmp.Or(name, session.MainAlias)
	if bad := strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	}); bad >= 0 || len(name) > 64 {
		return "", protocol.Invalid("A conversation's name has up to 64 letters, digits and . _ -; this token has conversations of its own only.")
	}
	return c.prefix() + name, nil
}

// Call implements serve.Gateway.
func (c *client) Call(ctx context.Context, name string, params, result any) error {
	out, err := c.call(ctx, name, params)
	if err != nil {
		return c.Errors.Out(method.ForClients(name, err))
	}
	return copyJSON(out, result)
}

func (c *client) call(ctx context.Context, name string, params any) (any, error) {
	switch p := params.(type) {
	case protocol.ChatAbortParams:
		key, err := c.key(p.SessionKey)
		if p.SessionKey = key; err != nil {
			return nil, err
		}
		full, err := c.Agents.Canonical(p.SessionKey, p.AgentID)
		if err != nil {
			return nil, err
		}
		ids, err := c.Sessions.Abort(ctx, full, p.RunID)
		return protocol.ChatAbortResult{OK: true, Aborted: len(ids) > 0, RunIDs: append([]string{}, ids...)}, err
	case protocol.ChatHistoryParams:
		key, err := c.key(p.SessionKey)
		if p.SessionKey = key; err != nil {
			return nil, err
		}
		full, err := c.Agents.Canonical(p.SessionKey, p.AgentID)
		if err != nil {
			return nil, err
		}
		return c.Sessions.History(ctx, full, p)
	case protocol.SessionsListParams:
		if c.own {
			return c.ownSessions(ctx, p)
		}
		return c.sessions(ctx, p)
	case protocol.MemorySearchParams:
		if !c.own && c.Memory != nil {
			return c.Memory(ctx, p)
		}
	}
	return nil, fmt.Errorf("%s is not for programs", name)
}

func (c *client) sessions(ctx context.Context, p protocol.SessionsListParams) (protocol.SessionsList, error) {
	list, err := c.Sessions.List(ctx, p)
	list.Defaults = c.Choice.SessionDefaults()
	return list, err
}

// ownSessions are the program's, by the names that it knows.
func (c *client) ownSessions(ctx context.Context, p protocol.SessionsListParams) (protocol.SessionsList, error) {
	limit := p.Limit
	p.Limit = 1000
	list, err := c.sessions(ctx, p)
	if err != nil {
		return list, err
	}
	full, err := c.Agents.Canonical(c.prefix(), "")
	if err != nil {
		return list, err
	}
	rows := list.Sessions
	list.Sessions = []protocol.SessionRow{}
	for _, row := range rows {
		if name, ok := strings.CutPrefix(row.Key, full); ok && len(list.Sessions) < limit {
			row.Key = name
			list.Sessions = append(list.Sessions, row)
		}
	}
	return list, nil
}

// CallTwice implements serve.Gateway.
func (c *client) CallTwice(ctx context.Context, name string, params, first, final any) error {
	p, ok := params.(protocol.AgentParams)
	if !ok {
		return fmt.Errorf("%s is not for programs", name)
	}
	acc, err := c.begin(ctx, p)
	if err != nil {
		return c.Errors.Out(method.ForClients(name, err))
	}
	if err := copyJSON(protocol.AgentAccepted{RunID: acc.Run.ID, SessionKey: acc.Run.SessionKey, Status: "accepted",
		AcceptedAt: acc.Run.AcceptedAt}, first); err != nil {
		return err
	}
	out, err := c.Sessions.Wait(ctx, acc.Run.ID)
	if err != nil {
		return c.Errors.Out(method.ForClients(name, err))
	}
	return copyJSON(out.Wire(), final)
}

func (c *client) begin(ctx context.Context, p protocol.AgentParams) (acc session.Accepted, err error) {
	key, err := c.key(p.SessionKey)
	if err != nil {
		return acc, err
	}
	turn, err := c.Dispatch.Turn(protocol.MethodAgent, key, p.AgentID, p.Message, p.IdempotencyKey, p.Timeout*1000)
	if err != nil {
		return acc, err
	}
	if c.own {
		if word := c.Dispatch.ForOwner(turn.Text); word != "" {
			return acc, protocol.Invalid("%s is for the owner.", word)
		}
		turn.Owner, turn.Sender = false, "token "+c.client.Name
	}
	return c.Dispatch.Accept(ctx, turn)
}

// copyJSON is what a client on the wire would get.
func copyJSON(from, to any) error {
	b, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}
