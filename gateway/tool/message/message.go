// Package message holds the tool that writes to people on messaging networks.
// It owns what may stand in such a message and what is told about it. Which
// networks there are, whether the owner allows a recipient, and the delivery
// are handed in. A file is sent where the argument media names one; nothing in
// the text does.
package message

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/internal/text"
)

//go:embed message.md
var description string

const (
	// maxText is also what a person can be asked to read.
	maxText = 8 << 10
	maxName = 128
)

// To is a recipient.
type To struct {
	Channel string `json:"channel"`
	Account string `json:"account"`
	Target  string `json:"target"` // the chat's id
	Thread  string `json:"thread,omitempty"`
}

func (t To) String() string {
	s := t.Channel + ":" + t.Target
	if t.Thread != "" {
		s += ":" + t.Thread
	}
	if t.Account != "" && t.Account != "default" {
		s += " (account " + t.Account + ")"
	}
	return s
}

// File is a file that can be sent.
type File struct {
	URL  string // an address, or where it is on this machine
	Name string
	MIME string
	Size int64
}

// Fate is what became of a message so far.
type Fate struct {
	ID     string `json:"id"`
	State  string `json:"state"` // waiting, sending, delivered, failed, uncertain
	Reason string `json:"reason,omitempty"`
	// MessageID is the last message of it on the network, once it is there.
	MessageID string `json:"messageId,omitempty"`
}

// Post is where messages leave.
type Post interface {
	// Find completes a recipient, or says why there is none.
	Find(call tool.Call, to To) (To, error)
	// Attach finds a file that can be sent, or says why it cannot.
	Attach(call tool.Call, to To, ref string) (File, error)
	// Permit asks the owner about a recipient that is not allowed yet.
	Permit(ctx context.Context, call tool.Call, to To, text string, files []File) error
	// Answered is the message that is answered right now, when it was said in to; "" else.
	Answered(call tool.Call, to To) string
	// PermitAct asks the owner about an action that is not allowed by itself.
	PermitAct(ctx context.Context, call tool.Call, to To, a Act) error
	// Act does it, and says in words what came of it.
	Act(ctx context.Context, call tool.Call, to To, a Act) (string, error)
	// Send accepts a message durably and waits a moment for its receipt.
	Send(ctx context.Context, call tool.Call, to To, text string, files []File) (Fate, error)
}

// Tool is the tool message.
type Tool struct {
	Post Post
	// Secret reports whether a text holds something that must not leave.
	Secret func(text string) bool
}

// Spec describes the tool.
func (t *Tool) Spec() model.ToolSpec {
	return model.ToolSpec{
		Name: "message", Description: strings.TrimSpace(description),
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"action":{"type":"string","enum":["send","edit","delete","react","poll","pin","unpin","read","search"],"description":"default send"},` +
			`"channel":{"type":"string","description":"the network; default: the one that the person uses here, or the only one"},` +
			`"target":{"type":"string","description":"the chat's id there; default: this chat, when it is on a network"},` +
			`"message":{"type":"string","description":"Markdown; with media, its caption"},` +
			`"media":{"type":"string","description":"a file to send: a path in the workspace, or an https address"},` +
			`"accountId":{"type":"string"},"threadId":{"type":"string"},` +
			`"messageId":{"type":"string","description":"of edit, delete, react, pin, unpin: the message's id there; ` +
			`without it react, pin and unpin mean the message that you answer"},` +
			`"emoji":{"type":"string","description":"of react; empty takes ours away"},` +
			`"pollQuestion":{"type":"string"},"pollOption":{"type":"array","items":{"type":"string"}},"pollMulti":{"type":"boolean"},` +
			`"pollDurationHours":{"type":"number"},` +
			`"limit":{"type":"integer","description":"of read and search: how many, 20 without it"},` +
			`"query":{"type":"string","description":"of search: words that a message has"},` +
			`"before":{"type":"string","description":"of read: the id of the message before which to read"}},` +
			`"additionalProperties":false}`),
	}
}

