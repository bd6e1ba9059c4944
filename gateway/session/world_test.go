package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// world is a manager whose model and tool do what the test says.
type world struct {
	t *testing.T
	*Manager
	db     *store.DB
	ends   store.Bucket[protocol.ChatEvent]
	policy QueuePolicy
	dir    string
	boots  int
	ids    int

	accepted []string          // in order
	text     map[string]string // by run id, as last edited

	mu      sync.Mutex
	wrong   []string
	boot    *boot
	running int
	auto    bool            // answer at once
	said    int             // how often a model said "words"
	given   map[string]bool // words that a finished answer was made of
	tools   map[string]int  // how often a tool ran, by the first words of its turn
}

// boot is one life of the process.
type boot struct {
	steps chan string   // what the model or the tool that runs does next
	dead  chan struct{} // closed when the process has "died"
}

func newWorld(t *testing.T, s script) *world {
	w := &world{
		t: t, dir: t.TempDir(), ends: store.NewBucket[protocol.ChatEvent]("test.ends"),
		text: map[string]string{}, given: map[string]bool{}, tools: map[string]int{},
		policy: QueuePolicy{Mode: Steer, Debounce: s.debounce, Cap: s.most, Drop: s.drop},
	}
	w.open(filepath.Join(w.dir, "first.db"))
	return w
}

func (w *world) errorf(format string, a ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, a...))
}

func (w *world) open(path string) {
	db, err := store.Open(path, store.Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		w.t.Fatal(err)
	}
	b := &boot{steps: make(chan string), dead: make(chan struct{})}
	w.mu.Lock()
	w.boot, w.running = b, 0
	w.mu.Unlock()
	tools, err := tool.NewSet(blockingTool{func(ctx context.Context) { w.runTool(ctx, b) }})
	if err != nil {
		w.t.Fatal(err)
	}
	w.boots++
	w.db = db
	w.Manager = NewManager(w.t.Context(), Options{
		DB: db, Publish: silent{}, Outbox: w, Logger: slog.New(slog.DiscardHandler),
		Models: asked{begin: func(context.Context, failover.Selection, failover.Session) (Model, error) {
			return Model{Ref: model.Ref{Provider: "p", Model: "m"}, Provider: worldModel{w, b}, Tools: true}, nil
		}},
		Engine:   Engine{Tools: always{tools}, Prompt: prompted(func(Asked) (string, int) { return "", 0 })},
		Settings: fixed{func() QueuePolicy { return w.policy }, 1000 * time.Hour},
		Now:      time.Now, Epoch: fmt.Sprint("boot", w.boots),
		NewID: func() string {
			w.ids++
			return fmt.Sprintf("00000000-0000-4000-8000-%012x", w.ids)
		},
	})
	if _, err := w.Recover(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// fixed are settings of sessions.
type fixed struct {
	queue   func() QueuePolicy
	timeout time.Duration
}

func (f fixed) Queue(string) QueuePolicy { return f.queue() }
func (f fixed) Timeout() time.Duration   { return f.timeout }

// Put and Wake are the outbox: a table, so that it is as durable as the rest.
func (w *world) Put(tx *store.Tx, ev protocol.ChatEvent, _ Run) error {
	n, err := w.ends.NextSeq(tx)
	if err != nil {
		return err
	}
	return w.ends.Put(tx, store.Uint64Key(n), ev)
}
func (w *world) Wake() {}

// enter counts what runs; it fails the test when something else does.
func (w *world) enter(b *boot, what string) (leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-b.dead:
		return func() {}
	default:
	}
	if w.running++; w.running > 1 {
		w.wrong = append(w.wrong, what+" runs beside another")
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.boot == b {
			w.running--
		}
	}
}

type worldModel struct {
	w *world
	b *boot
}

// Stream does one step after the other until it has said its last word.
func (p worldModel) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		defer p.w.enter(p.b, "a model call")()
		for {
			step := "answer"
			p.w.mu.Lock()
			auto := p.w.auto
			p.w.mu.Unlock()
			if !auto {
				select {
				case step = <-p.b.steps:
				case <-ctx.Done():
					yield(model.Event{}, ctx.Err())
					return
				case <-p.b.dead:
					return
				}
			}
			switch step {
			case "words":
				p.w.mu.Lock()
				p.w.said++
				p.w.mu.Unlock()
				if !yield(model.Event{Kind: model.EventText, Text: "words "}, nil) {
					return
				}
			case "tools":
				p.w.noteTool(req)
				callWork(func(e model.Event) bool { return yield(e, nil) }, 2)
				return
			default:
				p.w.noteAnswer(req)
				if yield(model.Event{Kind: model.EventText, Text: "done"}, nil) {
					yield(model.Event{Kind: model.EventStop, Stop: model.StopEnd}, nil)
				}
				return
			}
		}
	}
}

