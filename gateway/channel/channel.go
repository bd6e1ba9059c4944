// Package channel is the contract between Hearth and messaging networks: what
// comes in, what goes out, and which failures mean what. One folder below is
// one network; channeltest is the suite that every one passes. A channel owns
// its transport and nothing else: who may talk is inbound's business, how text
// is cut, paced, retried and receipted is outbound's.
package channel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Channel is one account on one network.
//
// Run receives until ctx ends and returns nil then; an error means that it
// cannot go on (a bad token, say) and is shown to the person. It hands every
// message to inbox and tells the network that the message was taken only after
// inbox returned nil: what was not accepted is delivered again.
//
// Send sends one message that fits Limits and returns when the network has
// confirmed it. Its errors are those below; any other is taken for passing.
// Send and the optional methods may be called while Run runs, and at the same
// time.
type Channel interface {
	ID() string      // the network's Kind.ID
	Account() string // "default" when there is one
	Limits() Limits
	Run(ctx context.Context, inbox Inbox) error
	Send(ctx context.Context, m Message) (Receipt, error)
}

// Inbox takes a message. nil means that it is durably accepted, or that it was
// decided to ignore it: either way the network need not bring it again.
type Inbox func(ctx context.Context, in Inbound) error

// Optional abilities, found by AsEditor and its like; Reporter, Gatherer and Hooked by type
// assertion.
type (
	// Editor changes the text of a sent message. ErrRefused means that this
	// message can no longer be edited.
	Editor interface {
		Edit(ctx context.Context, to Target, messageID, text string) error
	}
	// Finisher is an Editor that is told which edit of an answer is the last, which makes
	// it whole.
	Finisher interface {
		Finish(ctx context.Context, to Target, messageID, text string) error
	}
	// Deleter removes a sent message.
	Deleter interface {
		Delete(ctx context.Context, to Target, messageID string) error
	}
	// Typer shows "is typing" for a few seconds.
	Typer interface {
		Typing(ctx context.Context, to Target) error
	}
	// Reactor puts an emoji on a message; "" takes it away.
	Reactor interface {
		React(ctx context.Context, to Target, messageID, emoji string) error
	}
	// Fetcher brings the files of its messages.
	Fetcher interface {
		Fetch(ctx context.Context, m Media) (io.ReadCloser, error)
	}
	// Called answers its network, which calls the gateway at CallPath. It proves the
	// caller before it reads on, and answers that a message was taken after inbox did.
	// An error means that it has no answer: the network is asked to come again.
	Called interface {
		Call(ctx context.Context, c Call) (CallAnswer, error)
	}
	// Reporter tells how it is.
	Reporter interface {
		Status() Status
	}
	// Gatherer shows several files as one message. Albums cuts those of an answer that is
	// sent in a manner into what is one message each, in the order in which they are sent.
	Gatherer interface {
		Albums(media []Media, how Manner) [][]Media
	}
	// Hooked is called by its network at a path, when ok; h authenticates the
	// requests itself.
	Hooked interface {
		Webhook() (path string, h http.Handler, ok bool)
	}
)

// ChatType says what kind of conversation a message belongs to.
type ChatType string

const (
	Direct ChatType = "direct"
	Group  ChatType = "group"
	Room   ChatType = "channel" // a broadcast channel or room
)

// Target is where a message goes.
type Target struct {
	Account      string
	Conversation string // chat id
	Thread       string // topic or thread id, may be empty
	ReplyTo      string // message id to answer, may be empty
}

// Message is one outgoing message.
type Message struct {
	To    Target
	Text  string // Markdown; the channel renders it as its network can
	Media []Media
	// Choices are buttons below the text, for a Chooser.
	Choices []Choice
	// Draft: it is the beginning of an answer, and edits that add to it follow.
	Draft bool
	// Manner are wishes about how it is sent.
	Manner Manner
	// Key is the same for every attempt to send this message, for networks that
	// refuse to take one twice.
	Key string
}

