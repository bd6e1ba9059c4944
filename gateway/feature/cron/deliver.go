package cron

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

// reminderLabel stands over a reminder in a conversation.
const reminderLabel = "Reminder"

// byWebhook is the delivery of a run whose result is posted.
const byWebhook = "webhook"

// way is where a result goes.
type way struct {
	into    string // a conversation that it is written into, "" for none
	label   string
	text    string
	route   channel.Route
	send    bool   // by the route
	webhook string // it is posted there
	post    string // that the job fails, or works again, is posted there
	problem string // it was to go somewhere, and cannot
	silent  string // why it is not told
	alerts  bool   // it says how the job does: that it fails (alert), or works again
	alert   bool
	trace   *protocol.CronDeliveryTrace
}

// settle gives the result of a run on.
func (f *feature) settle(ctx context.Context, r job.Run) {
	w := f.way(r)
	if r.Status == protocol.CronError || r.Status == protocol.CronSkipped {
		w = f.alert(r)
	} else if w.silent == "" && f.recovers(r) {
		w.text += "\n\n(This job works again.)"
		w.alerts, w.post = true, f.recoveryTo(r.Spec)
	}
	var show func()
	err := f.book.Settle(ctx, r.RunID, func(tx *store.Tx, r *job.Run) (err error) {
		show, err = f.settleIn(tx, r, w)
		return err
	})
	if err != nil {
		if ctx.Err() == nil {
			f.Logger.Error("the result of a job could not be given on", "run", r.RunID, "err", err)
		}
		return
	}
	if show != nil {
		show()
	}
	if monitors(r.Spec) && f.Monitor != nil {
		f.Monitor.Over(ctx, r)
	}
	if d := r.Spec.Delivery; w.send || w.post != "" || d != nil && d.Completion != nil {
		f.Deliverer.Wake()
		f.postsWait()
	}
}

// settleIn writes down what becomes of a result: a note in a conversation, what is to be
// sent, and who is told of it. show tells clients of the note once it is durable.
func (f *feature) settleIn(tx *store.Tx, r *job.Run, w way) (show func(), err error) {
	r.DeliveryStatus, r.SuppressionReason, r.CronRun.Delivery = protocol.CronNotRequested, w.silent, w.trace
	if w.into != "" && w.text != "" {
		note := session.Note{Label: w.label, Text: w.text}
		if r.Outside { // others had a part in these words
			note.ForAgent = untrusted.Wrapper{}.Wrap("the job "+r.JobName, w.text)
		}
		if show, err = f.Sessions.InjectNoteIn(tx, w.into, note); err != nil {
			return nil, err
		}
		r.Told()
	}
	if err := f.send(tx, r, w); err != nil {
		return nil, err
	}
	if w.alerts {
		r.Alerts(w.alert)
	}
	if w.post != "" {
		body, err := posted(r)
		if err != nil {
			return nil, err
		}
		if err := f.posts.Put(tx, []byte(r.RunID+":alert"), post{To: w.post, Body: body}); err != nil {
			return nil, err
		}
	}
	if err := f.completed(tx, r); err != nil {
		return nil, err
	}
	if r.Status == protocol.CronError && (w.send || w.into != "") {
		r.Alert = &protocol.CronAlertDelivery{Status: protocol.CronUnknown}
		r.DeliveryStatus, r.Delivered = protocol.CronNotRequested, nil
	}
	return show, nil
}

// send hands a result to the network or the webhook that it is for.
func (f *feature) send(tx *store.Tx, r *job.Run, w way) (err error) {
	switch {
	case w.problem != "":
		r.NotTold(w.problem)
	case w.webhook != "":
		r.Stage, r.Sent, r.Text, r.DeliveryStatus, r.Delivered = job.Delivering, byWebhook, w.text, protocol.CronUnknown, nil
	case w.send:
		d := outbound.Delivery{
			ID: r.RunID + ":result", Channel: w.route.Channel, To: w.route.Target(""), Session: cmp.Or(r.SessionKey, w.into), RunID: r.RunID,
			Text: w.text, Reply: outbound.ReplyOff,
		}
		if d.Choices, err = f.snoozeButtons(tx, r, w); err != nil {
			return err
		}
		if err := f.Deliverer.Put(tx, d); err != nil {
			return err
		}
		r.Stage, r.Sent, r.DeliveryStatus, r.Delivered = job.Delivering, d.ID, protocol.CronUnknown, nil
	}
	return nil
}

