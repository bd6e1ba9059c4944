package protocol

import (
	"cmp"
	"encoding/json"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Message is one transcript entry as clients see it and as the store keeps it.
type Message struct {
	Role           string  `json:"role"` // user, assistant, toolResult, system
	Content        []Block `json:"content"`
	Timestamp      int64   `json:"timestamp"` // ms
	IdempotencyKey string  `json:"idempotencyKey,omitempty"`
	Provider       string  `json:"provider,omitempty"`
	Model          string  `json:"model,omitempty"`
	StopReason     string  `json:"stopReason,omitempty"`
	Usage          *Usage  `json:"usage,omitempty"`
	ToolCallID     string  `json:"toolCallId,omitempty"`
	ToolName       string  `json:"toolName,omitempty"`
	IsError        bool    `json:"isError,omitempty"`
	// ParentToolCallID is set on the result of a call that a program made in code
	// mode: the call that ran the program. Models are not sent it.
	ParentToolCallID string `json:"parentToolCallId,omitempty"`
	// Details of a tool's result are for surfaces: a diff, an exit code.
	Details json.RawMessage `json:"details,omitempty"`
	// DurationMs is ours: how long a tool ran, without the time that it waited for
	// a person's yes.
	DurationMs int64 `json:"hearthDurationMs,omitempty"`
	// ForAgent is ours: what the model reads in place of the content, when the two
	// differ (an envelope around a channel's message, a greeting after /new).
	ForAgent string `json:"hearthForAgent,omitempty"`
	// ExcludeFromContext marks what models never see: commands and their replies.
	ExcludeFromContext bool `json:"excludeFromContext,omitempty"`
	// Origin is ours: where a person's message came from; nil: the gateway's own
	// clients. Models are not sent it.
	Origin *MessageOrigin `json:"hearthOrigin,omitempty"`
	// AnswersTo is ours: where the answer goes, when that is not where the message
	// came from; its sender is who is answered.
	AnswersTo *MessageOrigin `json:"hearthAnswersTo,omitempty"`
	// Provenance is set on words that no person wrote here.
	Provenance   *Provenance     `json:"provenance,omitempty"`
	ErrorMessage string          `json:"errorMessage,omitempty"`
	Meta         *MessageMeta    `json:"__openclaw,omitempty"`
	Hearth       *MessageReceipt `json:"hearth,omitempty"`
	// Versions is ours, on what begins a turn: the messages in whose place it stands,
	// and that stand in its place on other branches. It is not stored.
	Versions *MessageVersions `json:"hearthVersions,omitempty"`
}

// MessageVersions are the versions of a message, in the order in which they were
// written.
type MessageVersions struct {
	At      int      `json:"at"`      // which one this is, from 1
	Entries []string `json:"entries"` // ids, for sessions.branches.switch
	Same    bool     `json:"same"`    // they have the same words: only the answers differ
}

// MessageOrigin says from which messaging network a message came, and from whom.
type MessageOrigin struct {
	Channel   string `json:"channel"`
	AccountID string `json:"accountId,omitempty"`
	Sender    string `json:"sender,omitempty"` // as they call themselves
	SenderID  string `json:"senderId,omitempty"`
	Owner     bool   `json:"owner,omitempty"`
	Group     string `json:"group,omitempty"` // what it is called; "" in direct chats
}

// ChannelHook is the channel of what other programs sent by hooks.
const ChannelHook = "hook"

// Speaker is who said a user's message; "" for the owner of the conversation.
func (m *Message) Speaker() string {
	o := m.Origin
	if o == nil || o.Owner {
		return ""
	}
	name := cmp.Or(o.Sender, o.SenderID, "Somebody")
	if o.Channel == ChannelHook {
		return "Webhook " + name
	}
	return name + " on " + o.Channel
}

// Provenance says where words come from that stand in a person's place.
type Provenance struct {
	Kind             string `json:"kind"` // ProvenanceSession
	SourceSessionKey string `json:"sourceSessionKey,omitempty"`
	SourceTool       string `json:"sourceTool,omitempty"`
}

// ProvenanceSession is the kind of words that another session sent.
const ProvenanceSession = "inter_session"

// Message roles.
const (
	MessageUser       = "user"
	MessageAssistant  = "assistant"
	MessageToolResult = "toolResult"
	MessageSystem     = "system"
)

// Block is one part of a message; Type tells which fields are set.
type Block struct {
	Type     string `json:"type"` // text, thinking, toolCall, image, file
	Text     string `json:"text,omitempty"`
	Thinking string `json:"thinking,omitempty"`
	// ThinkingSignature is what the model service wants back with its reasoning;
	// it stays in the transcript and is not sent to clients.
	ThinkingSignature string          `json:"thinkingSignature,omitempty"`
	ID                string          `json:"id,omitempty"`
	Name              string          `json:"name,omitempty"`
	Arguments         json.RawMessage `json:"arguments,omitempty"`
	ParentID          string          `json:"parentId,omitempty"` // of a toolCall of a program: the call that ran the program
	ToolID            string          `json:"toolId,omitempty"`   // and what the program called, as its catalogue names it
	// of an image
	MimeType string `json:"mimeType,omitempty"`
	FileName string `json:"fileName,omitempty"`
	MediaID  string `json:"mediaId,omitempty"` // what the gateway keeps it under
	Width    int    `json:"width,omitempty"`
	Height   int    `json:"height,omitempty"`
	// File is ours: what became of a file of the message. Its block's Text is what the
	// model is told of it; it stays in the transcript and is not sent to clients.
	File *AttachedFile `json:"hearthFile,omitempty"`
}

// Block types.
const (
	BlockText     = "text"
	BlockThinking = "thinking"
	BlockToolCall = "toolCall"
	BlockImage    = "image"
	BlockFile     = "file"
)

// TextBlocks is content that is one text.
func TextBlocks(s string) []Block { return []Block{{Type: BlockText, Text: s}} }

// Text joins the text blocks of a message.
func (m *Message) Text() string {
	if len(m.Content) == 1 && m.Content[0].Type == BlockText {
		return m.Content[0].Text
	}
	var s string
	for _, b := range m.Content {
		if b.Type == BlockText {
			s += b.Text
		}
	}
	return s
}

// Nested reports whether the entry stands under a call in code mode.
func (m *Message) Nested() bool {
	return m.ParentToolCallID != "" || len(m.Content) == 1 && m.Content[0].ParentID != ""
}

// Usage is model.Usage with the sum that clients show.
type Usage struct {
	model.Usage
	TotalTokens int `json:"totalTokens"`
}

// MessageMeta places a message: ID is unique and stable, Seq rises within a
// session in conversation order.
type MessageMeta struct {
	ID             string `json:"id"`
	Seq            int64  `json:"seq"`
	RunID          string `json:"runId,omitempty"`
	IdempotencyKey string `json:"idempotencyKey,omitempty"`
	// Awaits is ours: a note that the next answer or heartbeat is to deal with.
	Awaits bool `json:"hearthAwaits,omitempty"`
}

// ReceiptState is the visible state of a person's message.
type ReceiptState string

const (
	ReceiptAccepted    ReceiptState = "accepted"    // durable, waits for its turn
	ReceiptAnswering   ReceiptState = "answering"   // its run is active
	ReceiptAnswered    ReceiptState = "answered"    // the final answer is durable
	ReceiptFailed      ReceiptState = "failed"      // ended with an error that is shown
	ReceiptAborted     ReceiptState = "aborted"     // stopped by the person
	ReceiptDropped     ReceiptState = "dropped"     // gave way in a full queue
	ReceiptInterrupted ReceiptState = "interrupted" // Hearth stopped while answering; partial text is kept
)

// MessageReceipt is ours: on user messages the state of their run, on
// assistant messages whether they are whole.
type MessageReceipt struct {
	State  ReceiptState `json:"state,omitempty"`
	Error  string       `json:"error,omitempty"`  // plain words, when State is failed
	Repair Repair       `json:"repair,omitempty"` // what can be done about it
	// BuiltIn marks words of the guide model, which every surface labels.
	BuiltIn bool `json:"builtIn,omitempty"`
}
