package file

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

//go:embed write.md
var writeDescription string

type writeTool struct{ *files }

func (t *writeTool) Spec() model.ToolSpec {
	return model.ToolSpec{
		Name: "write", Description: strings.TrimSpace(writeDescription),
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"File to write: relative to the workspace, or absolute"},` +
			`"content":{"type":"string","description":"All that the file shall hold"}},"required":["path","content"]}`),
	}
}

type writeArgs struct {
	Path     string
	FilePath string  `json:"file_path"`
	Content  *string `json:"content"`
}

func (t *writeTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a writeArgs
	if err := arguments(call, &a); err != nil {
		return tool.Result{}, err
	}
	if a.Path == "" {
		a.Path = a.FilePath
	}
	if a.Content == nil {
		return tool.Result{}, errors.New("content is missing; for an empty file give an empty text")
	}
	if len(*a.Content) > maxChange {
		return tool.Result{}, fmt.Errorf("the content is %s, the most is %s", size(int64(len(*a.Content))), size(maxChange))
	}
	p, err := t.find(call, a.Path)
	if err != nil {
		return tool.Result{}, err
	}
	defer p.Close()
	o, err := load(p)
	if err != nil {
		return tool.Result{}, err
	}
	c := change{place: p, written: a.Path, old: o, mode: o.mode()}
	enc := c.keepForm(*a.Content)
	if o.info != nil && string(c.new) == string(o.raw) {
		return tool.Text(p.Name() + " holds exactly this already; nothing was changed."), nil
	}
	if err := t.commit(ctx, call, "write", []change{c}); err != nil {
		return tool.Result{}, err
	}
	said := fmt.Sprintf("Wrote %s to %s", size(int64(len(c.new))), p.Name())
	switch {
	case o.info == nil:
		said += " (a new file)."
	case enc != utf8Plain:
		said += fmt.Sprintf(" (+%d −%d lines, %s as before).", c.diff.added, c.diff.removed, enc)
	default:
		said += fmt.Sprintf(" (+%d −%d lines).", c.diff.added, c.diff.removed)
	}
	return result(said, c.details())
}

// keepForm sets the new bytes in the encoding and with the line ends that the
// file has, as far as it can.
func (c *change) keepForm(content string) encoding {
	enc := c.old.enc
	if c.old.mime != "" {
		enc = utf8Plain
	}
	content = strings.TrimPrefix(content, bom)
	if crlf(c.old.text) && !strings.Contains(content, "\r") {
		content = toEnding(content, true)
	}
	raw, err := enc.encode(content)
	if err != nil {
		enc, raw = utf8Plain, []byte(content)
	}
	c.new = raw
	if c.new == nil {
		c.new = []byte{}
	}
	before := c.old.text
	if c.old.mime != "" {
		before = fmt.Sprintf("[binary file, %s, %s]\n", size(int64(len(c.old.raw))), c.old.mime)
	}
	c.diff = makeDiff(c.place.Name(), before, content)
	return enc
}
