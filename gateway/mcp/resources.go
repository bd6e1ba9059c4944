package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// Resource is something to read at a server.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

// Prompt is a text that a server has ready for its users.
type Prompt struct {
	Name        string
	Description string
	Arguments   []Argument
}

// Argument is a word that a prompt is filled in with.
type Argument struct {
	Name     string
	About    string
	Required bool
}

const (
	maxListed    = 200
	maxArguments = 32
)

// Resources is what a server has to read; More is set when not all is listed.
type Resources struct {
	List []Resource
	More bool
}

// Resources lists what a server has to read.
func (h *Hub) Resources(ctx context.Context, id string) (Resources, error) {
	return ask(ctx, h, id, func(ctx context.Context, c *mcp.ClientSession) (res Resources, err error) {
		out := []Resource{}
		for r, err := range c.Resources(ctx, nil) {
			if err != nil {
				return res, err
			}
			if len(out) == maxListed {
				res.More = true
				break
			}
			out = append(out, Resource{clean(r.URI, 1000), clean(r.Name, 200), clean(r.Description, 300), clean(r.MIMEType, 80)})
		}
		res.List = append(out, templates(ctx, c)...)
		return res, nil
	})
}

// templates are addresses with words to fill in, which lists of resources lack.
func templates(ctx context.Context, c *mcp.ClientSession) (out []Resource) {
	for t, err := range c.ResourceTemplates(ctx, nil) {
		if err != nil || len(out) >= maxListed { // many servers have resources and know no templates
			return out
		}
		out = append(out, Resource{clean(t.URITemplate, 1000), clean(t.Name, 200),
			clean("(a pattern: fill in what stands in braces) "+t.Description, 340), clean(t.MIMEType, 80)})
	}
	return out
}

// ReadResource reads one, for people: nothing marks the text as one from outside.
func (h *Hub) ReadResource(ctx context.Context, id, uri string) (string, error) {
	return ask(ctx, h, id, func(ctx context.Context, c *mcp.ClientSession) (string, error) {
		res, err := c.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			return "", err
		}
		var b strings.Builder
		for _, r := range res.Contents {
			if r != nil {
				b.WriteString(contents(r) + "\n")
			}
		}
		return bare(b.String()), nil
	})
}

// Prompts lists the prompts of a server.
func (h *Hub) Prompts(ctx context.Context, id string) ([]Prompt, error) {
	return ask(ctx, h, id, func(ctx context.Context, c *mcp.ClientSession) ([]Prompt, error) {
		out := []Prompt{}
		for p, err := range c.Prompts(ctx, nil) {
			if err != nil {
				return nil, err
			}
			one := Prompt{Name: clean(p.Name, 200), Description: clean(p.Description, 300)}
			for _, a := range p.Arguments {
				if a != nil && len(one.Arguments) < maxArguments {
					one.Arguments = append(one.Arguments, Argument{clean(a.Name, 80), clean(a.Description, 200), a.Required})
				}
			}
			if out = append(out, one); len(out) >= maxListed {
				break
			}
		}
		return out, nil
	})
}

// Prompt fills one in, for people: nothing marks the text as one from outside.
func (h *Hub) Prompt(ctx context.Context, id, name string, args map[string]string) (string, error) {
	s, err := h.find(id)
	if err != nil {
		return "", err
	}
	return ask(ctx, h, id, func(ctx context.Context, c *mcp.ClientSession) (string, error) {
		res, err := c.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
		if err != nil {
			return "", err
		}
		var b strings.Builder
		var rest tool.Result
		for _, m := range res.Messages {
			if m != nil && m.Content != nil {
				b.WriteString(clean(string(m.Role), 20) + ": " + s.part(m.Content, &rest) + "\n")
			}
		}
		return bare(b.String()), nil
	})
}

// ask makes one request of a server that is ready, within its time.
func ask[T any](ctx context.Context, h *Hub, id string, do func(context.Context, *mcp.ClientSession) (T, error)) (none T, err error) {
	s, err := h.find(id)
	if err != nil {
		return none, err
	}
	session, err := s.connected()
	if err != nil {
		return none, err
	}
	link := s.linked()
	ctx, cancel := awake.WithTimeoutCause(ctx, s.set.callTime(), errLate)
	defer cancel()
	out, err := do(ctx, session)
	late := errors.Is(context.Cause(ctx), errLate)
	s.late(err != nil && late)
	switch {
	case err == nil:
		return out, nil
	case late:
		return none, fmt.Errorf("%s did not answer within %s", s.set.what(), s.set.callTime())
	case link.why() != nil:
		return none, fmt.Errorf("%s did not answer: %w", s.set.what(), link.why())
	}
	if said := (*jsonrpc.Error)(nil); !errors.As(err, &said) {
		return none, fmt.Errorf("%s did not answer: %s", s.set.what(), clean(err.Error(), 600))
	}
	return none, fmt.Errorf("%s %w: %s", s.set.what(), ErrSaid, clean(err.Error(), 600))
}

// readResource is the tool with which a model lists and reads resources.
type readResource struct{ h *Hub }

// ResourceTool is its name.
const ResourceTool = Prefix + "resource"

// Spec implements tool.Tool.
func (r *readResource) Spec() model.ToolSpec {
	return model.ToolSpec{
		Name:        ResourceTool,
		Description: "Read a resource of an MCP server. Without uri, lists the server's resources.",
		Schema: json.RawMessage(
			`{"type":"object","properties":{"server":{"type":"string","description":"The server's name"},"uri":{"type":"string"}},"required":["server"]}`),
	}
}

// Run implements tool.Tool.
func (r *readResource) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var args struct {
		Server string `json:"server"`
		URI    string `json:"uri"`
	}
	if err := json.Unmarshal(orEmpty(call.Args), &args); err != nil {
		return tool.Result{}, errors.New("the arguments have to be {server, uri}, both text")
	}
	s, err := r.h.find(args.Server)
	if err != nil {
		return tool.Result{}, err
	}
	w := Wish{Server: s.set, Tool: "resources/read", Hash: sha256.Sum256([]byte("resources/read")), Args: orEmpty(call.Args)}
	if err := s.permit(ctx, call, w); err != nil {
		return tool.Result{}, err
	}
	if args.URI != "" {
		text, err := r.h.ReadResource(ctx, args.Server, args.URI)
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Text(s.wrap("resource "+args.URI, text)), nil
	}
	list, err := r.h.Resources(ctx, args.Server)
	if err != nil {
		return tool.Result{}, err
	}
	b, err := json.Marshal(list.List)
	if err != nil {
		return tool.Result{}, fmt.Errorf("write the list: %w", err)
	}
	text := s.wrap("list of resources", string(b))
	if list.More {
		text += fmt.Sprintf("\nThese are the first %d; the server has more. Read one that you know by its uri.", maxListed)
	}
	return tool.Text(text), nil
}
