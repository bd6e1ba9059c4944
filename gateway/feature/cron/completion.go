package cron

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// post is something that an address is to be told, until it was.
type post struct {
	To   string `json:"to"`
	Body []byte `json:"body"`
}

func checkCompletion(d *protocol.CronDestination) error {
	d.Mode = cmp.Or(d.Mode, protocol.CronDeliverAnnounce)
	switch {
	case d.Mode == protocol.CronDeliverWebhook && !webAddress(d.To):
		return errors.New("delivery.completionDestination.to has to be the https address that is told")
	case d.Mode != protocol.CronDeliverWebhook && d.Mode != protocol.CronDeliverAnnounce:
		return fmt.Errorf("delivery.completionDestination.mode is %q; it is announce or webhook", d.Mode)
	}
	return nil
}

// completed tells who wants to know it, beside where the result goes, that a run
// has ended; it is on disk with the end.
func (f *feature) completed(tx *store.Tx, r *job.Run) error {
	if r.Spec.Delivery == nil || r.Spec.Delivery.Completion == nil {
		return nil
	}
	d, id := r.Spec.Delivery.Completion, r.RunID+":completion"
	if d.Mode == protocol.CronDeliverWebhook {
		body, err := posted(r)
		if err != nil {
			return err
		}
		return f.posts.Put(tx, []byte(id), post{To: d.To, Body: body})
	}
	home := rules.Main(f.Settings, f.agentOf(r.Spec))
	var w way
	w.to(f, d.Channel, d.To, d.AccountID, "", home)
	if !w.send {
		f.Logger.Info("nobody could be told that a job is done", "run", r.RunID, "why", cmp.Or(w.problem, "there is no network to say it on"))
		return nil
	}
	words := fmt.Sprintf("The job “%s” is done.", r.JobName)
	switch r.Status {
	case protocol.CronError:
		words = fmt.Sprintf("The job “%s” failed: %s", r.JobName, r.Error)
	case protocol.CronSkipped:
		words = fmt.Sprintf("The job “%s” was left out: %s", r.JobName, r.Error)
	}
	return f.Deliverer.Put(tx, outbound.Delivery{
		ID: id, Channel: w.route.Channel, To: w.route.Target(""), Session: cmp.Or(r.SessionKey, home), RunID: r.RunID, Text: words,
		Reply: outbound.ReplyOff,
	})
}

// postsWait says that something is to be posted. It does not block.
func (f *feature) postsWait() {
	select {
	case f.due <- struct{}{}:
	default:
	}
}

// postAll posts what is to be posted, also what an earlier start left, until ctx
// ends. Each has its id in Idempotency-Key.
func (f *feature) postAll(ctx context.Context) {
	for ctx.Err() == nil {
		all := map[string]post{}
		err := f.DB.View(func(tx *store.Tx) error {
			for row, err := range f.posts.Scan(tx, store.Range{}) {
				if err != nil {
					return err
				}
				all[string(row.Key)] = row.Value
			}
			return nil
		})
		if err != nil {
			f.Logger.Error("what is to be posted could not be read", "err", err)
		}
		for id, p := range all {
			if err := f.postTo(ctx, p.To, id, p.Body); err != nil {
				if ctx.Err() != nil {
					return
				}
				f.Logger.Warn("nobody could be told that a job is done", "run", id, "err", err)
			}
			if err := f.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error { return f.posts.Delete(tx, []byte(id)) }}); err != nil {
				return
			}
		}
		select {
		case <-ctx.Done():
		case <-f.due:
		}
	}
}
