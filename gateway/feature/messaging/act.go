package messaging

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/approval/sentence"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/message"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

const (
	// actTime bounds an action, with the waits that the network asks for.
	actTime = 30 * time.Second
	// mostWait is how long is waited when a network asks to.
	mostWait = 10 * time.Second
)

// PermitAct does not ask about the chat in which the owner said it, except about
// taking away what somebody else wrote: nobody brings that back.
func (p post) PermitAct(ctx context.Context, call tool.Call, to message.To, a message.Act) error {
	here, ok := p.here(call)
	same := ok && here.Channel == to.Channel && here.Account == to.Account && here.Conversation == to.Target
	if same && (a.Do != message.Delete || p.ours(to, a.MessageID)) {
		return nil
	}
	_, err := p.o.Gate.Permit(ctx, call, askAct(call, to, a))
	return err
}

// Answered is the message that a run answers, when it was said in that chat.
func (p post) Answered(call tool.Call, to message.To) string {
	rec, err := p.o.Sessions.Why("", call.RunID)
	if err != nil {
		return ""
	}
	here, ok := channel.ParseRoute(rec.Route)
	if !ok || here.Channel != to.Channel || here.Account != to.Account || here.Conversation != to.Target {
		return ""
	}
	return rec.ReplyTo
}

// ours reports whether a message was sent from here.
func (p post) ours(to message.To, messageID string) bool {
	_, _, ok := p.o.Deliverer.Sent(to.Channel, channel.Target{Account: to.Account, Conversation: to.Target}, messageID)
	return ok
}

// askAct is bound to the action and all that it says: a yes is for this one.
func askAct(call tool.Call, to message.To, a message.Act) approval.Ask {
	q := approval.For(approval.KindSend, call)
	q.Tool, q.Known = "message", true
	all := []string{to.Channel, to.Account, to.Target, to.Thread, string(a.Do), a.MessageID, a.Emoji, a.Before, a.Words, a.Text}
	q.Host = strings.Join(append(all, a.Options...), " ")
	q.Title = map[message.Action]string{
		message.Edit: "Change a message to ", message.Delete: "Delete a message of ", message.React: "Put an emoji on a message of ",
		message.Poll: "Make a poll for ", message.Pin: "Pin a message of ", message.Unpin: "Unpin a message of ",
		message.Read: "Read what was said in ", message.Search: "Search what was said in ",
	}[a.Do] + plan.Show(to.String())
	if c := map[message.Action]sentence.Code{
		message.Edit: "msg.edit", message.Delete: "msg.delete", message.React: "msg.react", message.Poll: "msg.poll", message.Pin: "msg.pin",
		message.Unpin: "msg.unpin", message.Read: "msg.read", message.Search: "msg.read",
	}[a.Do]; c != "" {
		q.Says = sentence.New(c, "to", to.String())
	}
	q.Lines = []string{"Where: " + plan.Show(to.String())}
	for _, f := range []struct{ name, value string }{
		{"Message", a.MessageID}, {"Before", a.Before}, {"Words", a.Words}, {"Emoji", a.Emoji}, {"Text", a.Text},
		{"Answers", strings.Join(a.Options, " · ")},
	} {
		for i, line := range strings.Split(f.value, "\n") {
			if i == 0 && line != "" {
				q.Lines = append(q.Lines, f.name+": "+plan.Show(line))
			} else if line != "" {
				q.Lines = append(q.Lines, "  "+plan.Show(line))
			}
		}
	}
	switch a.Do {
	case message.Delete:
		q.Warnings = []string{"What is deleted is gone for everybody there."}
	case message.Read, message.Search:
		q.Warnings = []string{"The model reads what people wrote there."}
	default:
		q.Warnings = []string{"The assistant has no standing leave to do this in this chat."}
	}
	return q
}

