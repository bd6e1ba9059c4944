package node

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const (
	maxTitle = 200
	maxBody  = 2000
)

// notify shows a notification of the desktop.
func (h *Host) notify(ctx context.Context, _ *conn, raw json.RawMessage) (any, error) {
	var p struct {
		Title string `json:"title"`
		Body  string `json:"body"`
	}
	if err := read(raw, &p); err != nil {
		return nil, err
	}
	title, body := shown(p.Title, maxTitle), shown(p.Body, maxBody)
	if title == "" && body == "" {
		return nil, invalid("title or body is needed")
	}
	if title == "" {
		title = "Hearth"
	}
	if err := h.tellDesktop(ctx, title, body); err != nil {
		return nil, unavailable("no notification was shown: %v", err)
	}
	return map[string]any{"ok": true}, nil
}

// shown is text without what controls a display, and no longer than is read.
func shown(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r >= ' ' && r != 0x7f && !(r >= 0x80 && r < 0xa0) && r != utf8.RuneError {
			return r
		}
		return -1
	}, strings.TrimSpace(s))
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}
