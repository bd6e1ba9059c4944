package file

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/internal/text"
)

//go:embed apply_patch.md
var patchDescription string

type patchTool struct{ *files }

func (t *patchTool) Spec() model.ToolSpec {
	return model.ToolSpec{
		Name: "apply_patch", Description: strings.TrimSpace(patchDescription),
		Schema: json.RawMessage(`{"type":"object","properties":{"input":{"type":"string","description":"The whole patch, from *** Begin Patch to *** End Patch"}},"required":["input"]}`),
	}
}

func (t *patchTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a struct{ Input, Patch string }
	if err := arguments(call, &a); err != nil {
		return tool.Result{}, err
	}
	if a.Input == "" {
		a.Input = a.Patch
	}
	sections, err := parsePatch(a.Input)
	if err != nil {
		return tool.Result{}, err
	}
	var changes []change
	defer func() {
		for _, c := range changes {
			c.place.Close()
		}
	}()
	for _, s := range sections {
		some, err := t.prepare(ctx, call, s)
		changes = append(changes, some...)
		if err != nil {
			return tool.Result{}, fmt.Errorf("nothing was changed. %s: %w", s.path, err)
		}
	}
	seen := map[string]bool{}
	for _, c := range changes {
		if seen[c.place.Path] {
			return tool.Result{}, fmt.Errorf("nothing was changed: the patch names %s twice; put all its changes into one part", c.place.Name())
		}
		seen[c.place.Path] = true
	}
	if err := t.commit(ctx, call, "apply_patch", changes); err != nil {
		return tool.Result{}, err
	}
	return report(changes)
}

func report(changes []change) (tool.Result, error) {
	var said []string
	d := changes[0].details()
	d.Diff, d.Added, d.Removed = "", 0, 0
	for _, c := range changes {
		letter := "M"
		switch {
		case c.new == nil:
			letter = "D"
		case c.old.info == nil:
			letter = "A"
		}
		said = append(said, letter+" "+c.place.Name())
		d.Diff += c.diff.text
		d.Added, d.Removed = d.Added+c.diff.added, d.Removed+c.diff.removed
		d.Files = append(d.Files, c.place.Path)
	}
	return result("Done:\n"+strings.Join(said, "\n"), d)
}

// prepare turns a part of the patch into changes, without doing them. What it
// returns beside an error has to be closed as well.
func (t *patchTool) prepare(ctx context.Context, call tool.Call, s section) ([]change, error) {
	c, err := t.open(call, s.path)
	if err != nil {
		return nil, err
	}
	some := []change{c}
	mayTell := func() error { return t.allow(ctx, call, c.place, Ask{Tool: "apply_patch", Written: s.path}) }
	switch {
	case s.kind == addFile && c.old.info != nil:
		return some, errors.New("a file of this name is there already; use Update File")
	case s.kind == addFile:
		some[0].keepForm(s.text)
		return some, nil
	case c.old.info == nil:
		if err := mayTell(); err != nil {
			return some, err
		}
		return some, notFound(c.place)
	case s.kind == deleteFile:
		some[0].diff = makeDiff(c.place.Name(), c.old.text, "")
		return some, nil
	case c.old.mime != "" && len(s.hunks) > 0:
		return some, fmt.Errorf("this is a binary file (%s) and cannot be changed as text", c.old.mime)
	}
	text, err := patchText(c.old.text, s.hunks)
	if err != nil {
		if err := mayTell(); err != nil {
			return some, err
		}
		return some, err
	}
	if s.to == "" {
		return some, some[0].set(text)
	}
	return t.move(call, some, s.to, text)
}

func (t *patchTool) open(call tool.Call, raw string) (change, error) {
	p, err := t.find(call, raw)
	if err != nil {
		return change{}, err
	}
	o, err := load(p)
	if err != nil {
		p.Close()
		return change{}, err
	}
	return change{place: p, written: raw, old: o, mode: o.mode()}, nil
}

// move adds the file's new place to the changes and removes it from the old one.
func (t *patchTool) move(call tool.Call, some []change, to, text string) ([]change, error) {
	dest, err := t.open(call, to)
	if err != nil {
		return some, err
	}
	from := &some[0]
	moved := dest
	some = append(some, dest)
	if dest.old.info != nil {
		return some, fmt.Errorf("%s is there already; delete it first", to)
	}
	if from.old.mime == "" {
		raw, err := from.old.enc.encode(text)
		if err != nil {
			return some, err
		}
		moved.new = raw
	} else {
		moved.new = slices.Clone(from.old.raw)
	}
	if moved.new == nil {
		moved.new = []byte{}
	}
	moved.mode = from.mode
	moved.diff = makeDiff(from.place.Name()+" → "+moved.place.Name(), from.old.text, text)
	some[1] = moved
	some[0].new = nil
	return some, nil
}

// patchText applies hunks in order. Lines around a change may differ in blanks
// and signs; those of the file stay.
func patchText(text string, hunks []hunk) (string, error) {
	wide := crlf(text)
	lines := strings.Split(text, "\n")
	ended := lines[len(lines)-1] == ""
	if ended {
		lines = lines[:len(lines)-1]
	}
	flat := make([]string, len(lines))
	for i, l := range lines {
		flat[i] = strings.TrimSuffix(l, "\r")
	}
	end := ""
	if wide {
		end = "\r"
	}
	var out []string
	at := 0
	for i, h := range hunks {
		from, err := locate(flat, h, at)
		if err != nil {
			return "", fmt.Errorf("place %d of %d: %w", i+1, len(hunks), err)
		}
		out = append(out, lines[at:from]...)
		for j, l := range h.new {
			if k := h.keep[j]; k >= 0 {
				out = append(out, lines[from+k])
			} else {
				out = append(out, l+end)
			}
		}
		at = from + len(h.old)
	}
	out = append(out, lines[at:]...)
	if len(out) == 0 {
		return "", nil
	}
	joined := strings.Join(out, "\n")
	if ended || text == "" {
		return joined + "\n", nil
	}
	return strings.TrimSuffix(joined, "\r"), nil
}

// locate finds where the old lines of a hunk stand, from line at on.
func locate(lines []string, h hunk, at int) (int, error) {
	if h.before != "" {
		found := seek(lines, []string{h.before}, at, false)
		if found < 0 {
			return 0, fmt.Errorf("the line after @@ was not found: %q", text.Ellipsis(h.before, 200))
		}
		at = found + 1
	}
	if len(h.old) == 0 { // only new lines: after the line of @@, or at the end
		if h.before != "" && !h.atEnd {
			return at, nil
		}
		return len(lines), nil
	}
	if found := seek(lines, h.old, at, h.atEnd); found >= 0 {
		return found, nil
	}
	if len(lines) > at {
		return 0, mismatch(strings.Join(lines[at:], "\n"), strings.Join(h.old, "\n"))
	}
	return 0, errors.New("the lines were not found: they are after the end of the file")
}

// seek looks for lines exactly, then ever more loosely.
func seek(lines, want []string, at int, atEnd bool) int {
	folds := append([]look{{"", func(s string) string { return s }}}, looks()...)
	for _, l := range folds {
		w := make([]string, len(want))
		for i := range want {
			w[i] = l.fold(want[i])
		}
		last := len(lines) - len(want)
		start := at
		if atEnd {
			start = max(at, last)
		}
	next:
		for i := start; i <= last; i++ {
			for j := range w {
				if l.fold(lines[i+j]) != w[j] {
					continue next
				}
			}
			return i
		}
	}
	return -1
}
