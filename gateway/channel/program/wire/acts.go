package wire

import (
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// ChoiceParams is a button below a message.
type ChoiceParams struct {
	Data  string       `json:"data"`
	Label string       `json:"label"`
	Tone  channel.Tone `json:"tone,omitempty"` // good, danger
}

// ChoicesOf writes buttons for the wire.
func ChoicesOf(all []channel.Choice) (out []ChoiceParams) {
	for _, c := range all {
		out = append(out, ChoiceParams{c.Data, c.Label, c.Tone})
	}
	return out
}

// Choices reads them.
func Choices(all []ChoiceParams) (out []channel.Choice) {
	for _, c := range all {
		out = append(out, channel.Choice{Data: c.Data, Label: c.Label, Tone: c.Tone})
	}
	return out
}

// PressParams is a button that was pressed.
type PressParams struct {
	ID        string `json:"id"` // the same when it is offered again
	Data      string `json:"data"`
	MessageID string `json:"messageId"` // below which it stood
}

// Channel reads it.
func (p PressParams) Channel() channel.Press {
	return channel.Press{ID: p.ID, Data: p.Data, MessageID: p.MessageID}
}

// ReactionParams is an emoji that somebody put on a message or took away.
type ReactionParams struct {
	MessageID string `json:"messageId"`
	Emoji     string `json:"emoji"`
	Removed   bool   `json:"removed,omitempty"`
	Ours      bool   `json:"ours,omitempty"` // the message is ours
}

// AnswerParams are words for whoever pressed a button.
type AnswerParams struct {
	To       Recipient   `json:"to"`
	SenderID string      `json:"senderId"`
	Choice   PressParams `json:"choice"`
	Text     string      `json:"text"`
}

// PollParams is a question of the network's own kind.
type PollParams struct {
	Key      string    `json:"key"`
	To       Recipient `json:"to"`
	Question string    `json:"question"`
	Options  []string  `json:"options"`
	Multiple bool      `json:"multiple,omitempty"`
	OpenMs   int64     `json:"openMs,omitempty"`
	// Manner are wishes about how it is sent.
	Manner channel.Manner `json:"manner,omitzero"`
}

// PollOf writes a poll for the wire.
func PollOf(to Recipient, p channel.Poll) PollParams {
	return PollParams{Key: p.Key, To: to, Question: p.Question, Options: p.Options, Multiple: p.Multiple, OpenMs: p.Open.Milliseconds(),
		Manner: p.Manner}
}

// Channel reads it.
func (p PollParams) Channel() channel.Poll {
	return channel.Poll{Key: p.Key, Question: p.Question, Options: p.Options, Multiple: p.Multiple,
		Open: time.Duration(p.OpenMs) * time.Millisecond, Manner: p.Manner}
}

// PinParams pins a message, or lets it go.
type PinParams struct {
	To        Recipient `json:"to"`
	MessageID string    `json:"messageId"`
	On        bool      `json:"on"`
}

// ReadParams asks for what was said before.
type ReadParams struct {
	To     Recipient `json:"to"`
	Before string    `json:"before,omitempty"`
	Limit  int       `json:"limit"`
}

// SearchParams asks for messages with some words.
type SearchParams struct {
	To    Recipient `json:"to"`
	Words string    `json:"words"`
	Limit int       `json:"limit"`
}

// ReadResult is what was said, the newest last.
type ReadResult struct {
	Messages []PastMessage `json:"messages"`
}

// PastMessage is a message that was said before.
type PastMessage struct {
	MessageID  string `json:"messageId"`
	SenderID   string `json:"senderId"`
	SenderName string `json:"senderName,omitempty"`
	Text       string `json:"text"`
	AtMs       int64  `json:"atMs"`
}

// ReadOf writes messages for the wire.
func ReadOf(all []channel.Past) ReadResult {
	out := ReadResult{Messages: []PastMessage{}}
	for _, m := range all {
		out.Messages = append(out.Messages, PastMessage{m.MessageID, m.SenderID, m.SenderName, m.Text, m.At.UnixMilli()})
	}
	return out
}

// Channel reads them.
func (r ReadResult) Channel() (out []channel.Past) {
	for _, m := range r.Messages {
		out = append(out, channel.Past{MessageID: m.MessageID, SenderID: m.SenderID, SenderName: m.SenderName, Text: m.Text,
			At: time.UnixMilli(m.AtMs)})
	}
	return out
}

// MenuParams are commands that people choose from a menu.
type MenuParams struct {
	Commands []MenuCommand `json:"commands"`
}

// MenuCommand is one of them.
type MenuCommand struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Local       map[string]string `json:"local,omitempty"` // by language
	Args        string            `json:"args,omitempty"`
}

// MenuOf writes commands for the wire.
func MenuOf(all []channel.Command) MenuParams {
	out := MenuParams{Commands: []MenuCommand{}}
	for _, c := range all {
		out.Commands = append(out.Commands, MenuCommand(c))
	}
	return out
}

// Channel reads them.
func (p MenuParams) Channel() (out []channel.Command) {
	for _, c := range p.Commands {
		out = append(out, channel.Command(c))
	}
	return out
}
