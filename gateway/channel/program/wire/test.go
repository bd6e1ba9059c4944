package wire

import (
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

// TestFaults are what happens to the next requests to the test network.
type TestFaults struct {
	Faults []TestFault `json:"faults"`
}

// TestFault is one of them: on is send, edit, delete, react, typing or any ("").
type TestFault struct {
	On      loopback.Op   `json:"on,omitempty"`
	Kind    loopback.Kind `json:"kind"`
	AfterMs int64         `json:"afterMs,omitempty"`
}

// TestArrived is somebody writing to us on the test network.
type TestArrived struct {
	InboundParams
	Files []TestFile `json:"files,omitempty"`
}

// TestFile is a file with what is in it.
type TestFile struct {
	Name string `json:"name"`
	MIME string `json:"mime,omitempty"`
	Blob []byte `json:"blob"`
}

// TestTakenResult says whether the network was told that a message was taken.
type TestTakenResult struct {
	Taken bool `json:"taken"`
}

// TestSeen is what people see on the test network, in order.
type TestSeen struct {
	Messages []TestMessage `json:"messages"`
}

// TestMessage is one message of ours.
type TestMessage struct {
	MessageID string     `json:"messageId"`
	To        Recipient  `json:"to"`
	Text      string     `json:"text"`
	Files     []TestFile `json:"files,omitempty"`
	Reactions []string   `json:"reactions,omitempty"`
	Deleted   bool       `json:"deleted,omitempty"`
	// Choices are its buttons, Words what was said to who pressed one, Options those of
	// a poll.
	Choices []ChoiceParams `json:"choices,omitempty"`
	Words   []string       `json:"words,omitempty"`
	Options []string       `json:"options,omitempty"`
	Pinned  bool           `json:"pinned,omitempty"`
	Silent  bool           `json:"silent,omitempty"` // it came without a sound
}

// FaultOf writes a fault for the wire.
func FaultOf(f loopback.Fault) TestFault {
	return TestFault{On: f.On, Kind: f.Kind, AfterMs: f.After.Milliseconds()}
}

// Loopback reads it.
func (f TestFault) Loopback() loopback.Fault {
	return loopback.Fault{On: f.On, Kind: f.Kind, After: time.Duration(f.AfterMs) * time.Millisecond}
}

// SeenOf writes a message for the wire.
func SeenOf(m loopback.Message) TestMessage {
	out := TestMessage{MessageID: m.ID, Text: m.Text, Reactions: m.Reactions, Deleted: m.Deleted, Choices: ChoicesOf(m.Choices),
		Words: m.Words, Options: m.Options, Pinned: m.Pinned, Silent: m.Silent,
		To: Recipient{Conversation: m.To.Conversation, Thread: m.To.Thread, ReplyTo: m.To.ReplyTo}}
	for _, f := range m.Files {
		out.Files = append(out.Files, TestFile{f.Name, f.MIME, f.Content})
	}
	return out
}

// Loopback reads it.
func (m TestMessage) Loopback() loopback.Message {
	out := loopback.Message{ID: m.MessageID, Text: m.Text, Reactions: m.Reactions, Deleted: m.Deleted, Choices: Choices(m.Choices),
		Words: m.Words, Options: m.Options, Pinned: m.Pinned, Silent: m.Silent,
		To: channel.Target{Conversation: m.To.Conversation, Thread: m.To.Thread, ReplyTo: m.To.ReplyTo}}
	for _, f := range m.Files {
		out.Files = append(out.Files, loopback.File{Name: f.Name, MIME: f.MIME, Content: f.Blob})
	}
	return out
}
