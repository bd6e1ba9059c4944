package node

import (
	"context"
	"encoding/json"

	"github.com/hearth-assistant/hearth/app/notify"
)

const (
	maxTitle = 80
	maxBody  = 300
	maxLines = 4
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
	title, body := notify.Plain(p.Title, maxTitle, 1), notify.Plain(p.Body, maxBody, maxLines)
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
