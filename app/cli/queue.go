package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

func newQueue(a *app) *cobra.Command {
	q := &queue{app: a}
	list := func(ctx context.Context, _ []string) error { return q.list(ctx) }
	c := group("queue", "See, change and cancel messages that wait for their answer",
		&cobra.Command{Use: "list", Short: "List the messages that wait, in their order", Args: cobra.NoArgs, RunE: a.run(list)},
		&cobra.Command{Use: "edit ID TEXT…", Short: "Give a waiting message other words", Args: cobra.MinimumNArgs(2), RunE: a.run(q.edit)},
		&cobra.Command{Use: "cancel ID", Short: "Take a message back, or stop its answer", Args: cobra.ExactArgs(1), RunE: a.run(q.cancel)},
		&cobra.Command{Use: "mode [MODE] [OPTION…]", Short: "Show or change what happens to messages that come while another is answered",
			Long: "Shows or changes what happens to messages that come while another is answered:\n\n" +
				"  steer      they join the running answer at its next tool, or are answered next\n  followup   they are answered next, one by one\n" +
				"  collect    they are answered next, together\n  interrupt  they stop the running answer\n  default    as the settings say\n\n" +
				"Options: debounce:2s cap:25 drop:old|new|summarize",
			RunE: a.run(q.mode)},
	)
	c.RunE = a.run(list)
	c.PersistentFlags().StringVar(&q.session, "session", "", "of this conversation (default: the main one)")
	return c
}

// queue is one conversation's waiting messages.
type queue struct {
	app     *app
	session string
	c       *client.Client
}

func (q *queue) open(ctx context.Context, scopes ...protocol.Scope) (err error) {
	if q.c, err = q.app.dial(ctx, client.Options{Scopes: scopes}); err != nil {
		return err
	}
	if q.session == "" {
		q.session = mainSession(q.c.Hello())
		return nil
	}
	if err = sessionThere(ctx, q.c, q.session); err != nil {
		_ = q.c.Close()
	}
	return err
}

// waitingJSON is one message of `queue list --json`.
type waitingJSON struct {
	ID    string `json:"id"`
	State string `json:"state"`
	At    int64  `json:"at"`
	Text  string `json:"text"`
}

// waiting reads the messages that have no answer yet.
func (q *queue) waiting(ctx context.Context) ([]waitingJSON, error) {
	h, err := readHistory(ctx, q.c, q.session, "", historyPage)
	out := []waitingJSON{}
	for i := range h.Messages {
		m := &h.Messages[i]
		if m.Role != protocol.MessageUser || m.Hearth == nil || m.Meta == nil {
			continue
		}
		if s := m.Hearth.State; s == protocol.ReceiptAccepted || s == protocol.ReceiptAnswering {
			out = append(out, waitingJSON{m.Meta.RunID, string(s), m.Timestamp, m.Text()})
		}
	}
	return out, err
}

func (q *queue) list(ctx context.Context) error {
	if err := q.open(ctx, protocol.ScopeRead); err != nil {
		return err
	}
	defer q.c.Close()
	msgs, err := q.waiting(ctx)
	if err != nil {
		return err
	}
	if q.app.asJSON {
		return q.app.out().json(map[string]any{"sessionKey": q.session, "messages": msgs})
	}
	if len(msgs) == 0 {
		return q.app.out().print("No message waits.\n")
	}
	var rows [][]string
	for _, m := range msgs {
		state := "waits"
		if m.State == string(protocol.ReceiptAnswering) {
			state = "is answered"
		}
		rows = append(rows, []string{m.ID, state, stamp(m.At), text.Ellipsis(line(m.Text), 200)})
	}
	return q.app.out().table([]string{"ID", "STATE", "SINCE", "MESSAGE"}, rows)
}

