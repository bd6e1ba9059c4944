package file

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

//go:embed edit.md
var editDescription string

type editTool struct{ *files }

func (t *editTool) Spec() model.ToolSpec {
	return model.ToolSpec{
		Name: "edit", Description: strings.TrimSpace(editDescription),
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"File to change: relative to the workspace, or absolute"},` +
			`"edits":{"type":"array","minItems":1,"items":{"type":"object","properties":{` +
			`"oldText":{"type":"string","description":"Exact text that stands in the file once"},` +
			`"newText":{"type":"string","description":"What shall stand there instead"}},"required":["oldText","newText"]}}},` +
			`"required":["path","edits"]}`),
	}
}

// replacement is one edit.
type replacement struct {
	OldText string
	NewText string
	all     bool
}

type editArgs struct {
	Path       string
	FilePath   string `json:"file_path"`
	Edits      json.RawMessage
	OldText    *string
	NewText    *string
	OldString  *string `json:"old_string"`
	NewString  *string `json:"new_string"`
	ReplaceAll bool    `json:"replace_all"`
}

// list takes the edits in every form that models send them in.
func (a *editArgs) list() ([]replacement, error) {
	raw := a.Edits
	var inner string
	if json.Unmarshal(raw, &inner) == nil && inner != "" { // the list as a text
		raw = json.RawMessage(inner)
	}
	var out []replacement
	if len(raw) > 0 && string(raw) != "null" {
		var one replacement
		if err := json.Unmarshal(raw, &out); err != nil {
			if json.Unmarshal(raw, &one) != nil {
				return nil, fmt.Errorf("edits cannot be read: %s", strings.TrimPrefix(err.Error(), "json: "))
			}
			out = []replacement{one}
		}
	}
	before, after := cmp.Or(a.OldText, a.OldString), cmp.Or(a.NewText, a.NewString)
	if before != nil && after != nil {
		out = append(out, replacement{*before, *after, a.ReplaceAll})
	}
	if len(out) == 0 {
		return nil, errors.New("there is no edit; give edits as a list of {oldText, newText}")
	}
	for i := range out {
		out[i].OldText, out[i].NewText = toLF(out[i].OldText), toLF(out[i].NewText)
		switch {
		case out[i].OldText == "":
			return nil, fmt.Errorf("edit %d has an empty oldText; to write a whole file use write", i+1)
		case out[i].OldText == out[i].NewText:
			return nil, fmt.Errorf("edit %d changes nothing: oldText and newText are the same", i+1)
		}
	}
	return out, nil
}

func (t *editTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a editArgs
	if err := arguments(call, &a); err != nil {
		return tool.Result{}, err
	}
	if a.Path == "" {
		a.Path = a.FilePath
	}
	edits, err := a.list()
	if err != nil {
		return tool.Result{}, err
	}
	p, err := t.find(call, a.Path)
	if err != nil {
		return tool.Result{}, err
	}
	defer p.Close()
	// A refusal tells what stands in the file, or beside it; where that is not
	// free it takes the owner's yes.
	mayTell := func() error { return t.allow(ctx, call, p, Ask{Tool: "edit", Written: a.Path}) }
	o, err := load(p)
	switch {
	case err != nil:
		return tool.Result{}, err
	case o.info == nil:
		if err := mayTell(); err != nil {
			return tool.Result{}, err
		}
		return tool.Result{}, notFound(p)
	case o.mime != "":
		return tool.Result{}, fmt.Errorf("%s is a binary file (%s) and cannot be edited as text", p.Name(), o.mime)
	}
	text, err := apply(o.text, edits)
	if err != nil {
		if err := mayTell(); err != nil {
			return tool.Result{}, err
		}
		return tool.Result{}, fmt.Errorf("%s was not changed: %w", p.Name(), err)
	}
	c := change{place: p, written: a.Path, old: o, mode: o.mode()}
	if err := c.set(text); err != nil {
		return tool.Result{}, err
	}
	if err := t.commit(ctx, call, "edit", []change{c}); err != nil {
		return tool.Result{}, err
	}
	n := "1 edit"
	if len(edits) > 1 {
		n = fmt.Sprintf("%d edits", len(edits))
	}
	return result(fmt.Sprintf("Made %s in %s (+%d −%d lines, from line %d).", n, p.Name(), c.diff.added, c.diff.removed, c.diff.first),
		c.details())
}

// set takes a new text for a file that keeps its encoding.
func (c *change) set(text string) (err error) {
	if c.old.enc != utf8Plain && c.old.enc != utf8BOM {
		if back, berr := c.old.enc.encode(c.old.text); berr != nil || string(back) != string(c.old.raw) {
			return fmt.Errorf("%s is damaged %s and would lose more by an edit; write it anew", c.place.Name(), c.old.enc)
		}
	}
	if c.new, err = c.old.enc.encode(text); err != nil {
		return fmt.Errorf("%s was not changed: %w", c.place.Name(), err)
	}
	c.diff = makeDiff(c.place.Name(), c.old.text, text)
	return nil
}

// hit is where one edit goes.
type hit struct {
	from, to int // in the text with LF
	text     string
	edit     int
}

// apply makes all edits against the text as it is, or none. Lines that no edit
// touches keep their own line ends.
func apply(text string, edits []replacement) (string, error) {
	flat := toLF(text)
	var hits []hit
	for i, e := range edits {
		at := strings.Index(flat, e.OldText)
		if at < 0 {
			return "", fmt.Errorf("%s%w", which(i, edits), mismatch(flat, e.OldText))
		}
		for next := at; next >= 0; {
			hits = append(hits, hit{next, next + len(e.OldText), e.NewText, i})
			at = next + len(e.OldText)
			if next = strings.Index(flat[at:], e.OldText); next >= 0 {
				if !e.all {
					return "", fmt.Errorf("%s%w", which(i, edits), several(flat, e.OldText))
				}
				next += at
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(hits); i++ {
		if hits[i].from < hits[i-1].to {
			return "", fmt.Errorf("edits %d and %d overlap; make them one", hits[i-1].edit+1, hits[i].edit+1)
		}
	}
	return splice(text, flat, hits), nil
}

// splice puts the hits, found in flat, into text, whose lines may end in CR LF.
func splice(text, flat string, hits []hit) string {
	wide := crlf(text)
	var out strings.Builder
	out.Grow(len(text))
	done, shift := 0, 0 // flat is done up to here; text is further by shift
	real := func(to int) int {
		if len(text) != len(flat) {
			// each line end of this part that is CR LF is one byte longer
			for at := done; at < to; {
				n := strings.IndexByte(flat[at:to], '\n')
				if n < 0 {
					break
				}
				at += n + 1
				if text[at-1+shift] == '\r' {
					shift++
				}
			}
		}
		done = to
		return to + shift
	}
	copied := 0
	for _, h := range hits {
		from := real(h.from)
		out.WriteString(text[copied:from])
		out.WriteString(toEnding(h.text, wide))
		copied = real(h.to)
	}
	out.WriteString(text[copied:])
	return out.String()
}

func which(i int, edits []replacement) string {
	if len(edits) == 1 {
		return ""
	}
	return fmt.Sprintf("edit %d of %d: ", i+1, len(edits))
}