func (w *world) runTool(ctx context.Context, b *boot) {
	defer w.enter(b, "a tool")()
	w.mu.Lock()
	auto := w.auto
	w.mu.Unlock()
	if auto {
		return
	}
	select {
	case <-b.steps:
	case <-ctx.Done():
	case <-b.dead:
	}
}

func (w *world) noteAnswer(req model.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range req.Messages {
		if m.Role == model.RoleUser {
			w.given[m.Blocks[0].Text] = true
		}
	}
}

// noteTool counts that a tool was asked for, for every message that is being
// answered and has not had one.
func (w *world) noteTool(req model.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range slices.Backward(req.Messages) {
		if m.Role != model.RoleUser {
			return
		}
		w.tools[m.Blocks[0].Text]++
	}
}

func (w *world) submit(o op) {
	id := fmt.Sprintf("r%d", len(w.text))
	turn := Turn{RunID: id, SessionKey: benchKey, Text: "text of " + id, Mode: o.Mode, Route: o.Route}
	w.text[id] = turn.Text
	_, err := w.Submit(w.t.Context(), turn)
	switch {
	case errors.Is(err, ErrQueueFull) && w.policy.Drop == DropNew:
		return
	case err != nil:
		w.errorf("submit: %v", err)
		return
	}
	w.accepted = append(w.accepted, id)
	if o.N%4 == 0 { // a client that did not hear the answer
		if acc, err := w.Submit(w.t.Context(), turn); err != nil || !acc.Duplicate {
			w.errorf("the same again: %+v, %v", acc, err)
		}
	}
}

// step lets the model or the tool that runs do something.
func (w *world) step(o op) {
	synctest.Wait()
	w.mu.Lock()
	b, running := w.boot, w.running
	w.mu.Unlock()
	if running == 0 {
		return
	}
	select {
	case b.steps <- []string{"answer", "answer", "words", "tools"}[o.N%4]:
	default:
	}
}

// pick is one of the accepted messages, or "" now and then.
func (w *world) pick(o op) string {
	if len(w.accepted) == 0 || o.N%4 == 0 {
		return ""
	}
	return w.accepted[len(w.accepted)-1-o.N/4%len(w.accepted)]
}

func (w *world) stop(o op) {
	if _, err := w.Abort(w.t.Context(), benchKey, w.pick(o)); err != nil {
		w.errorf("abort: %v", err)
	}
}

func (w *world) edit(o op) {
	id := w.pick(o)
	text := w.text[id] + "!"
	switch err := w.EditQueued(w.t.Context(), Turn{SessionKey: benchKey, RunID: id, Text: text}); {
	case err == nil:
		w.text[id] = text
	case !errors.Is(err, ErrNotFound):
		w.errorf("edit: %v", err)
	}
}

func (w *world) time(o op) { <-time.After(time.Duration(o.N*15+1) * time.Millisecond) }

func (w *world) restart(op) {
	w.shut()
	w.open(w.db.Path())
}

// shut closes the manager; nothing may run afterwards.
func (w *world) shut() {
	if err := w.Manager.Close(w.t.Context()); err != nil {
		w.errorf("close: %v", err)
	}
	w.mu.Lock()
	running, b := w.running, w.boot
	w.mu.Unlock()
	if running != 0 {
		w.errorf("%d things run after Close", running)
	}
	if err := w.db.Close(w.t.Context()); err != nil {
		w.errorf("close the store: %v", err)
	}
	select {
	case <-b.dead:
	default:
		close(b.dead)
	}
}

// crash goes on from what is on disk at a quiet moment; whatever the old
// process does from then on is lost.
func (w *world) crash(op) {
	synctest.Wait()
	next := filepath.Join(w.dir, fmt.Sprintf("crash%d.db", w.boots))
	if err := copyFile(w.db.Path(), next); err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	close(w.boot.dead)
	w.running = 0
	w.mu.Unlock()
	if err := w.Manager.Close(w.t.Context()); err != nil {
		w.errorf("close: %v", err)
	}
	if err := w.db.Close(w.t.Context()); err != nil {
		w.errorf("close the store: %v", err)
	}
	w.open(next)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}