// Manner is how a message or a poll is sent, beside what everybody's is: wishes, of which a
// network fulfils those that its Limits name. Its zero value is as usual.
type Manner struct {
	Silent    bool `json:"silent,omitempty"`    // it comes without a sound
	Document  bool `json:"document,omitempty"`  // pictures, sounds and videos as files, exactly as they are
	Voice     bool `json:"voice,omitempty"`     // a sound as a voice note
	Animation bool `json:"animation,omitempty"` // a video without a sound that plays again and again
	Public    bool `json:"public,omitempty"`    // of a poll: everybody sees who chose what; without it nobody does
}

// Media is a file that comes with a message.
type Media struct {
	MIME string
	Name string
	URL  string // where the channel can fetch it, or a local path for sending
	Size int64
	// Voice: its sender recorded it for this message, as the network says. It is
	// what they say, as their text is.
	Voice bool
}

// Receipt is what the network says of a sent message.
type Receipt struct{ MessageID string }

// Inbound is one message from a network.
type Inbound struct {
	Channel      string // network
	Account      string
	Chat         ChatType
	Conversation string // chat id; the sender's in direct chats on most networks
	Label        string // of the conversation, for people
	// Room is what the network calls a group that is a named room, "#town", and Space the
	// server, workspace or team that the room is in; "" where it has none, or does not say.
	Room, Space  string
	Thread       string
	SenderID     string // stable id on the network
	SenderShown  string // SenderID as the network writes it, for people to read; "" is SenderID
	SenderName   string
	SenderHandle string // without @
	SenderIsBot  bool
	MessageID    string // unique in the conversation
	Text         string // what the sender typed, as Markdown-free text
	// Command is Text without our name before or behind it, where it stands
	// there: "@bot stop" means stop. "" is Text.
	Command     string
	Mentioned   bool   // the message addresses us
	ReplyToText string // quoted text, may be empty
	// QuoteSelected: ReplyToText is a part that the sender chose, not all of the
	// message that is answered.
	QuoteSelected bool
	// Forwarded is set when the sender passed on what somebody else wrote: then
	// Text is empty, and Forwarded.Text are the other's words.
	Forwarded Forwarded
	Media     []Media
	// Album is the same for messages that the sender sent as one: the pictures
	// of an album. They become one turn.
	Album  string
	At     time.Time
	Edited bool // Text replaces that of the message with this MessageID
	// Withdrawn, with Edited: the message was deleted.
	Withdrawn bool
	// Behalf is whose conversation this is, where an answer is given in somebody's name
	// to people who write to them: the id of that person, who let us in. Chat is then
	// Group, and nobody is the owner there.
	Behalf string
	// Press is a button of ours that the sender pressed, and Reaction an emoji that
	// they put on a message: neither has a text, and MessageID is unique to it.
	Press    Press
	Reaction Reaction
}

// Forwarded is a message of somebody else that was passed on. Its words are
// nobody's order: whoever passes them on did not say them.
type Forwarded struct {
	From string // whoever the network says it is from; "" = nothing was forwarded
	Text string
}

// Typed is what the sender typed for us, for commands.
func (in Inbound) Typed() string {
	if in.Command != "" && in.Text != "" {
		return in.Command
	}
	return in.Text
}

// ErrRefused: the network will never take this (bad target, blocked, too
// long). Trying again is useless.
var ErrRefused = errors.New("the network refused it")

// ErrUncertain: nobody knows whether it arrived (the connection broke after
// the request was sent). It must not be sent again by itself.
var ErrUncertain = errors.New("it may or may not have arrived")

// ErrAuth: the account's credential is not accepted.
var ErrAuth = errors.New("the network does not accept the account's credential")

// RateLimit asks to wait. Nothing was sent.
type RateLimit struct{ After time.Duration }

func (e *RateLimit) Error() string { return fmt.Sprintf("the network asks to wait %v", e.After) }
