// Package image holds the tool image, which has a picture described by a model
// that can see. It owns where pictures may come from and what is told. Files are
// found by package place, pictures judged by package media before anything
// decodes them; which model looks, and how it is asked, is handed in.
package image

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
	"github.com/hearth-assistant/hearth/internal/text"
)

//go:embed image.md
var description string

const (
	maxPrompt     = 4 << 10
	defaultPrompt = "Describe this picture: what it shows, and all text in it, word by word."
)

// Fetcher gets pages from public addresses; *egress.Client is one.
type Fetcher interface {
	Fetch(ctx context.Context, req egress.Request) (egress.Page, error)
}

// Finder finds files for tools.
type Finder interface {
	Find(workspace, raw string) (*safepath.Path, error)
}

// Tool is the tool image.
type Tool struct {
	Find    Finder
	Fetcher Fetcher
	// Look asks a model about a picture: the one that is named, or the usual. It
	// returns which one looked.
	Look func(ctx context.Context, call tool.Call, name, prompt string, pic model.Image) (text string, by model.Ref, err error)
	// Secret reports whether an address holds something that must not leave.
	Secret func(text string) bool
	Wrap   untrusted.Wrapper
}

// Spec describes the tool.
func (t *Tool) Spec() model.ToolSpec {
	return model.ToolSpec{
		Name: "image", Description: strings.TrimSpace(description),
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"image":{"type":"string","description":"a path in the workspace, or an https address"},` +
			`"prompt":{"type":"string"},` +
			`"model":{"type":"string","description":"provider/model; default: as configured"}},` +
			`"required":["image"],"additionalProperties":false}`),
	}
}

// Run has one picture looked at.
func (t *Tool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in struct{ Image, Prompt, Model string }
	if err := json.Unmarshal(call.Args, &in); err != nil {
		return tool.Result{}, fmt.Errorf("the arguments are not what this tool takes: %w", err)
	}
	in.Image = strings.TrimSpace(in.Image)
	switch {
	case in.Image == "":
		return tool.Result{}, errors.New("image is missing: a path in the workspace, or an https address")
	case len(in.Prompt) > maxPrompt:
		return tool.Result{}, fmt.Errorf("the prompt has %d bytes, at most %d are possible", len(in.Prompt), maxPrompt)
	case strings.TrimSpace(in.Prompt) == "":
		in.Prompt = defaultPrompt
	}
	data, err := t.get(ctx, call, in.Image)
	if err != nil {
		return tool.Result{}, err
	}
	pic, err := media.Judge(data)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s was not shown to a model: %w", text.Ellipsis(in.Image, 120), err)
	}
	call.Progress(fmt.Sprintf("Looking at a picture of %d×%d…", pic.Width, pic.Height))
	seen, by, err := t.Look(ctx, call, in.Model, in.Prompt, model.Image{MIME: pic.MIME, Data: data, ID: pic.ID})
	if err != nil {
		return tool.Result{}, err
	}
	if seen == "" {
		return tool.Result{}, fmt.Errorf("%s looked at the picture and said nothing; ask something else of it, or name another model", by)
	}
	details, err := json.Marshal(map[string]any{"image": in.Image, "mimeType": pic.MIME, "width": pic.Width, "height": pic.Height,
		"model": by.String()})
	if err != nil {
		return tool.Result{}, fmt.Errorf("tell of the picture: %w", err)
	}
	return tool.Result{Text: t.Wrap.Wrap("what "+by.String()+" says about the picture "+text.Ellipsis(in.Image, 120), seen), Details: details},
		nil
}

// get is the bytes of a picture; never more than one byte above the limit.
func (t *Tool) get(ctx context.Context, call tool.Call, from string) ([]byte, error) {
	lower := strings.ToLower(from)
	switch {
	case strings.HasPrefix(lower, "https://"):
		return t.fetch(ctx, from)
	case strings.Contains(lower, "://") || strings.HasPrefix(lower, "data:") || strings.HasPrefix(lower, "file:"):
		return nil, errors.New("a picture can be a path in the workspace or an address that starts with https://")
	}
	p, err := t.Find.Find(call.Workspace, from)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if v, why := p.Judge(false); v != safepath.Free {
		return nil, fmt.Errorf("%s was not looked at, because %s; copy the picture into the workspace first", text.Ellipsis(from, 120), why)
	}
	f, _, err := p.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name(), err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, media.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", p.Name(), err)
	}
	return data, nil
}

func (t *Tool) fetch(ctx context.Context, address string) ([]byte, error) {
	if t.Secret != nil && t.Secret(address) {
		return nil, errors.New("the address holds one of the owner's keys or passwords, so it was not asked; leave it out")
	}
	page, err := t.Fetcher.Fetch(ctx, egress.Request{URL: address, MaxBytes: media.MaxBytes + 1})
	switch {
	case err != nil:
		return nil, fmt.Errorf("the picture could not be fetched: %w", err)
	case page.Status >= 400:
		return nil, fmt.Errorf("the picture could not be fetched: the server answered with HTTP %d; check the address", page.Status)
	case page.Truncated:
		return nil, media.ErrLarge
	}
	return page.Body, nil
}
