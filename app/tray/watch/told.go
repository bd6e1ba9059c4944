package watch

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/hearth-assistant/hearth/app/tray/notice"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Settings are those of the gateway that are about this desktop.
type Settings struct {
	Notifications string `json:"notifications"`
	QuietHours    struct {
		Start string `json:"start"`
		End   string `json:"end"`
	} `json:"quietHours"`
	KeepAwake bool   `json:"keepAwake"`
	QuickKey  string `json:"quickKey"`
}

// settings reads them anew.
func (w *Watch) settings(ctx context.Context, c *client.Client) error {
	var snap protocol.ConfigSnapshot
	if err := c.Call(ctx, protocol.MethodConfigGet, struct{}{}, &snap); err != nil {
		return err
	}
	var of struct {
		Hearth struct {
			Desktop Settings `json:"desktop"`
		} `json:"hearth"`
	}
	if err := json.Unmarshal(snap.Config, &of); err != nil {
		return err
	}
	w.o.Settings(of.Hearth.Desktop)
	return nil
}

// ended notes an answer that came to its end, to be told of.
func (w *Watch) ended(e protocol.Event) {
	var ev protocol.ChatEvent
	if json.Unmarshal(e.Payload, &ev) != nil || !ofPage(ev.SessionKey) {
		return
	}
	a := notice.Answer{Key: ev.SessionKey}
	switch {
	case ev.State == "final" && ev.Message != nil:
		for _, b := range ev.Message.Content {
			if b.Type == "text" {
				a.Text += b.Text + "\n"
			}
		}
		if a.Text, a.Reminder = reminder(ev.Message, a.Text); strings.TrimSpace(a.Text) == "" {
			return
		}
	case ev.State == "error":
		a.Why = ev.ErrorMessage
	default:
		return
	}
	select {
	case w.answers <- a:
	default: // many at once: the icon and the chats show them
	}
}

// reminder takes off what stands over a reminder in a chat.
func reminder(m *protocol.Message, text string) (said string, is bool) {
	if m.Provider != "hearth" { // somebody else's words
		return text, false
	}
	return strings.CutPrefix(text, "[Reminder]\n\n")
}

// ofPage: chats of the page and the window. Others have their own ways to tell.
func ofPage(key string) bool {
	_, rest, _ := strings.Cut(strings.TrimPrefix(key, "agent:"), ":")
	return strings.HasPrefix(key, "agent:") && (rest == "main" || strings.HasPrefix(rest, "chat:"))
}

// tell passes an answer on unless somebody has it before their eyes, or asked
// from a terminal, where it stands. A reminder was not asked for just now.
func (w *Watch) tell(ctx context.Context, c *client.Client, a notice.Answer) error {
	var there []protocol.PresenceEntry
	if err := c.Call(ctx, protocol.MethodSystemPresence, struct{}{}, &there); err != nil {
		return err
	}
	for _, p := range there {
		if p.HearthView == a.Key || p.Mode == "cli" && p.HearthView == "" && !a.Reminder {
			return nil
		}
	}
	w.o.Answered(a)
	return nil
}

// Say sends words into a chat, as the page would.
func (w *Watch) Say(ctx context.Context, key, text, once string) error {
	return w.call(ctx, protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: key, Message: text, IdempotencyKey: once},
		"send your reply")
}
