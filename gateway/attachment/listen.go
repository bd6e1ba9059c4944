package attachment

import (
	"context"
	"errors"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/inbound/envelope"
)

// Heard is what was heard in a sound.
type Heard struct {
	Text string
	By   string // who wrote it down, for people
	Cut  bool   // there was more
}

// ErrDeaf: nobody is to listen to sounds.
var ErrDeaf = errors.New("nobody listens to sounds here")

// Listen writes down what is said in a sound.
type Listen func(ctx context.Context, m channel.Media, data []byte) (Heard, error)

// Listen has the sounds among the files written down. own says that their sender
// said what they recorded for this message: not so what was passed on.
func (t Taker) Listen(ctx context.Context, files []File, listen Listen, own bool) error {
	for i := range files {
		f := &files[i]
		if f.sound == nil {
			continue
		}
		heard, err := listen(ctx, f.Media, f.sound)
		f.sound = nil
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ErrDeaf): // the words that it has say so
		case err != nil:
			f.Unheard = err.Error()
			f.Words = strings.TrimSuffix(f.Words, unheard) + " It could not be written down: " + envelope.Clean(err.Error(), "") +
				". You do not know what is said in it. Say so, and ask for the words, unless they do not matter."
		default:
			t.heard(f, heard, own && f.Voice)
		}
	}
	return nil
}

// heard puts what was heard into the words of a file. What its sender recorded is
// theirs to say; everything else is a text from outside.
func (t Taker) heard(f *File, h Heard, own bool) {
	f.Spoken = envelope.Clean(h.Text, "")
	f.Words = strings.TrimSuffix(f.Words, unheard)
	cut := ""
	if h.Cut {
		cut = ", as far as it is given"
	}
	if !own {
		f.Words += " What is said in it" + cut + ", written down by " + envelope.Label(h.By) + ":\n" +
			t.Wrap.Wrap("sound "+f.Name+" that came with the message", h.Text)
		return
	}
	f.Words += " Its sender said it, and " + envelope.Label(h.By) + " wrote it down" + cut + "; it may have misheard:\n" + f.Spoken
}
