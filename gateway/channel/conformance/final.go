package conformance

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/outbound/stream"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// windowed is a channel whose edit window has another length.
type windowed struct {
	channel.Channel
	window time.Duration
}

// Can implements channel.Standing.
func (w windowed) Can(a channel.Ability) bool {
	return (a == channel.CanEdit || a == channel.CanDelete) && slices.Contains(channel.AbilitiesOf(w.Channel), a)
}

func (w windowed) Limits() channel.Limits {
	l := w.Channel.Limits()
	l.EditWindow = w.window
	return l
}

// Edit implements channel.Editor.
func (w windowed) Edit(ctx context.Context, to channel.Target, messageID, text string) error {
	e, _ := channel.AsEditor(w.Channel)
	return e.Edit(ctx, to, messageID, text)
}

// Delete implements channel.Deleter.
func (w windowed) Delete(ctx context.Context, to channel.Target, messageID string) error {
	d, _ := channel.AsDeleter(w.Channel)
	return d.Delete(ctx, to, messageID)
}

// testFinalInPlace: the answer takes the place of what was shown of it, and the rest
// of it follows.
func testFinalInPlace(t T, s *Setup) {
	id := s.shown(t)
	s.deliver(t, s.Channel, id)
	wantTexts(t, s, finalText)
}

// testFinalAfterGone: what was shown is gone meanwhile, so the answer is sent anew.
func testFinalAfterGone(t T, s *Setup) {
	id := s.shown(t)
	d, _ := channel.AsDeleter(s.Channel)
	if err := d.Delete(bounded(t, s), s.Target, id); err != nil {
		t.Fatalf("%v", err)
	}
	s.deliver(t, s.Channel, id)
	wantTexts(t, s, finalText)
}

// testFinalTooLate: what was shown cannot be edited any more, so the answer is sent
// anew, and what was shown is removed.
func testFinalTooLate(t T, s *Setup) {
	id := s.shown(t)
	if v := s.deliver(t, windowed{s.Channel, time.Nanosecond}, id); v.Stale != "" {
		t.Errorf("what was shown of the answer is not deleted: %s", v.Stale)
	}
	wantTexts(t, s, finalText)
}

const finalText = "The whole answer."

// shown shows the beginning of an answer, as the gateway does.
func (s *Setup) shown(t T) (id string) {
	t.Helper()
	p := stream.NewPreview(t.Context(), stream.PreviewOptions{Mode: stream.Partial, Channel: s.Channel, To: s.Target, Every: leastPace})
	p.Text("The beginning of")
	s.eventually(t, "the beginning of the answer was not shown", func() bool {
		return slices.ContainsFunc(s.texts(), func(text string) bool { return text == "The beginning of" })
	})
	id, edit := s.end(t, p)
	if id == "" || !edit {
		t.Fatalf("the answer does not take the place of what was shown of it (message %q)", id)
	}
	return id
}

func (s *Setup) texts() (out []string) {
	for _, m := range s.Net.Messages() {
		if !m.Deleted {
			out = append(out, m.Text)
		}
	}
	return out
}

// deliver takes the answer to the network, as the gateway does.
func (s *Setup) deliver(t T, ch channel.Channel, preview string) (v outbound.Delivery) {
	t.Helper()
	dir, err := os.MkdirTemp("", "hearth-check-*")
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	db, err := store.Open(filepath.Join(dir, "h.db"), store.Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		t.Fatalf("%v", err)
	}
	d := outbound.NewDeliverer(db, outbound.DelivererOptions{
		Channels: func(string, string) channel.Channel { return ch },
		Retry:    outbound.Retry{First: 10 * time.Millisecond},
	})
	ctx, stop := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() { d.Run(ctx) })
	t.Cleanup(func() {
		stop()
		work.Wait()
		_ = db.Close(context.WithoutCancel(ctx))
	})
	err = db.Update(ctx, store.Write{Then: d.Wake, Do: func(tx *store.Tx) error {
		return d.Put(tx, outbound.Delivery{
			ID: "answer", Channel: ch.ID(), To: s.Target, Text: finalText, Reply: outbound.ReplyOff,
			Preview: preview, EditPreview: true, PreviewAt: time.Now().Add(-time.Second).UnixMilli(),
		})
	}})
	if err != nil {
		t.Fatalf("%v", err)
	}
	s.eventually(t, "the answer did not arrive", func() bool {
		v, err = d.Get("answer")
		return err != nil || !v.State.Open()
	})
	if err != nil || v.State != outbound.Delivered {
		t.Errorf("the answer is %s: %s, %v", v.State, v.Reason, err)
	}
	return v
}
