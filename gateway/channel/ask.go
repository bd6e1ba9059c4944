package channel

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"
)

// Asker asks a person for what logs its account in: a code to scan, say. It is found
// by type assertion, as a Reporter is.
type Asker interface {
	// Asking is what it asks now; the zero Ask is nothing.
	Asking() Ask
}

// Confirmer is an Asker that takes the answer to an AskConfirm or AskDecide. value is what
// the person saw, and yes whether it was the same on their other device, or what they say
// to the question.
type Confirmer interface {
	Confirm(ctx context.Context, value string, yes bool) error
}

// LoginAsker is an Asker that is told when a person wants to log its account in, and may
// ask for something then that it does not ask for by itself.
type LoginAsker interface {
	Login(ctx context.Context) error
}

// LogOuter ends the login of its account at the network and forgets what it kept of it: a
// linked device is taken off, a session ends. ErrAuth means that there is no login any
// more. It is called while Run runs, which goes on waiting for its end.
type LogOuter interface {
	LogOut(ctx context.Context) error
}

// Ask is what a person has to do at their network, until it ends, another takes its
// place, or it is taken back.
type Ask struct {
	Kind  AskKind
	Value string // what is scanned, typed, opened or read
	Words string // what to do with it
	Until time.Time
}

// AskKind is what a person does with an Ask.
type AskKind string

// Kinds of asks.
const (
	AskQR   AskKind = "qr"   // Value is scanned with another device, as a QR code
	AskCode AskKind = "code" // Value is typed into another device
	AskURL  AskKind = "url"  // Value is opened in a browser
	AskText AskKind = "text" // Value is read, and compared or done
	// AskConfirm is compared with what another device shows, and answered here: Confirmer.
	AskConfirm AskKind = "confirm"
	// AskDecide is read, and a question about it answered here with yes or no: Confirmer.
	AskDecide AskKind = "decide"
)

// Answered reports whether a person answers it here, by Confirmer, instead of elsewhere.
func (k AskKind) Answered() bool { return k == AskConfirm || k == AskDecide }

// Bounds of an ask. More does not fit into a QR code that a camera reads.
const (
	mostAskValue = 2000
	mostAskWords = 600
	LongestAsk   = 15 * time.Minute
)

// At is the ask at a time: nothing when it has ended.
func (a Ask) At(now time.Time) Ask {
	if a.Kind == "" || !now.Before(a.Until) {
		return Ask{}
	}
	return a
}

// Check says why an ask cannot be shown.
func (a Ask) Check(now time.Time) error {
	switch a.Kind {
	case AskQR, AskCode, AskURL, AskText, AskConfirm, AskDecide:
	default:
		return errors.New("its kind is none of qr, code, url, text, confirm and decide")
	}
	plain := func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control)) }
	switch {
	case strings.TrimSpace(a.Value) == "" || len(a.Value) > mostAskValue || len(a.Words) > mostAskWords:
		return errors.New("its value has 1 to 2,000 bytes, its text at most 600")
	case strings.ContainsFunc(a.Value+a.Words, plain) || a.Kind != AskText && strings.Contains(a.Value, "\n"):
		return errors.New("it has signs that cannot be shown")
	case a.Kind == AskURL && !strings.HasPrefix(a.Value, "https://") && !strings.HasPrefix(a.Value, "http://"):
		return errors.New("its address begins with neither https:// nor http://")
	case !now.Before(a.Until) || a.Until.Sub(now) > LongestAsk:
		return errors.New("it ends in 1 millisecond to 15 minutes")
	}
	return nil
}
