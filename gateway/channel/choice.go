package channel

import "context"

// Choice is a button below a message. Data comes back when it is pressed: at most
// MaxChoiceData letters, digits, ".", "-" and "_", no secret, and nothing that is
// believed without looking up what it stands for.
type Choice struct {
	Data  string
	Label string // what people read on it
	Tone  Tone
}

// MaxChoiceData is how long Data can be: what the narrowest network takes.
const MaxChoiceData = 64

// Tone is how a button looks, where the network can show it.
type Tone string

// Tones.
const (
	Plain  Tone = ""
	Good   Tone = "good"   // what is meant to be pressed
	Danger Tone = "danger" // what cannot be taken back, or a no
)

// Press is a button that was pressed: who pressed it stands in the Inbound that it
// comes with. Its zero value is none.
type Press struct {
	ID        string // of this press, the same when the network brings it again
	Data      string // of the Choice, as the network says
	MessageID string // of the message below which it stood
}

// Pressed reports whether a button was pressed.
func (p Press) Pressed() bool { return p.Data != "" }

// Chooser shows the Choices of a message, and brings what is pressed as an Inbound
// with a Press.
type Chooser interface {
	// Settle takes the buttons of a message away; from now on it reads text.
	// ErrRefused means that the message is gone or can no longer be changed.
	Settle(ctx context.Context, to Target, messageID, text string) error
	// Answer says a few words to whoever pressed a button, that nobody else sees
	// where the network can. It is asked once for each press, and soon.
	Answer(ctx context.Context, to Target, senderID string, p Press, text string) error
}
