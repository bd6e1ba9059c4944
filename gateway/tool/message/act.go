package message

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

// Action is what is done besides sending.
type Action string

// The actions.
const (
	Edit   Action = "edit"
	Delete Action = "delete"
	React  Action = "react"
	Poll   Action = "poll"
	Pin    Action = "pin"
	Unpin  Action = "unpin"
	Read   Action = "read"
	Search Action = "search"
)

// actions are all there are, for people and models.
func actions() []string {
	return []string{"send", string(Edit), string(Delete), string(React), string(Poll), string(Pin), string(Unpin), string(Read),
		string(Search)}
}

// Act is an action with what it needs.
type Act struct {
	Do        Action
	MessageID string
	Text      string // of an edit, or the question of a poll
	Emoji     string
	Options   []string
	Multiple  bool
	Open      time.Duration
	Limit     int
	Before    string
	Words     string // that are searched for
	// Of a poll: it comes without a sound, and everybody sees who chose what.
	Silent bool `json:",omitempty"`
	Public bool `json:",omitempty"`
}

// Bounds of actions.
const (
	usualRead = 20
	mostRead  = 100
	mostAsked = 20 // answers of a poll
	mostWords = 256
)

// actArgs are their arguments, as models write them.
type actArgs struct {
	MessageID, Emoji, PollQuestion, Before, Query string
	PollOption                                    []string
	PollMulti                                     bool
	PollDurationHours                             float64
	Limit                                         int
}

// act is what the arguments ask for; ok is false when it is nothing but sending.
func (a actArgs) act(action, words string) (out Act, ok bool) {
	do := Action(action)
	if action == "" || action == "send" || !slices.Contains(actions(), action) {
		return out, false
	}
	out = Act{Do: do, MessageID: a.MessageID, Text: words, Emoji: strings.TrimSpace(a.Emoji), Multiple: a.PollMulti, Before: a.Before,
		Words: strings.TrimSpace(a.Query), Limit: min(a.Limit, mostRead)}
	if out.Limit <= 0 {
		out.Limit = usualRead
	}
	if do == Poll {
		if q := strings.TrimSpace(a.PollQuestion); q != "" {
			out.Text = q
		}
		for _, o := range a.PollOption {
			out.Options = append(out.Options, strings.TrimSpace(o))
		}
		out.Open = time.Duration(min(max(a.PollDurationHours, 0), 24*32) * float64(time.Hour))
	}
	return out, true
}

// checkAct refuses an action that lacks something, or holds what must not leave.
func (t *Tool) checkAct(a Act, media string) error {
	all := strings.Join(append([]string{a.Text, a.Emoji, a.MessageID, a.Before, a.Words}, a.Options...), "\n")
	switch {
	case a.Do == Edit && a.Text == "":
		return errors.New("message is missing: what it should say")
	case a.Do == Poll && (a.Text == "" || len(a.Options) < 2 || len(a.Options) > mostAsked || slices.Contains(a.Options, "")):
		return fmt.Errorf("a poll needs pollQuestion and 2 to %d answers in pollOption", mostAsked)
	case a.Do == Search && (a.Words == "" || len(a.Words) > mostWords):
		return fmt.Errorf("search needs query: 1 to %d bytes that messages have in them", mostWords)
	case media != "":
		return fmt.Errorf("%s takes no file", a.Do)
	case len(all) > maxText:
		return fmt.Errorf("it has %d bytes, at most %d can be sent at once", len(all), maxText)
	case len(a.MessageID) > maxName || len(a.Before) > maxName || len(a.Emoji) > maxName:
		return errors.New("messageId, before or emoji is too long to be one")
	case !utf8.ValidString(all) || strings.ContainsFunc(all, hidden):
		return errors.New("it holds characters that nobody can see; use plain text")
	case t.Secret != nil && t.Secret(all):
		return errors.New("it holds one of the owner's keys or passwords, so nothing was done; leave it out")
	}
	return nil
}

// do carries an action out that was permitted.
func (t *Tool) do(ctx context.Context, call tool.Call, to To, a Act) (tool.Result, error) {
	if a.MessageID == "" && (a.Do == React || a.Do == Pin || a.Do == Unpin) {
		a.MessageID = t.Post.Answered(call, to)
	}
	if a.MessageID == "" && a.Do != Poll && a.Do != Read && a.Do != Search {
		return tool.Result{}, fmt.Errorf("messageId is missing: which message to %s", a.Do)
	}
	if err := t.Post.PermitAct(ctx, call, to, a); err != nil {
		return tool.Result{}, err
	}
	said, err := t.Post.Act(ctx, call, to, a)
	if err != nil {
		return tool.Result{}, err
	}
	if a.Do == Read || a.Do == Search {
		said = untrusted.Wrapper{}.Wrap("messages of "+to.String(), said)
	}
	return tool.Text(said), nil
}
