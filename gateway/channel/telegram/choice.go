package telegram

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/internal/text"
)

const (
	// maxChoices is what is shown below one message; Telegram takes a hundred.
	maxChoices = 20
	// wideLabel is how long a label can be for two to stand beside each other.
	wideLabel = 16
	// maxAnswerWords is Telegram's limit of the words for who pressed.
	maxAnswerWords = 200
)

type callback struct {
	ID      string   `json:"id"`
	From    user     `json:"from"`
	Message *message `json:"message"`
	Data    string   `json:"data"`
}

type button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

type keyboard struct {
	Rows [][]button `json:"inline_keyboard"`
}

type answerCallback struct {
	ID   string `json:"callback_query_id"`
	Text string `json:"text,omitempty"`
}

// keyboardOf are the buttons of a message, nil for none.
func keyboardOf(all []channel.Choice) *keyboard {
	if len(all) == 0 {
		return nil
	}
	k := &keyboard{}
	for _, c := range all {
		b := button{text.Ellipsis(c.Label, 64), c.Data}
		last := len(k.Rows) - 1
		if last >= 0 && len(k.Rows[last]) == 1 && narrow(k.Rows[last][0]) && narrow(b) {
			k.Rows[last] = append(k.Rows[last], b)
			continue
		}
		k.Rows = append(k.Rows, []button{b})
	}
	return k
}

func narrow(b button) bool { return len([]rune(b.Text)) <= wideLabel }

// checkChoices refuses buttons that Telegram does not take.
func checkChoices(all []channel.Choice) error {
	if len(all) > maxChoices {
		return fmt.Errorf("%w: there are %d buttons, at most %d are shown below a message", channel.ErrRefused, len(all), maxChoices)
	}
	for _, c := range all {
		if c.Label == "" || c.Data == "" || len(c.Data) > channel.MaxChoiceData {
			return fmt.Errorf("%w: the button %q has no label, or its data is empty or too long", channel.ErrRefused, text.Ellipsis(c.Label, 40))
		}
	}
	return nil
}

// pressed turns a press of a button into a message; ok is false for one of no message
// of ours.
func (c *Channel) pressed(q callback) (in channel.Inbound, ok bool) {
	m := q.Message
	if m == nil || m.ID == 0 || m.Chat.ID == 0 || q.ID == "" || q.Data == "" || q.From.ID == 0 {
		return in, false
	}
	in = c.happening(m.Chat)
	in.MessageID = "press-" + q.ID
	in.Thread = thread(m)
	in.At = c.now()
	in.Mentioned = true
	sender(&message{From: &q.From}, &in)
	if m.ConnectionID != "" {
		b, known := c.businessOf(m.ConnectionID)
		if !known || !c.allowed(b) || !b.replies() {
			return in, false
		}
		c.behalf(b, &in)
	}
	in.Press = channel.Press{ID: q.ID, Data: q.Data, MessageID: strconv.FormatInt(m.ID, 10)}
	return in, true
}

// happening is what everything in a chat begins with.
func (c *Channel) happening(at chat) channel.Inbound {
	in := channel.Inbound{
		Channel: c.ID(), Account: c.Account(), Conversation: strconv.FormatInt(at.ID, 10), Label: label(at), Chat: channel.Group,
	}
	switch at.Type {
	case "private":
		in.Chat = channel.Direct
	case "channel":
		in.Chat = channel.Room
	}
	return in
}

// Settle takes the buttons of a message away: an edit without a keyboard does.
func (c *Channel) Settle(ctx context.Context, to channel.Target, messageID, text string) error {
	return c.Edit(ctx, to, messageID, text)
}

// Answer shows a few words to who pressed, for a moment. A press that is too old to be
// answered needs no words any more.
func (c *Channel) Answer(ctx context.Context, _ channel.Target, _ string, p channel.Press, words string) error {
	req := answerCallback{ID: p.ID, Text: text.Ellipsis(words, maxAnswerWords-1)}
	err := c.api.call(ctx, "answerCallbackQuery", req, nil)
	if refusal(err, "query is too old", "query id is invalid") {
		return nil
	}
	return err
}

type reacted struct {
	Chat      chat            `json:"chat"`
	MessageID int64           `json:"message_id"`
	User      *user           `json:"user"` // nil: somebody who does not say who they are
	Date      int64           `json:"date"`
	Old       []emojiReaction `json:"old_reaction"`
	New       []emojiReaction `json:"new_reaction"`
}

// reaction turns a change of somebody's emoji on a message into one; ok is false when
// nothing of it can be shown.
func (c *Channel) reaction(r reacted, number int64) (in channel.Inbound, ok bool) {
	if r.User == nil || r.User.ID == 0 || r.MessageID == 0 || r.Chat.ID == 0 {
		return in, false
	}
	emoji, removed := without(r.New, r.Old), false
	if emoji == "" {
		emoji, removed = without(r.Old, r.New), true
	}
	in = c.happening(r.Chat)
	in.MessageID = "reaction-" + strconv.FormatInt(number, 10)
	in.At = time.Unix(r.Date, 0)
	sender(&message{From: r.User}, &in)
	in.Reaction = channel.Reaction{MessageID: strconv.FormatInt(r.MessageID, 10), Emoji: emoji, Removed: removed}
	return in, emoji != ""
}

// without are the emoji of one list that another lacks.
func without(of, other []emojiReaction) string {
	var out []string
	for _, r := range of {
		has := false
		for _, o := range other {
			has = has || o == r
		}
		if !has && r.Emoji != "" {
			out = append(out, oneLineOf(r.Emoji))
		}
	}
	return strings.Join(out, " ")
}