// Act does what was permitted.
func (p post) Act(ctx context.Context, call tool.Call, to message.To, a message.Act) (string, error) {
	ch := p.o.Networks.Find(to.Channel, to.Account)
	if ch == nil {
		return "", fmt.Errorf("%s is not connected any more; nothing was done", to)
	}
	ctx, cancel := context.WithTimeout(ctx, actTime)
	defer cancel()
	came, err := p.carryOut(ctx, ch, to, a, call.RunID+":poll:"+call.ID)
	if errors.Is(err, channel.ErrUncertain) {
		return "", fmt.Errorf("nobody knows whether it was done at %s (%w); do not repeat it, ask the person to look", to, err)
	}
	if err != nil {
		return "", fmt.Errorf("not done at %s: %w", to, err)
	}
	return came.words(a), nil
}

// outcome is what came of an action.
type outcome struct {
	messageID string // of a poll
	past      []channel.Past
	// lookedThrough: words were looked for here, in so many messages, and not by the network.
	lookedThrough bool
	looked        int
}

// words tell a model.
func (o outcome) words(a message.Act) string {
	switch {
	case a.Do == message.Edit:
		return "Changed."
	case a.Do == message.Delete:
		return "Deleted."
	case a.Do == message.Poll:
		return "The poll is there; its message is " + o.messageID + "."
	case a.Do == message.Read && len(o.past) == 0:
		return "Nothing was said there."
	case a.Do == message.Read:
		return listed(o.past)
	case a.Do == message.Search:
		return o.found()
	}
	return "Done."
}

// carryOut does what was permitted, once more where the network asks to wait a little. key
// is the action's.
func (p post) carryOut(ctx context.Context, ch channel.Channel, to message.To, a message.Act, key string) (outcome, error) {
	came, err := p.try(ctx, ch, to, a, key)
	var limit *channel.RateLimit
	if errors.As(err, &limit) && limit.After <= mostWait && sleep.For(ctx, limit.After) == nil {
		came, err = p.try(ctx, ch, to, a, key)
	}
	return came, err
}

// cannotError is an action that a network does not have.
type cannotError struct{ network, what string }

func (e *cannotError) Error() string {
	return fmt.Sprintf("on %s Hearth cannot %s, so nothing was done", e.network, e.what)
}

func (p post) cannot(to message.To, what string) error {
	return &cannotError{p.o.Networks.Kinds.Label(to.Channel), what}
}

func (p post) try(ctx context.Context, ch channel.Channel, to message.To, a message.Act, key string) (out outcome, err error) {
	at := p.routeTo(to).Target("")
	switch a.Do {
	case message.Edit:
		if e, ok := channel.AsEditor(ch); ok {
			return out, e.Edit(ctx, at, a.MessageID, a.Text)
		}
		return out, p.cannot(to, "change messages")
	case message.Delete:
		if d, ok := channel.AsDeleter(ch); ok {
			return out, d.Delete(ctx, at, a.MessageID)
		}
		return out, p.cannot(to, "delete messages")
	case message.React:
		if r, ok := channel.AsReactor(ch); ok {
			return out, r.React(ctx, at, a.MessageID, a.Emoji)
		}
		return out, p.cannot(to, "put emoji on messages")
	case message.Pin, message.Unpin:
		if n, ok := channel.AsPinner(ch); ok {
			return out, n.Pin(ctx, at, a.MessageID, a.Do == message.Pin)
		}
		return out, p.cannot(to, "pin messages")
	case message.Poll:
		return p.poll(ctx, ch, to, a, key)
	case message.Read:
		return p.read(ctx, ch, to, a)
	case message.Search:
		return p.search(ctx, ch, to, a)
	}
	return out, p.cannot(to, string(a.Do))
}

func (p post) poll(ctx context.Context, ch channel.Channel, to message.To, a message.Act, key string) (out outcome, err error) {
	asker, ok := channel.AsPoller(ch)
	if !ok {
		return out, p.cannot(to, "make polls: ask with a message and numbered answers")
	}
	r, err := asker.Poll(ctx, p.routeTo(to).Target(""), channel.Poll{Question: a.Text, Options: a.Options, Multiple: a.Multiple, Open: a.Open,
		Manner: channel.Manner{Silent: a.Silent, Public: a.Public}, Key: key})
	return outcome{messageID: r.MessageID}, err
}