// way says where the result of a run goes.
func (f *feature) way(r job.Run) (w way) {
	text := strings.TrimSpace(r.Text)
	d := r.Spec.Delivery
	if d == nil {
		d = &protocol.CronDelivery{Mode: protocol.CronDeliverAnnounce}
	}
	w.text, w.label = text, r.JobName
	if r.Spec.Hearth != nil && r.Spec.Hearth.Reminder {
		w.label = reminderLabel
		if changed(&r) {
			w.label = r.JobName
		}
	}
	switch {
	case text == "" || text == "NO_REPLY" || text == "no_reply" || text == "HEARTBEAT_OK":
		w.silent = "silent"
		return w
	case d.Mode == protocol.CronDeliverWebhook:
		w.webhook = d.To
		return w
	case d.Mode == protocol.CronDeliverNone:
		return w
	}
	agent := f.agentOf(r.Spec)
	home := cmp.Or(r.Spec.SessionKey, rules.Main(f.Settings, agent))
	if key, err := f.Agents.Canonical(home, agent); err == nil {
		home = key
	}
	if monitors(r.Spec) {
		w.label = "Heartbeat"
	}
	if r.SessionKey == "" || strings.Contains(r.SessionKey, ":cron:") || monitors(r.Spec) && r.SessionKey != home {
		w.into = home // it was not said in a conversation of people
	}
	network, to := d.Channel, d.To
	if w.label == reminderLabel && (network == "" || network == "last") {
		network, to, _ = strings.Cut(f.settings().RemindTo, ":")
	}
	w.to(f, network, to, d.AccountID, string(d.ThreadID), home)
	if w.send && monitors(r.Spec) && f.Monitor != nil && !f.Monitor.MayWrite(agent, w.route) {
		w.send = false
	}
	return w
}

// to finds where a channel and a chat of a job lead.
func (w *way) to(f *feature, network, to, account, thread, home string) {
	w.trace = &protocol.CronDeliveryTrace{Intended: &protocol.CronTarget{
		Channel: cmp.Or(network, "last"), To: to, AccountID: account, ThreadID: protocol.CronThread(thread), Source: "explicit",
	}}
	if network == "" || network == "last" {
		w.trace.Intended.Source = "last"
		if r, ok := f.lastRoute(home); ok && f.Answers.MaySend(home, r) {
			w.route, w.send = r, true
			w.trace.Intended.To, w.trace.Intended.AccountID = r.Conversation, r.Account
		}
		return
	}
	if network == channel.Webchat {
		w.into = cmp.Or(w.into, home)
		return
	}
	to = strings.TrimPrefix(to, network+":")
	r := channel.Route{Channel: network, Account: cmp.Or(account, "default"), Conversation: to, Thread: thread, Chat: channel.Direct}
	switch {
	case to == "":
		w.problem = "the job names the network " + network + " and nobody there; say to whom with `hearth cron edit JOB --to WHOM`"
	case f.Channels.Find(network, r.Account) == nil:
		w.problem = "there is no account of " + network + " that is connected"
	case !f.Answers.MaySend(home, r):
		w.problem = "the settings do not allow to send there (session.sendPolicy)"
	default:
		w.route, w.send = r, true
	}
}

// lastRoute is where a conversation was held last.
func (f *feature) lastRoute(key string) (channel.Route, bool) {
	rec, err := f.Sessions.Why(key, "")
	if err != nil {
		return channel.Route{}, false
	}
	if rec.Docked {
		rec.Route = rec.Deliver
	}
	r, ok := channel.ParseRoute(rec.Route)
	return r, ok && r.Delivered()
}

