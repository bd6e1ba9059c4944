package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/outbound/stream"
)

// paced is a channel whose edits are written down.
type paced struct {
	channel.Channel

	mu    sync.Mutex
	edits []edited
}

// edited is when an edit was asked for, and what came of it.
type edited struct {
	at   time.Time
	done bool
	err  error
}

// Can implements channel.Standing.
func (p *paced) Can(a channel.Ability) bool { return a == channel.CanEdit }

// Edit implements channel.Editor.
func (p *paced) Edit(ctx context.Context, to channel.Target, messageID, text string) error {
	p.mu.Lock()
	n := len(p.edits)
	p.edits = append(p.edits, edited{at: time.Now()})
	p.mu.Unlock()
	e, _ := channel.AsEditor(p.Channel)
	err := e.Edit(ctx, to, messageID, text)
	p.mu.Lock()
	p.edits[n].done, p.edits[n].err = true, err
	p.mu.Unlock()
	return err
}

// seen are the edits that have been answered.
func (p *paced) seen() (out []edited) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.edits {
		if e.done {
			out = append(out, e)
		}
	}
	return out
}

// leastPace is between edits of a channel whose network names no pace.
const leastPace = 25 * time.Millisecond

// testPace shows an answer while it is written, as the gateway does.
func testPace(t T, s *Setup) {
	pace := max(s.Channel.Limits().EditPace, leastPace)
	wants := []wanted{{gap: 0}, {gap: pace}, {gap: pace}}
	if s.Skip[loopback.Limited] == "" {
		s.Net.Script(loopback.Fault{On: loopback.OpEdit, Kind: loopback.OK},
			loopback.Fault{On: loopback.OpEdit, Kind: loopback.Limited, After: time.Second},
			loopback.Fault{On: loopback.OpEdit, Kind: loopback.OK},
			loopback.Fault{On: loopback.OpEdit, Kind: loopback.Limited, After: time.Hour})
		slower := 2 * pace
		wants = []wanted{{gap: 0}, {gap: pace, limited: true}, {gap: max(slower, time.Second)}, {gap: slower, limited: true}}
	}
	w := &paced{Channel: s.Channel}
	p := stream.NewPreview(t.Context(), stream.PreviewOptions{Mode: stream.Partial, Channel: w, To: s.Target, Every: leastPace})
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() { write(ctx, p, pace/4) })
	t.Cleanup(func() { stop(); writing.Wait() })
	slowly := *s
	slowly.Waits = s.wait() + 8*pace
	slowly.eventually(t, "too few edits were made", func() bool { return len(w.seen()) >= len(wants) })
	wantEdits(t, w.seen(), wants)
	id, edit := s.end(t, p)
	stop()
	writing.Wait()
	if id == "" || !edit {
		t.Fatalf("the answer does not take the place of what was shown of it (message %q)", id)
	}
	e, _ := channel.AsEditor(s.Channel)
	if err := e.Edit(bounded(t, s), s.Target, id, "the answer"); err != nil {
		t.Fatalf("the last edit: %v", err)
	}
	wantTexts(t, s, "the answer")
}

// end ends what is shown of an answer; it waits for no pace.
func (s *Setup) end(t T, p *stream.Preview) (id string, edit bool) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		id, edit = p.End(stream.FinalText)
	}()
	select {
	case <-done:
	case <-bounded(t, s).Done():
		t.Fatalf("after %v the answer still waits for an edit of what was shown of it", s.wait())
	}
	return id, edit
}

// write goes on with an answer.
func write(ctx context.Context, p *stream.Preview, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	p.Text("The answer begins.")
	for n := 1; ; n++ { // lines that change, where a text would soon be as long as it can be
		p.Note(fmt.Sprint("step ", n))
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// wanted is how long after the one before it an edit comes at the soonest, and
// whether the network asks to wait then.
type wanted struct {
	gap     time.Duration
	limited bool
}

func wantEdits(t T, edits []edited, wants []wanted) {
	t.Helper()
	for i, want := range wants {
		var limit *channel.RateLimit
		switch asked := errors.As(edits[i].err, &limit); {
		case want.limited && !asked:
			t.Errorf("edit %d was asked to wait, and its error is: %v", i+1, edits[i].err)
		case !want.limited && edits[i].err != nil:
			t.Errorf("edit %d, which kept the pace: %v", i+1, edits[i].err)
		}
		if i == 0 {
			continue
		}
		if gap := edits[i].at.Sub(edits[i-1].at); gap < want.gap {
			t.Errorf("edit %d came %v after the one before it; at least %v were to pass", i+1, gap, want.gap)
		}
	}
}
