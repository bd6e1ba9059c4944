package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// result makes a tool's result of an answer: marked as text from outside, cut
// to what a model may see.
func (s *server) result(own string, res *mcp.CallToolResult) (tool.Result, error) {
	var b strings.Builder
	var out tool.Result
	for _, c := range res.Content {
		if text := s.part(c, &out); text != "" {
			b.WriteString(text + "\n")
		}
		if b.Len() > maxResult {
			break
		}
	}
	if len(res.Content) == 0 && res.StructuredContent != nil {
		if raw, err := json.Marshal(res.StructuredContent); err == nil {
			b.Write(raw)
		}
	}
	text := strings.TrimSpace(b.String())
	if text == "" && len(out.Images) == 0 {
		text = "(nothing)"
	}
	if text != "" {
		out.Text = s.wrap("tool "+own, text)
	}
	out.Details = details(s.set.ID, own, res.IsError)
	if res.IsError {
		said := "The tool says that it failed; its words are above."
		if hint := s.set.confined(text); hint != "" {
			said += " " + hint + "."
		}
		return out, errors.New(said)
	}
	return out, nil
}

func details(server, own string, failed bool) json.RawMessage {
	b, err := json.Marshal(map[string]any{"mcp": map[string]any{"server": server, "tool": clean(own, 256), "failed": failed}})
	if err != nil {
		return nil
	}
	return b
}

// wrap marks words of a server for a model.
func (s *server) wrap(what, text string) string {
	return s.o.Wrap.Wrap(fmt.Sprintf("MCP server %s, %s", s.set.ID, clean(what, 200)), bare(text))
}

// bare makes words of a server harmless to look at, and not too many.
func bare(text string) string {
	text = printable(strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) > maxResult {
		text = strings.ToValidUTF8(text[:maxResult], "") + "\n[the rest was cut]"
	}
	return text
}

// part is the text of one part of an answer; pictures go beside it.
func (s *server) part(c mcp.Content, out *tool.Result) string {
	switch c := c.(type) {
	case *mcp.TextContent:
		return c.Text
	case *mcp.ImageContent:
		switch c.MIMEType {
		case "image/png", "image/jpeg", "image/gif", "image/webp":
			if len(c.Data) <= maxImage && len(out.Images) < maxImages {
				out.Images = append(out.Images, model.Image{MIME: c.MIMEType, Data: c.Data})
				return ""
			}
		}
		return fmt.Sprintf("[a picture of %d bytes that is not shown]", len(c.Data))
	case *mcp.AudioContent:
		return fmt.Sprintf("[sound of %d bytes that cannot be heard here]", len(c.Data))
	case *mcp.ResourceLink:
		return fmt.Sprintf("[resource %s: %s]", clean(c.URI, 500), clean(c.Name+" "+c.Description, 500))
	case *mcp.EmbeddedResource:
		if c.Resource == nil {
			return ""
		}
		return contents(c.Resource)
	}
	return "[something that is not understood here]"
}

func contents(r *mcp.ResourceContents) string {
	if len(r.Blob) > 0 {
		return fmt.Sprintf("[resource %s: %d bytes of %s that are no text]", clean(r.URI, 500), len(r.Blob), clean(r.MIMEType, 80))
	}
	return r.Text
}