// receipt hears what becomes of deliveries.
func (f *feature) receipt(d outbound.Delivery) {
	if !isRun(d.RunID) || !strings.HasSuffix(d.ID, ":result") || d.State.Open() {
		return
	}
	f.Work.Go(func(ctx context.Context) {
		if err := f.arrived(ctx, d.RunID, d.State == outbound.Delivered, cmp.Or(d.Reason, string(d.State))); err != nil {
			f.Logger.Error("a receipt could not be kept", "run", d.RunID, "err", err)
		}
	})
}

// arrived notes what became of telling the result of a run.
func (f *feature) arrived(ctx context.Context, runID string, arrived bool, problem string) error {
	err := f.book.Receipt(ctx, runID, arrived, problem)
	f.report(runID)
	return err
}

// awaitReceipt goes on with a run whose result is on its way.
func (f *feature) awaitReceipt(ctx context.Context, r job.Run) {
	if r.Sent == byWebhook {
		if !f.atWork(r.RunID) {
			f.works(r.RunID, true)
			f.Work.Go(func(ctx context.Context) {
				defer f.works(r.RunID, false)
				f.post(ctx, r)
			})
		}
		return
	}
	d, err := f.Deliverer.Get(r.Sent)
	switch {
	case errors.Is(err, outbound.ErrNoDelivery):
		err = f.arrived(ctx, r.RunID, false, "nobody knows what became of it")
	case err == nil && !d.State.Open():
		err = f.arrived(ctx, r.RunID, d.State == outbound.Delivered, cmp.Or(d.Reason, string(d.State)))
	}
	if err != nil && ctx.Err() == nil {
		f.Logger.Error("a receipt could not be kept", "run", r.RunID, "err", err)
	}
}

// post sends a result to an address, three times at most. The run's id stands in
// Idempotency-Key, so that who gets it twice after a crash can tell.
func (f *feature) post(ctx context.Context, r job.Run) {
	spec := r.Spec
	body, err := posted(&r)
	if err == nil {
		err = f.postTo(ctx, spec.Delivery.To, r.RunID, body)
	}
	if ctx.Err() != nil {
		return // the next start does it
	}
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	if err := f.arrived(ctx, r.RunID, err == nil, problem); err != nil {
		f.Logger.Error("a receipt could not be kept", "run", r.RunID, "err", err)
	}
}

// posted is what an address is told of a run.
func posted(r *job.Run) ([]byte, error) {
	return json.Marshal(protocol.CronEvent{
		JobID: r.JobID, Action: "finished", RunID: r.RunID, SessionKey: r.SessionKey, SessionID: r.SessionID, RunAtMs: r.RunAtMs,
		DurationMs: r.DurationMs, Status: r.Status, CompletionStatus: r.CompletionStatus, Error: r.Error, Summary: r.Text,
		NextRunAtMs: r.NextRunAtMs, Model: r.Model, Provider: r.Provider, Usage: r.Usage,
	})
}

// postTo posts, three times at most.
func (f *feature) postTo(ctx context.Context, to, id string, body []byte) error {
	for try := 1; ; try++ {
		again, err := f.postOnce(ctx, to, id, body)
		if err == nil || !again || try == 3 {
			return err
		}
		f.Logger.Info("a result could not be posted, and is tried again", "run", id, "err", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(try*try) * 5 * time.Second):
		}
	}
}

// postOnce posts; again says whether a failure may be gone the next time.
func (f *feature) postOnce(ctx context.Context, to, runID string, body []byte) (again bool, err error) {
	head := http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {runID}, "User-Agent": {"Hearth"}}
	if token, ok := f.Keys.Known(f.settings().WebhookToken); ok {
		head.Set("Authorization", "Bearer "+token.Reveal())
	}
	p := f.settings().WebhookPolicy
	policy := egress.Policy{Allowed: p.Allowed, Blocked: p.Blocked}
	page, err := f.Web.FetchBut(ctx, policy, egress.Request{Method: http.MethodPost, URL: to, Body: body, MaxBytes: 64 << 10, Header: head})
	var forbidden *egress.ForbiddenError
	switch {
	case errors.As(err, &forbidden):
		return false, err
	case err != nil:
		return true, err
	case page.Status >= 200 && page.Status < 300:
		return false, nil
	}
	return page.Status >= 500 || page.Status == http.StatusTooManyRequests, fmt.Errorf("the address answered with status %d", page.Status)
}
