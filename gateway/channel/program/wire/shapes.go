package wire

import (
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// InitializeParams are the gateway's first words.
type InitializeParams struct {
	Protocol int    `json:"protocol"`
	Channel  string `json:"channel"` // the network's id in settings
	Account  string `json:"account"`
	// Settings are the account's own keys that are no secret, as text; Secrets the
	// others. A list has its entries on lines of their own.
	Settings map[string]string `json:"settings"`
	Secrets  map[string]string `json:"secrets"`
	MaxFile  int64             `json:"maxFile"` // the largest file to take or send, in bytes
	// Folder is one that both can use, for files that are sent and fetched. What
	// lies there at the program's end is removed.
	Folder string `json:"folder"`
	// Test asks the program for a network of its own, in its memory, instead of the
	// account's.
	Test bool `json:"test,omitempty"`
}

// InitializeResult is what the program says of itself.
type InitializeResult struct {
	Protocol int               `json:"protocol"`
	Name     string            `json:"name"`
	Version  string            `json:"version"`
	Limits   LimitsResult      `json:"limits"`
	Can      []channel.Ability `json:"can"`
	Test     bool              `json:"test,omitempty"` // it has such a network
}

// LimitsResult is channel.Limits; lengths of time in milliseconds.
type LimitsResult struct {
	Text         int             `json:"text,omitempty"`
	Unit         channel.Unit    `json:"unit,omitempty"`
	Lines        int             `json:"lines,omitempty"`
	Caption      int             `json:"caption,omitempty"`
	Dialect      channel.Dialect `json:"dialect,omitempty"`
	EditPaceMs   int64           `json:"editPaceMs,omitempty"`
	EditWindowMs int64           `json:"editWindowMs,omitempty"`
	Edits        int             `json:"edits,omitempty"`
	TypingMs     int64           `json:"typingMs,omitempty"`
	Files        int64           `json:"files,omitempty"`
	Together     int             `json:"together,omitempty"`
	Reactions    bool            `json:"reactions,omitempty"`
	Threads      bool            `json:"threads,omitempty"`
	Heard        bool            `json:"reactionsIn,omitempty"`
	Choices      int             `json:"choices,omitempty"`
	Manner       channel.Manner  `json:"manner,omitzero"`
}

// LimitsOf writes limits for the wire.
func LimitsOf(l channel.Limits) LimitsResult {
	return LimitsResult{
		Text: l.Text, Unit: l.Unit, Lines: l.Lines, Caption: l.Caption, Dialect: l.Dialect, EditPaceMs: l.EditPace.Milliseconds(),
		EditWindowMs: l.EditWindow.Milliseconds(), Edits: l.Edits, TypingMs: l.Typing.Milliseconds(), Files: l.Files, Together: l.Together,
		Reactions: l.Reactions, Threads: l.Threads, Heard: l.Heard, Choices: l.Choices, Manner: l.Manner,
	}
}

// Channel reads them.
func (l LimitsResult) Channel() channel.Limits {
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	return channel.Limits{
		Text: l.Text, Unit: l.Unit, Lines: l.Lines, Caption: l.Caption, Dialect: l.Dialect, EditPace: ms(l.EditPaceMs),
		EditWindow: ms(l.EditWindowMs), Edits: l.Edits, Typing: ms(l.TypingMs), Files: l.Files, Together: l.Together,
		Reactions: l.Reactions, Threads: l.Threads, Heard: l.Heard, Choices: l.Choices, Manner: l.Manner,
	}
}

// Recipient is where a message goes.
type Recipient struct {
	Conversation string `json:"conversation"`
	Thread       string `json:"thread,omitempty"`
	ReplyTo      string `json:"replyTo,omitempty"`
}

// File is one that a message has. Path is its name in the common folder when it is sent; URL is
// what the program gave of a file that came, and gets back to fetch it.
type File struct {
	MIME string `json:"mime,omitempty"`
	Name string `json:"name,omitempty"`
	Size int64  `json:"size,omitempty"`
	Path string `json:"path,omitempty"`
	URL  string `json:"url,omitempty"`
	// Voice: the sender recorded it for this message.
	Voice bool `json:"voice,omitempty"`
}

// SendParams is one message that fits the limits. Key is the same for every attempt.
type SendParams struct {
	Key   string    `json:"key"`
	To    Recipient `json:"to"`
	Text  string    `json:"text"` // Markdown
	Media []File    `json:"media,omitempty"`
	// Draft: it is the beginning of an answer, and edits that add to it follow.
	Draft bool `json:"draft,omitempty"`
	// Choices are buttons below the text, for a program that can choices.
	Choices []ChoiceParams `json:"choices,omitempty"`
	// Manner are wishes about how it is sent; those that your limits do not name may come too.
	Manner channel.Manner `json:"manner,omitzero"`
}

// SendResult is the network's receipt.
type SendResult struct {
	MessageID string `json:"messageId"`
}

// EditParams gives a message another text.
type EditParams struct {
	To        Recipient `json:"to"`
	MessageID string    `json:"messageId"`
	Text      string    `json:"text"`
	// Last, of edit: the text is the whole of an answer, and no more follows.
	Last bool `json:"last,omitempty"`
}

// MessageParams names a message.
type MessageParams struct {
	To        Recipient `json:"to"`
	MessageID string    `json:"messageId"`
}

// TargetParams names a conversation.
type TargetParams struct {
	To Recipient `json:"to"`
}

// ReactParams puts an emoji on a message; "" takes it away.
type ReactParams struct {
	To        Recipient `json:"to"`
	MessageID string    `json:"messageId"`
	Emoji     string    `json:"emoji"`
}

// HTTPParams is a request of the network to the gateway. Names of headers are written
// as in "X-Line-Signature".
type HTTPParams struct {
	Method  string              `json:"method"`
	Path    string              `json:"path"`
	Query   string              `json:"query,omitempty"`
	Headers map[string][]string `json:"headers"`
	Body    []byte              `json:"body,omitempty"`
}

// HTTPResult is the answer to it.
type HTTPResult struct {
	Status  int                 `json:"status"`
	Headers map[string][]string `json:"headers,omitempty"`
	Body    []byte              `json:"body,omitempty"`
}

// FetchResult says where in the common folder the file is. The gateway removes it.
type FetchResult struct {
	Path string `json:"path"`
}

// InboundParams is channel.Inbound.
type InboundParams struct {
	Chat          channel.ChatType `json:"chat"`
	Conversation  string           `json:"conversation"`
	Label         string           `json:"label,omitempty"`
	Room          string           `json:"room,omitempty"`  // of a group that is a named room
	Space         string           `json:"space,omitempty"` // that the room is in
	Thread        string           `json:"thread,omitempty"`
	SenderID      string           `json:"senderId"`
	SenderShown   string           `json:"senderShown,omitempty"` // the id as people read it
	SenderName    string           `json:"senderName,omitempty"`
	SenderHandle  string           `json:"senderHandle,omitempty"`
	SenderIsBot   bool             `json:"senderIsBot,omitempty"`
	MessageID     string           `json:"messageId"`
	Text          string           `json:"text"`
	Command       string           `json:"command,omitempty"`
	Mentioned     bool             `json:"mentioned,omitempty"`
	ReplyToText   string           `json:"replyToText,omitempty"`
	QuoteSelected bool             `json:"quoteSelected,omitempty"`
	ForwardedFrom string           `json:"forwardedFrom,omitempty"`
	ForwardedText string           `json:"forwardedText,omitempty"`
	Media         []File           `json:"media,omitempty"`
	Album         string           `json:"album,omitempty"`
	AtMs          int64            `json:"atMs"` // Unix milliseconds
	Edited        bool             `json:"edited,omitempty"`
	// Choice is a button of ours that was pressed, Reaction an emoji on a message;
	// messageId is then unique to it.
	Choice   *PressParams    `json:"choice,omitempty"`
	Reaction *ReactionParams `json:"reaction,omitempty"`
}

// InboundOf writes a message for the wire.
func InboundOf(in channel.Inbound) InboundParams {
	p := InboundParams{
		Chat: in.Chat, Conversation: in.Conversation, Label: in.Label, Room: in.Room, Space: in.Space, Thread: in.Thread,
		SenderID: in.SenderID, SenderShown: in.SenderShown, SenderName: in.SenderName,
		SenderHandle: in.SenderHandle, SenderIsBot: in.SenderIsBot, MessageID: in.MessageID, Text: in.Text, Command: in.Command,
		Mentioned: in.Mentioned, ReplyToText: in.ReplyToText, QuoteSelected: in.QuoteSelected, ForwardedFrom: in.Forwarded.From,
		ForwardedText: in.Forwarded.Text, Album: in.Album, AtMs: in.At.UnixMilli(), Edited: in.Edited,
	}
	if c := in.Press; c.Pressed() {
		p.Choice = &PressParams{ID: c.ID, Data: c.Data, MessageID: c.MessageID}
	}
	if r := in.Reaction; r.Reacted() {
		p.Reaction = &ReactionParams{MessageID: r.MessageID, Emoji: r.Emoji, Removed: r.Removed, Ours: r.Ours}
	}
	for _, m := range in.Media {
		p.Media = append(p.Media, File{MIME: m.MIME, Name: m.Name, Size: m.Size, URL: m.URL, Voice: m.Voice})
	}
	return p
}

// Channel reads a message of an account; what is no known kind of chat is taken for
// a group, where less is allowed.
func (p InboundParams) Channel(network, account string) channel.Inbound {
	in := channel.Inbound{
		Channel: network, Account: account, Chat: p.Chat, Conversation: p.Conversation, Label: p.Label, Room: p.Room, Space: p.Space,
		Thread:   p.Thread,
		SenderID: p.SenderID, SenderShown: p.SenderShown, SenderName: p.SenderName,
		SenderHandle: p.SenderHandle, SenderIsBot: p.SenderIsBot, MessageID: p.MessageID,
		Text: p.Text, Command: p.Command, Mentioned: p.Mentioned, ReplyToText: p.ReplyToText, QuoteSelected: p.QuoteSelected,
		Forwarded: channel.Forwarded{From: p.ForwardedFrom, Text: p.ForwardedText}, Album: p.Album, At: time.UnixMilli(p.AtMs),
		Edited: p.Edited,
	}
	if c := p.Choice; c != nil {
		in.Press = c.Channel()
	}
	if r := p.Reaction; r != nil {
		in.Reaction = channel.Reaction{MessageID: r.MessageID, Emoji: r.Emoji, Removed: r.Removed, Ours: r.Ours}
	}
	if in.Chat != channel.Direct && in.Chat != channel.Room {
		in.Chat = channel.Group
	}
	for _, m := range p.Media {
		in.Media = append(in.Media, channel.Media{MIME: m.MIME, Name: m.Name, Size: m.Size, URL: m.URL, Voice: m.Voice})
	}
	return in
}

// StatusParams is how the account is.
type StatusParams struct {
	State   channel.State `json:"state"` // starting, receiving, waiting, conflict
	Bot     string        `json:"bot,omitempty"`
	Problem string        `json:"problem,omitempty"` // for people
}

// StoppedParams says why receiving cannot go on.
type StoppedParams struct {
	Problem string `json:"problem"`
}

// StateKey names what the program keeps in the gateway's store.
type StateKey struct {
	Key string `json:"key"`
}

// StateValue is a value of it, empty when there is none.
type StateValue struct {
	Key  string `json:"key"`
	Blob []byte `json:"blob"`
}
