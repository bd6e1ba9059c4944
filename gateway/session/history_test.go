package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// differs says how what is kept of the transcripts is not what the store says, in
// reads of several sizes and places; "" when it is.
func (m *Manager) differs(t testing.TB) string {
	t.Helper()
	var rows []Row
	err := m.DB.View(func(tx *store.Tx) error {
		for row, err := range m.t.sessions.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			rows = append(rows, row.Value)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		for _, before := range []uint64{row.NextTurn, row.NextTurn / 2} {
			for _, budget := range []int{1 << 20, 300} {
				kept, err := m.turns(row, before, budget)
				if err != nil {
					t.Fatal(err)
				}
				stored, err := readTurns(newHistories(0).backwards(m.DB, &m.t, row.SessionID, row.Path, int64(seqOf(before, 0))),
					row.Compaction, budget)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(kept, stored) {
					return fmt.Sprintf("%s before turn %d with %d bytes: kept %s, stored %s", row.Key, before, budget, describe(kept), describe(stored))
				}
			}
		}
	}
	return m.t.histories.broken()
}

func describe(turns []turn) string {
	var out []string
	for _, t := range turns {
		for _, e := range t {
			out = append(out, fmt.Sprintf("%d.%d %s %.20q %v/%v/%v", e.seq>>16, e.seq&0xffff, e.role, e.words, e.exclude, e.dropped, e.answered))
		}
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// broken says what the book-keeping has wrong.
func (h *histories) broken() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	sum := 0
	for id, one := range h.all {
		want := historyOverhead + weightOf(one.entries)
		if one.size != want {
			return fmt.Sprintf("%s counts %d bytes and has %d", id, one.size, want)
		}
		sum += want
	}
	switch {
	case sum != h.size:
		return fmt.Sprintf("%d bytes are counted, there are %d", h.size, sum)
	case h.order.Len() != len(h.all):
		return fmt.Sprintf("%d are in order, there are %d", h.order.Len(), len(h.all))
	case h.size > h.limit+historyOverhead:
		return fmt.Sprintf("%d bytes are kept, %d are allowed", h.size, h.limit)
	}
	return ""
}

// historyWorld is a manager for whose sessions everything happens that happens to
// transcripts.
type historyWorld struct {
	*Manager
	t    testing.TB
	rnd  *rand.Rand
	db   *store.DB
	n    int
	dir  string
	mu   sync.Mutex
	ids  int
	hold chan struct{} // not nil: answers wait for it
}

func (w *historyWorld) open(path string, limit int) {
	db, err := store.Open(path, store.Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		w.t.Fatal(err)
	}
	set, err := tool.NewSet(blockingTool{func(context.Context) {}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.db = db
	w.Manager = NewManager(w.t.Context(), Options{
		DB: db, Publish: silent{}, Outbox: discard{}, Logger: slog.New(slog.DiscardHandler),
		Models: asked{begin: func(context.Context, failover.Selection, failover.Session) (Model, error) {
			return Model{Ref: model.Ref{Provider: "p", Model: "m"}, Provider: w, Tools: true}, nil
		}},
		Engine:   Engine{Tools: always{set}, Prompt: prompted(func(Asked) (string, int) { return "", 0 })},
		Settings: fixed{func() QueuePolicy { return QueuePolicy{Mode: Followup, Cap: 3, Drop: DropSummarize} }, time.Hour},
		Redact:   func(s string) string { return strings.ReplaceAll(s, "secret", "[redacted]") },
		Now:      time.Now, Epoch: path,
		NewID: func() string {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.ids++
			return fmt.Sprintf("00000000-0000-4000-8000-%012x", w.ids)
		},
	})
	w.t.Cleanup(func() { _ = db.Close(context.WithoutCancel(w.t.Context())) })
	w.Manager.t.histories = newHistories(limit)
	if _, err := w.Recover(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// Stream answers with words, after a tool or two, or fails.
func (w *historyWorld) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		w.mu.Lock()
		what, hold := w.rnd.IntN(8), w.hold
		w.mu.Unlock()
		if hold != nil {
			select {
			case <-hold:
			case <-ctx.Done():
				yield(model.Event{}, ctx.Err())
				return
			}
		}
		after := req.Messages[len(req.Messages)-1].Role == model.RoleTool
		switch {
		case what < 2 && !after && len(req.Tools) > 0:
			callWork(func(e model.Event) bool { return yield(e, nil) }, 1+what)
			return
		case what == 2:
			yield(model.Event{}, errors.New("the model broke"))
			return
		case what == 3 && !yield(model.Event{Kind: model.EventThinking, Text: "hm", Signature: "d:x"}, nil):
			return
		}
		if yield(model.Event{Kind: model.EventText, Text: strings.Repeat("An answer. ", 1+what*9)}, nil) {
			yield(model.Event{Kind: model.EventStop, Stop: model.StopEnd}, nil)
		}
	}
}

func (w *historyWorld) key() string { return fmt.Sprintf("agent:main:h%d", w.pick(3)) }

func (w *historyWorld) pick(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rnd.IntN(n)
}

func (w *historyWorld) next() string {
	w.n++
	return fmt.Sprintf("run%d", w.n)
}

func (w *historyWorld) submit(turn Turn) {
	turn.RunID, turn.Owner = w.next(), w.pick(2) == 0
	if _, err := w.Submit(w.t.Context(), turn); err != nil {
		w.t.Fatal(err)
	}
}

func (w *historyWorld) settled() {
	w.Manager.mu.Lock()
	var live []*run
	for _, r := range w.live {
		live = append(live, r)
	}
	w.Manager.mu.Unlock()
	for _, r := range live {
		<-r.done
	}
}

// ops is everything that changes a transcript or what of it is in force.
func (w *historyWorld) ops() map[string]func() {
	ctx := w.t.Context()
	text := func() string { return "a question with a secret " + strings.Repeat("word ", w.pick(40)) }
	may := func(err error) {
		if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrNothingToCompact) && !errors.Is(err, ErrConflict) &&
			!errors.Is(err, ErrNotYours) && !errors.Is(err, ErrNoQuestion) {
			w.t.Fatal(err)
		}
	}
	return map[string]func(){
		"ask": func() { w.submit(Turn{SessionKey: w.key(), Text: text()}); w.settled() },
		"more": func() {
			w.submit(Turn{SessionKey: w.key(), Text: text(), ForAgent: "for the agent: " + text()})
			w.settled()
		},
		"import": func() {
			w.submit(Turn{SessionKey: w.key(), Text: text(), Past: []protocol.Message{
				{Role: protocol.MessageUser, Content: protocol.TextBlocks("before")},
				{Role: protocol.MessageAssistant, Content: protocol.TextBlocks("after")},
			}})
			w.settled()
		},
		"queue": func() {
			w.mu.Lock()
			w.hold = make(chan struct{})
			w.mu.Unlock()
			key := w.key()
			for range 2 + w.pick(5) {
				w.submit(Turn{SessionKey: key, Text: text(), Mode: []Mode{Steer, Followup, Collect}[w.pick(3)]})
			}
			may(w.EditQueued(ctx, Turn{RunID: fmt.Sprintf("run%d", w.n), SessionKey: key, Text: "edited"}))
			if w.pick(3) == 0 {
				_, err := w.Abort(ctx, key, "")
				may(err)
			}
			w.mu.Lock()
			close(w.hold)
			w.hold = nil
			w.mu.Unlock()
			w.settled()
		},
		"compact": func() { _, err := w.Compact(ctx, w.key(), ""); mayFail(err) },
		"restore": func() { may(w.Restore(ctx, w.key())) },
		"reset":   func() { _, err := w.Reset(ctx, w.key()); may(err) },
		"delete":  func() { _, err := w.Delete(ctx, w.key(), w.pick(2) == 0); may(err) },
		"inject":  func() { _, err := w.Inject(ctx, w.key(), text(), "note"); may(err) },
		"command": func() {
			do := func(context.Context) (string, error) { return "done", nil }
			_, err := w.RunCommand(ctx, Turn{RunID: w.next(), SessionKey: w.key(), Text: "/do"}, do)
			may(err)
		},
		"fork": func() {
			key := w.key()
			list, err := w.Earlier(ctx, protocol.EarlierParams{Key: key})
			may(err)
			if len(list.Earlier) > 0 {
				_, err = w.Continue(ctx, key, list.Earlier[0].SessionID, fmt.Sprintf("agent:main:f%d", w.pick(1000)))
				may(err)
			}
		},
		"again": func() {
			turn := Turn{RunID: w.next(), SessionKey: w.key(), Owner: true, Text: text()}
			turn.Again = Again{Entry: w.entry(turn.SessionKey), Words: w.pick(2) == 0}
			_, err := w.AnswerAgain(ctx, turn)
			may(err)
			w.settled()
		},
		"switch": func() {
			key := w.key()
			list, err := w.Branches(key)
			may(err)
			if len(list) > 0 {
				may(w.Switch(ctx, key, list[w.pick(len(list))].LeafEntryID))
			}
		},
		"rewind": func() { key := w.key(); _, err := w.Rewind(ctx, key, w.entry(key)); may(err) },
		"restart": func() {
			path, limit := w.db.Path(), w.Manager.t.histories.limit
			if w.pick(2) == 0 { // a crash: what was flushed is there, and nothing else
				next := filepath.Join(w.dir, w.next()+".db")
				w.submit(Turn{SessionKey: w.key(), Text: text()})
				copyStore(w.t, w.db, next)
				path = next
			}
			if err := errors.Join(w.Manager.Close(ctx), w.db.Close(ctx)); err != nil {
				w.t.Fatal(err)
			}
			w.open(path, limit)
			w.settled()
		},
	}
}

// entry is the id of an entry of the branch in use.
func (w *historyWorld) entry(key string) string {
	h, err := w.History(w.t.Context(), key, protocol.ChatHistoryParams{})
	if err != nil {
		w.t.Fatal(err)
	}
	if len(h.Messages) == 0 {
		return "none"
	}
	return h.Messages[w.pick(len(h.Messages))].Meta.ID
}

// mayFail: a model that broke leaves everything as it was.
func mayFail(error) {}

// copyStore copies what the store has at one moment.
func copyStore(t testing.TB, db *store.DB, to string) {
	t.Helper()
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = db.View(func(*store.Tx) error { // nothing is written over what a reader sees
		in, err := os.Open(db.Path())
		if err != nil {
			return err
		}
		defer in.Close()
		_, err = io.Copy(f, in)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What is kept for the next request of a session is what the store says, after
// everything that can happen to a transcript, however little may be kept, and
// while others read.
func TestHistoryIsWhatTheStoreSays(t *testing.T) {
	for _, limit := range []int{0, 3 << 10, 20 << 10, keptHistory} {
		t.Run(fmt.Sprint("limit=", limit), func(t *testing.T) {
			w := &historyWorld{t: t, rnd: seed.New(t), dir: t.TempDir()}
			w.open(filepath.Join(w.dir, "first.db"), limit)
			ops := w.ops()
			names := strings.Fields("ask ask ask more import queue queue compact restore reset delete inject command fork " +
				"restart again again switch rewind")
			for step := range 100 {
				name := names[w.pick(len(names))]
				stop := w.readersBeside()
				ops[name]()
				stop()
				if wrong := w.differs(t); wrong != "" {
					t.Fatalf("after step %d, %s: %s", step, name, wrong)
				}
			}
			if err := w.Manager.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// readersBeside reads histories while something happens to them.
func (w *historyWorld) readersBeside() (stop func()) {
	done := make(chan struct{})
	var all sync.WaitGroup
	m := w.Manager
	for i := range 2 {
		all.Go(func() {
			for n := range 30 {
				select {
				case <-done:
					return
				default:
				}
				if row, err := m.rowOf(fmt.Sprintf("agent:main:h%d", (n+i)%3)); err == nil {
					_, _ = m.turns(row, row.NextTurn, 100*(n%50))
				}
			}
		})
	}
	return func() { close(done); all.Wait() }
}