// Run sends one message, or does something about one.
func (t *Tool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var raw struct {
		Action, Channel, Target, Message, Media, File, AccountID, ThreadID string
		actArgs
	}
	if err := json.Unmarshal(call.Args, &raw); err != nil {
		return tool.Result{}, fmt.Errorf("the arguments are not what this tool takes: %w", err)
	}
	words, ref := strings.TrimSpace(raw.Message), strings.TrimSpace(cmp.Or(raw.Media, raw.File))
	act, other := raw.act(raw.Action, words)
	switch {
	case !call.Owner || call.Group || call.Relayed || call.Depth > 0:
		return tool.Result{}, errors.New("not sent: only the owner's own words in a direct chat make Hearth write to people")
	case raw.Action != "" && raw.Action != "send" && !other:
		return tool.Result{}, fmt.Errorf("the action %q is not known; %s are",
			text.Ellipsis(raw.Action, 60), strings.Join(actions(), ", "))
	case other:
		if err := t.checkAct(act, ref); err != nil {
			return tool.Result{}, err
		}
	case words == "" && ref == "":
		return tool.Result{}, errors.New("the message is empty")
	case len(words) > maxText:
		return tool.Result{}, fmt.Errorf("the message has %d bytes, at most %d can be sent at once", len(words), maxText)
	case !utf8.ValidString(words+ref) || strings.ContainsFunc(words+ref, hidden):
		return tool.Result{}, errors.New("the message holds characters that nobody can see; send plain text")
	case t.Secret != nil && (t.Secret(words) || t.Secret(ref)):
		return tool.Result{}, errors.New("the message holds one of the owner's keys or passwords, so it was not sent; leave it out")
	}
	to := To{Channel: strings.ToLower(raw.Channel), Account: raw.AccountID, Target: raw.Target, Thread: raw.ThreadID}
	for _, part := range []string{to.Channel, to.Account, to.Target, to.Thread} {
		if len(part) > maxName || strings.ContainsFunc(part, func(r rune) bool {
			return unicode.IsControl(r) || unicode.IsSpace(r) ||
				hidden(r)
		}) {
			return tool.Result{}, fmt.Errorf("%q cannot be a channel, an account or a chat's id", text.Ellipsis(part, 60))
		}
	}
	to, err := t.Post.Find(call, to)
	if err != nil {
		return tool.Result{}, err
	}
	if other {
		return t.do(ctx, call, to, act)
	}
	var files []File
	if ref != "" {
		f, err := t.Post.Attach(call, to, ref)
		if err != nil {
			return tool.Result{}, fmt.Errorf("%s was not sent: %w", text.Ellipsis(ref, 60), err)
		}
		files = append(files, f)
	}
	if err := t.Post.Permit(ctx, call, to, words, files); err != nil {
		return tool.Result{}, err
	}
	fate, err := t.Post.Send(ctx, call, to, words, files)
	if err != nil {
		return tool.Result{}, fmt.Errorf("the message to %s was not accepted for sending: %w", to, err)
	}
	return told(to, fate)
}

func told(to To, f Fate) (tool.Result, error) {
	details, err := json.Marshal(map[string]any{"to": to, "delivery": f})
	if err != nil {
		return tool.Result{}, fmt.Errorf("tell of the delivery: %w", err)
	}
	res := tool.Result{Details: details}
	switch f.State {
	case "delivered":
		res.Text = fmt.Sprintf("Delivered to %s.", to)
		if f.MessageID != "" {
			res.Text = fmt.Sprintf("Delivered to %s, as message %s.", to, f.MessageID)
		}
	case "failed":
		return res, fmt.Errorf("%s did not take it: %s. It stands among the undelivered messages, where the owner can send it again; do not "+
			"repeat it", to, f.Reason)
	case "uncertain":
		res.Text = fmt.Sprintf("Nobody knows whether it reached %s (%s). The owner decides about it; do not send it again.", to, f.Reason)
	default:
		res.Text = fmt.Sprintf("Accepted, on its way to %s; it is tried until it arrives. Do not send it again.", to)
		if f.Reason != "" {
			res.Text += " So far: " + f.Reason + "."
		}
	}
	return res, nil
}

// hidden characters show nothing and can carry text to whoever looks for it.
func hidden(r rune) bool {
	return r >= 0xE0000 && r <= 0xE0FFF || r == 0x00 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
