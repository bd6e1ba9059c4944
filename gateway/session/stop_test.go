package session

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// talker is a model that takes its time, now and then with tools before its
// answer; given are the words that it read.
type talker struct {
	mu    sync.Mutex
	rng   *rand.Rand
	calls int
	given map[string]bool
}

func (k *talker) pause(most int) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	return time.Duration(k.rng.IntN(most)) * time.Millisecond
}

func (k *talker) answer(ctx context.Context, _ int, req model.Request, yield func(model.Event) bool) {
	for range 3 {
		select {
		case <-time.After(k.pause(40)):
		case <-ctx.Done():
			return
		}
		if !yield(model.Event{Kind: model.EventText, Text: "word "}) {
			return
		}
	}
	k.mu.Lock()
	tools := k.rng.IntN(2) == 0
	for _, m := range req.Messages {
		if m.Role == model.RoleUser {
			k.given[m.Blocks[0].Text] = true
		}
	}
	k.calls++
	args := json.RawMessage(fmt.Sprintf(`{"n":%d}`, k.calls)) // not the same for ever
	k.mu.Unlock()
	if tools {
		yield(model.Event{Kind: model.EventToolCall, Call: &model.ToolCall{ID: "k0", Name: "work", Arguments: args}})
		yield(model.Event{Kind: model.EventStop, Stop: model.StopTool})
		return
	}
	say(yield, "done")
}

// Whatever is accepted around a stop is answered or stopped, once: everything
// that was accepted before it and has not ended is named among what it stopped,
// and nothing that comes after it is stopped with it, also while the stopped run
// is still ending.
func TestStopTakesWhatCameBeforeItAndNothingElse(t *testing.T) {
	for _, mode := range Modes() {
		for _, quiet := range []time.Duration{0, 15 * time.Millisecond} {
			for n := range uint64(6) {
				t.Run(fmt.Sprintf("%s/%v/%d", mode, quiet, n), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { aroundStops(t, mode, quiet, n) })
				})
			}
		}
	}
}

func aroundStops(t *testing.T, mode Mode, quiet time.Duration, n uint64) {
	rng := seed.Fixed(t, n)
	k := &talker{rng: seed.Fixed(t, n+6), given: map[string]bool{}}
	b := newBench(t, k.answer, func(ctx context.Context) { // a tool does not end in the moment in which it is told to
		<-time.After(k.pause(60))
	}, QueuePolicy{Mode: mode, Debounce: quiet, Cap: 100, Drop: DropNew})
	defer b.close()
	var sent []string
	stopped := map[string]bool{}
	send := func() {
		id := fmt.Sprint(len(sent))
		b.must(id, "message "+id)
		sent = append(sent, id)
	}
	open := func() (ids []string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, id := range sent {
			if len(b.ends[id]) == 0 {
				ids = append(ids, id)
			}
		}
		return ids
	}
	for range 60 {
		switch n := rng.IntN(10); {
		case n < 5:
			send()
		case n < 7:
			before := open()
			ids, err := b.Abort(t.Context(), benchKey, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				stopped[id] = true
			}
			if left := open(); slices.ContainsFunc(before, func(id string) bool { return !stopped[id] && slices.Contains(left, id) }) {
				t.Errorf("a stop that found %v open named %v and left %v", before, ids, left)
			}
			send() // at once, while what was stopped may still be ending
		case n < 9:
			<-time.After(time.Duration(rng.IntN(80)) * time.Millisecond)
		default:
			synctest.Wait()
		}
	}
	for _, id := range sent {
		b.wait(id)
	}
	b.oneEndEach(sent...)
	for i, id := range sent {
		ev := b.ends[id][0]
		last := i == len(sent)-1
		switch {
		case ev.State == protocol.ChatFinal && !k.given["message "+id]:
			t.Errorf("%s counts as answered, and no model read it", id)
		case ev.State == protocol.ChatFinal, stopped[id]:
		case mode == Interrupt && !last && ev.State == protocol.ChatAborted: // by a later message
		default:
			t.Errorf("nobody stopped %s, and it ended as %s (%s)", id, ev.State, ev.ErrorMessage)
		}
	}
}
