package node

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"runtime"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/process"
)

// canvas is the one window that shows pages for the gateway.
type canvas struct {
	program string

	mu sync.Mutex // held while it is changed: one thing at a time
	p  *process.Process
}

// pageParams name what is shown.
type pageParams struct {
	URL string `json:"url"`
}

// page is an address that may be shown: of the web, by name or number. A file of
// this machine, or a script, is not.
func page(raw json.RawMessage) (string, error) {
	var p pageParams
	if err := read(raw, &p); err != nil {
		return "", err
	}
	u, err := url.Parse(strings.TrimSpace(p.URL))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return "", invalid("url must be an address of the web, http:// or https://")
	}
	return u.String(), nil
}

func (h *Host) canvasPresent(ctx context.Context, cn *conn, raw json.RawMessage) (any, error) {
	return h.canvasNavigate(ctx, cn, raw)
}

// canvasNavigate shows a page, in the window that is open or in a new one.
func (h *Host) canvasNavigate(ctx context.Context, _ *conn, raw json.RawMessage) (any, error) {
	to, err := page(raw)
	if err != nil {
		return nil, err
	}
	if err := h.show(ctx, to); err != nil {
		return nil, &fault{"CANVAS_UNAVAILABLE", "no page is shown: " + err.Error()}
	}
	return map[string]any{"ok": true}, nil
}

func (h *Host) canvasHide(context.Context, *conn, json.RawMessage) (any, error) {
	h.canvas.close()
	return map[string]any{"ok": true}, nil
}

func (h *Host) show(ctx context.Context, to string) error {
	switch {
	case h.canvas.program == "":
		return errors.New("hearth-window is not installed beside hearth on this machine")
	case runtime.GOOS == "linux" && h.env("DISPLAY") == "" && h.env("WAYLAND_DISPLAY") == "":
		return errNoDisplay
	}
	h.canvas.mu.Lock()
	defer h.canvas.mu.Unlock()
	if h.canvas.p != nil && !h.canvas.p.Ended() {
		if h.canvas.p.Write([]byte(to+"\n")) == nil {
			return nil
		}
		h.canvas.p.Stop()
	}
	p, err := h.keeper.Start(ctx, process.Spec{
		Owner: owner, Title: "a page", Path: h.canvas.program, Argv: []string{h.canvas.program, "--canvas", to},
		Env: h.deskEnv(), Dir: h.o.Work, Input: true,
	})
	if err != nil {
		return err
	}
	h.canvas.p = p
	return nil
}

func (c *canvas) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.p == nil {
		return
	}
	c.p.Stop()
	<-c.p.Done()
	c.p = nil
}