// terminal reads the terminal events in the order in which they became true.
func (w *world) terminal() (evs []protocol.ChatEvent) {
	err := w.db.View(func(tx *store.Tx) error {
		for row, err := range w.ends.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			evs = append(evs, row.Value)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return evs
}

// check holds the lane against the reference at a quiet moment.
func (w *world) check() {
	synctest.Wait()
	ended := map[string]bool{}
	for _, ev := range w.terminal() {
		if ended[ev.RunID] {
			w.errorf("run %s ended twice", ev.RunID)
		}
		ended[ev.RunID] = true
	}
	var want []string
	for _, id := range w.accepted {
		if !ended[id] {
			want = append(want, id)
		}
	}
	s := w.peekLane(benchKey).snapshot()
	var got []string
	if s.active != "" {
		got = append(append(got, s.active), s.joined...)
	}
	if got = append(got, s.queued...); !slices.Equal(got, want) {
		w.errorf("the lane has %v, unended are %v", got, want)
	}
	if wrong := w.differs(w.t); wrong != "" {
		w.errorf("what is kept of the transcript is not what the store says: %s", wrong)
	}
}

// drain answers everything and checks what came of it.
func (w *world) drain() {
	w.mu.Lock()
	w.auto = true
	b := w.boot
	w.mu.Unlock()
	synctest.Wait()
	for done := false; !done; { // what runs already waits for a step
		select {
		case b.steps <- "answer":
			synctest.Wait()
		case <-time.After(5 * time.Second):
			done = true
		}
	}
	w.check()
	if s := w.peekLane(benchKey).snapshot(); s.active != "" || len(s.queued) > 0 {
		w.errorf("the lane stands still: %+v", s)
	}
	w.checkEnds()
	w.checkTranscript()
	for text, n := range w.tools {
		if n > 1 {
			w.errorf("the tool of %q was asked for %d times", text, n)
		}
	}
}

func (w *world) checkEnds() {
	order := map[string]int{}
	for i, id := range w.accepted {
		order[id] = i
	}
	seen, last := map[string]int{}, -1
	for _, ev := range w.terminal() {
		seen[ev.RunID]++
		if ev.State != protocol.ChatFinal {
			continue
		}
		if order[ev.RunID] < last {
			w.errorf("the answer of %s came after that of a later message", ev.RunID)
		}
		last = order[ev.RunID]
		w.mu.Lock()
		given := w.given[w.text[ev.RunID]]
		w.mu.Unlock()
		if !given {
			w.errorf("%s counts as answered, but no model was given %q", ev.RunID, w.text[ev.RunID])
		}
	}
	for _, id := range w.accepted {
		if seen[id] != 1 {
			w.errorf("run %s has %d terminal events", id, seen[id])
		}
	}
}

// checkTranscript: every accepted message once, in order, with a visible end,
// and every tool call with its result behind it.
func (w *world) checkTranscript() {
	var got []string
	words := 0
	for after := int64(0); len(w.accepted) > 0; {
		page, err := w.Export(w.t.Context(), benchKey, "", after, 0)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, m := range page.Messages {
			after = m.Meta.Seq
			if m.Role == protocol.MessageAssistant {
				words += strings.Count(m.Text(), "words ")
			}
			if m.Role != protocol.MessageUser {
				continue
			}
			got = append(got, m.Meta.RunID)
			if m.Hearth == nil || m.Hearth.State == protocol.ReceiptAccepted || m.Hearth.State == protocol.ReceiptAnswering {
				w.errorf("%s has no visible end: %+v", m.Meta.RunID, m.Hearth)
			}
			if m.Text() != w.text[m.Meta.RunID] {
				w.errorf("%s reads %q, want %q", m.Meta.RunID, m.Text(), w.text[m.Meta.RunID])
			}
		}
		if !page.HasMore {
			break
		}
	}
	if words > w.said {
		w.errorf("the transcript has %d words, the model said %d", words, w.said)
	}
	if !slices.Equal(got, w.accepted) {
		w.errorf("the transcript has %v, accepted were %v", got, w.accepted)
	}
}
