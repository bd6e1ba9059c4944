package telegram

import "github.com/hearth-assistant/hearth/gateway/channel"

// origin says who wrote a message that was passed on. Today's networks send
// forward_origin; older servers of the Bot API the fields beside it.
type origin struct {
	Type       string `json:"type"` // user, hidden_user, chat, channel
	User       *user  `json:"sender_user"`
	UserName   string `json:"sender_user_name"`
	SenderChat *chat  `json:"sender_chat"`
	Chat       *chat  `json:"chat"`
}

// forwarded takes the words of a forwarded message away from its sender: they
// are what somebody else wrote, never the sender's commands.
func forwarded(m *message, text string) (f channel.Forwarded, own string) {
	o := m.ForwardOrigin
	switch {
	case o != nil:
	case m.ForwardFrom != nil || m.ForwardName != "" || m.ForwardChat != nil || m.ForwardDate != 0 || m.AutoForward:
		o = &origin{User: m.ForwardFrom, UserName: m.ForwardName, Chat: m.ForwardChat}
	default:
		return f, text
	}
	switch {
	case o.User != nil:
		f.From = label(chat{FirstName: o.User.FirstName, LastName: o.User.LastName, Username: o.User.Username})
	case o.SenderChat != nil:
		f.From = label(*o.SenderChat)
	case o.Chat != nil:
		f.From = label(*o.Chat)
	default:
		f.From = o.UserName
	}
	if f.From == "" {
		f.From = "somebody"
	}
	f.Text = text
	return f, ""
}
