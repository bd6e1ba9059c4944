package wire

import (
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// AskParams is what a person has to do to log the account in; without a kind nothing
// is asked any more.
type AskParams struct {
	Kind      channel.AskKind `json:"kind,omitempty"`
	Value     string          `json:"value,omitempty"`
	Text      string          `json:"text,omitempty"`
	ExpiresMs int64           `json:"expiresMs,omitempty"` // from now
}

// AskOf writes an ask for the wire.
func AskOf(a channel.Ask, now time.Time) AskParams {
	if a = a.At(now); a.Kind == "" {
		return AskParams{}
	}
	return AskParams{Kind: a.Kind, Value: a.Value, Text: a.Words, ExpiresMs: a.Until.Sub(now).Milliseconds()}
}

// Channel reads it; the error says why it cannot be shown.
func (p AskParams) Channel(now time.Time) (channel.Ask, error) {
	if p.Kind == "" {
		return channel.Ask{}, nil
	}
	ms := min(max(p.ExpiresMs, 0), 2*channel.LongestAsk.Milliseconds())
	a := channel.Ask{Kind: p.Kind, Value: p.Value, Words: p.Text, Until: now.Add(time.Duration(ms) * time.Millisecond)}
	if err := a.Check(now); err != nil {
		return channel.Ask{}, err
	}
	return a, nil
}

// ConfirmParams is the answer to an ask of the kind confirm or decide: what was shown, and
// what the person says.
type ConfirmParams struct {
	Value string `json:"value"`
	Yes   bool   `json:"yes"`
}