// find completes the beginning of an id.
func (q *queue) find(ctx context.Context, id string) (string, error) {
	msgs, err := q.waiting(ctx)
	if err != nil {
		return "", err
	}
	found := ""
	for _, m := range msgs {
		switch {
		case m.ID == id && id != "":
			return id, nil
		case len(id) < leastOfID:
		case strings.HasPrefix(m.ID, id) && found != "":
			return "", &failure{exitFailure, "more than one message has an id that begins with " + line(id), "give more of it; `hearth queue` " +
				"lists them"}
		case strings.HasPrefix(m.ID, id):
			found = m.ID
		}
	}
	if found == "" {
		return "", notWaiting(id)
	}
	return found, nil
}

// leastOfID is how much of an id has to be given, so that a slip names nothing.
const leastOfID = 4

func notWaiting(id string) error {
	return &failure{exitFailure, "no message " + line(id) + " waits", "it may have been answered; `hearth why " + line(id) + "` tells what " +
		"became of it"}
}

func (q *queue) edit(ctx context.Context, args []string) error {
	if err := q.open(ctx, protocol.ScopeRead, protocol.ScopeWrite); err != nil {
		return err
	}
	defer q.c.Close()
	id, err := q.find(ctx, args[0])
	if err != nil {
		return err
	}
	var res protocol.OKResult
	p := protocol.QueueEditParams{Key: q.session, RunID: id, Message: strings.Join(args[1:], " ")}
	if err := q.c.Call(ctx, protocol.MethodQueueEdit, p, &res); err != nil {
		if refused(err, "NOT_WAITING") {
			return &failure{exitFailure, "this message is being answered already, so it was not changed", "send a new one, or take it back with " +
				"`hearth queue cancel " + line(id) + "`"}
		}
		return err
	}
	return q.done(res, "Changed.")
}

func (q *queue) cancel(ctx context.Context, args []string) error {
	if err := q.open(ctx, protocol.ScopeRead, protocol.ScopeWrite); err != nil {
		return err
	}
	defer q.c.Close()
	id, err := q.find(ctx, args[0])
	if err != nil {
		return err
	}
	var res protocol.ChatAbortResult
	if err := q.c.Call(ctx, protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: q.session, RunID: id}, &res); err != nil {
		return err
	}
	if !res.Aborted {
		return notWaiting(id)
	}
	return q.done(res, "Taken back. The message stays in the conversation, marked as stopped.")
}

// mode carries out /queue, so that there is one place that knows its words.
func (q *queue) mode(ctx context.Context, args []string) error {
	if err := q.open(ctx, protocol.ScopeRead, protocol.ScopeWrite); err != nil {
		return err
	}
	defer q.c.Close()
	run := rand.Text()
	text := strings.TrimSpace("/queue " + strings.Join(args, " "))
	var sent protocol.ChatSendResult
	if err := q.c.Call(ctx, protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: q.session, Message: text, IdempotencyKey: run},
		&sent); err != nil {
		return err
	}
	h, err := readHistory(ctx, q.c, q.session, "", historyPage)
	if err != nil {
		return err
	}
	reply := ""
	for i := range h.Messages {
		if m := &h.Messages[i]; m.Role == protocol.MessageAssistant && m.Meta != nil && m.Meta.RunID == run {
			reply = strings.ReplaceAll(m.Text(), "**", "")
		}
	}
	if why, bad := strings.CutPrefix(reply, "Not changed: "); bad {
		return &failure{exitFailure, strings.TrimSuffix(why, "."), "`hearth queue mode --help` tells what there is"}
	}
	return q.done(map[string]any{"ok": true, "sessionKey": q.session, "message": reply}, reply)
}

func (q *queue) done(v any, words string) error {
	if q.app.asJSON {
		return q.app.out().json(v)
	}
	return q.app.out().print(words, "\n")
}

// refused reports a refusal of the gateway with this code.
func refused(err error, code string) bool {
	var e *protocol.Error
	return errors.As(err, &e) && e.Details["code"] == code
}
