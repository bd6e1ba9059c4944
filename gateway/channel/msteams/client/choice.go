package client

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/markup"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Adaptive Cards, of which Teams shows version 1.5 and a row of six buttons.
const (
	cardType     = "application/vnd.microsoft.card.adaptive"
	cardSchema   = "http://adaptivecards.io/schemas/adaptive-card.json"
	inRow        = 5
	longestLabel = 60
	verb         = "hearthChoice"
	mostWords    = 2000 // that are said to who pressed
)

type card struct {
	Schema  string `json:"$schema"`
	Type    string `json:"type"` // AdaptiveCard
	Version string `json:"version"`
	Body    []row  `json:"body"`
}

type row struct {
	Type    string   `json:"type"` // ActionSet
	Actions []button `json:"actions"`
}

// button is an Action.Execute: Teams waits for the answer, and shows it to who pressed
// alone. Programs that do not know it take its fallback, an Action.Submit.
type button struct {
	Type     string      `json:"type"`
	Title    string      `json:"title"`
	Verb     string      `json:"verb,omitempty"`
	Style    string      `json:"style,omitempty"`
	Data     pressedData `json:"data"`
	Fallback *button     `json:"fallback,omitempty"`
}

// pressedData comes back when a button is pressed.
type pressedData struct {
	Choice string `json:"hearthChoice"`
}

// buttons are the choices of a message, as a card below its text.
func buttons(all []channel.Choice) (a attachment, err error) {
	if len(all) > msteams.Limits.Choices {
		return a, refused("there are %d buttons, at most %d stand below a message", len(all), msteams.Limits.Choices)
	}
	out := card{Schema: cardSchema, Type: "AdaptiveCard", Version: "1.4"}
	for i, c := range all {
		if c.Label == "" || c.Data == "" || len(c.Data) > channel.MaxChoiceData {
			return a, refused("the button %q has no label, or its data is empty or too long", text.Ellipsis(c.Label, 40))
		}
		title := text.Ellipsis(strings.ToValidUTF8(c.Label, "\uFFFD"), longestLabel-1)
		b := button{Type: "Action.Submit", Title: title, Data: pressedData{c.Data}}
		switch c.Tone {
		case channel.Good:
			b.Style = "positive"
		case channel.Danger:
			b.Style = "destructive"
		}
		if i%inRow == 0 {
			out.Body = append(out.Body, row{Type: "ActionSet"})
		}
		whole := b
		whole.Type, whole.Verb, whole.Fallback = "Action.Execute", verb, &b
		last := &out.Body[len(out.Body)-1]
		last.Actions = append(last.Actions, whole)
	}
	return attachment{Type: cardType, Content: out}, nil
}

// choiceOf is the data of a button of ours that was pressed; "" for everything else.
func choiceOf(ev event) string {
	if len(ev.Value) == 0 {
		return ""
	}
	var p pressedData
	if ev.Type == "invoke" {
		var v struct {
			Action struct {
				Verb string      `json:"verb"`
				Data pressedData `json:"data"`
			} `json:"action"`
		}
		if ev.Name != "adaptiveCard/action" || json.Unmarshal(ev.Value, &v) != nil || v.Action.Verb != verb {
			return ""
		}
		p = v.Action.Data
	} else if json.Unmarshal(ev.Value, &p) != nil {
		return ""
	}
	if len(p.Choice) > channel.MaxChoiceData {
		return ""
	}
	return p.Choice
}

// Settle takes the buttons of a message away: what it is changed to has no card.
func (c *Client) Settle(ctx context.Context, to channel.Target, messageID, words string) error {
	return c.Edit(ctx, to, messageID, words)
}

// Answer says words to who pressed a button. Where Teams waits for them no longer, they
// stand in the conversation, for everybody.
func (c *Client) Answer(ctx context.Context, to channel.Target, _ string, p channel.Press, words string) error {
	if !msteams.IsActivity(p.MessageID) {
		return refused("%q is no message", text.Ellipsis(p.MessageID, 40))
	}
	words = markup.Plain(text.Ellipsis(words, mostWords))
	if c.presses.tell(p.ID, words) {
		return nil
	}
	_, err := c.post(ctx, to, p.MessageID, activity{Type: "message", Format: "plain", Text: words})
	return err
}
