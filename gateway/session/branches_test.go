package session

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// utterance is one message of the reference: a tree, and which leaf is in use.
type utterance struct {
	parent *utterance
	words  string
	answer string
}

func (s *utterance) path() (out []*utterance) {
	for ; s != nil; s = s.parent {
		out = append(out, s)
	}
	slices.Reverse(out)
	return out
}

func (s *utterance) text() string {
	var out []string
	for _, x := range s.path() {
		out = append(out, x.words, x.answer)
	}
	return strings.Join(out, "|")
}

// tree holds a session against a simple tree of messages.
type tree struct {
	*bench
	rnd  *rand.Rand
	n    int
	key  string
	all  []*utterance // in the order in which they were said
	leaf *utterance
}

// echo answers with everything that it was given.
func echo(_ context.Context, n int, req model.Request, yield func(model.Event) bool) {
	var given []string
	for _, m := range req.Messages {
		for _, b := range m.Blocks {
			given = append(given, b.Text)
		}
	}
	yield(model.Event{Kind: model.EventText, Text: fmt.Sprintf("%d: %s", n, hash(strings.Join(given, "|")))})
	yield(model.Event{Kind: model.EventStop, Stop: model.StopEnd})
}

func hash(s string) string { return digest("", s)[:12] }

func (w *tree) run(turn Turn, do func(context.Context, Turn) (Accepted, error)) string {
	w.t.Helper()
	w.n++
	turn.RunID, turn.SessionKey, turn.Owner = fmt.Sprint("r", w.n), w.key, true
	if _, err := do(w.t.Context(), turn); err != nil {
		w.t.Fatal(err)
	}
	out, err := w.Wait(w.t.Context(), turn.RunID)
	if err != nil || out.Message == nil {
		w.t.Fatalf("%+v, %v", out, err)
	}
	return out.Message.Text()
}

// took notes what was said behind a message, whose model must have been given the
// branch and nothing else.
func (w *tree) took(parent *utterance, words, answer string) {
	w.t.Helper()
	given := words
	if parent != nil {
		given = parent.text() + "|" + words
	}
	if _, was, _ := strings.Cut(answer, ": "); was != hash(given) {
		w.t.Fatalf("the model was not given %q", given)
	}
	w.leaf = &utterance{parent, words, answer}
	w.all = append(w.all, w.leaf)
}

// read compares all that is read of the session with the branch in use.
func (w *tree) read() []protocol.Message {
	w.t.Helper()
	h, err := w.History(w.t.Context(), w.key, protocol.ChatHistoryParams{Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	texts := func(msgs []protocol.Message) string {
		var out []string
		for _, m := range msgs {
			out = append(out, m.Text())
		}
		return strings.Join(out, "|")
	}
	want := w.leaf.text()
	if got := texts(h.Messages); got != want || h.TotalMessages != len(h.Messages) {
		row, _ := w.rowOf(w.key)
		w.t.Fatalf("history of %d and %d: %q, want %q; %+v", h.TotalMessages, len(h.Messages), got, want, row)
	}
	if e, err := w.Export(w.t.Context(), w.key, "", 0, 0); err != nil || texts(e.Messages) != want {
		w.t.Fatalf("export %q, want %q, %v", texts(e.Messages), want, err)
	}
	var paged []protocol.Message
	for before := int64(0); ; {
		p, err := w.History(w.t.Context(), w.key, protocol.ChatHistoryParams{Limit: 3, Before: before})
		if err != nil {
			w.t.Fatal(err)
		}
		paged = append(slices.Clone(p.Messages), paged...)
		if !p.HasMore {
			break
		}
		before = p.Messages[0].Meta.Seq
	}
	if texts(paged) != want {
		w.t.Fatalf("in pages %q, want %q", texts(paged), want)
	}
	for i, x := range w.leaf.path() {
		w.versionsOf(h.Messages[2*i], x)
	}
	w.branches()
	return h.Messages
}

func (w *tree) versionsOf(msg protocol.Message, x *utterance) {
	w.t.Helper()
	of, at := 0, 0
	for _, o := range w.all {
		if o.parent == x.parent {
			if of++; o == x {
				at = of
			}
		}
	}
	switch v := msg.Versions; {
	case of == 1 && v == nil:
	case v == nil || v.At != at || len(v.Entries) != of:
		w.t.Fatalf("%q is version %d of %d, told as %+v", x.words, at, of, v)
	case v.Entries[at-1] != msg.Meta.ID:
		w.t.Fatalf("%q has another id than its version", x.words)
	}
}

func (w *tree) branches() {
	w.t.Helper()
	leaves := map[*utterance]bool{}
	for _, x := range w.all {
		leaves[x] = true
	}
	for _, x := range w.all {
		delete(leaves, x.parent)
	}
	if w.leaf != nil {
		leaves[w.leaf] = true // gone back on
	}
	list, err := w.Branches(w.key)
	if err != nil || len(list) != len(leaves) {
		w.t.Fatalf("%d branches, want %d, %v", len(list), len(leaves), err)
	}
	active := 0
	for _, b := range list {
		if b.Active {
			active++
		}
	}
	if active != min(1, len(leaves)) && w.leaf != nil {
		w.t.Fatalf("%d branches are in use: %+v", active, list)
	}
}

// through is the leaf that was said last on the branches through a message.
func (w *tree) through(x *utterance) (leaf *utterance) {
	for _, o := range w.all {
		if slices.Contains(o.path(), x) && !slices.ContainsFunc(w.all, func(c *utterance) bool { return c.parent == o }) {
			leaf = o
		}
	}
	return leaf
}

// idOf is the id of a message, wherever it stands.
func (w *tree) idOf(x *utterance) string {
	w.t.Helper()
	msgs := w.raw()
	for _, m := range msgs {
		if m.Text() == x.answer {
			return m.Meta.ID
		}
	}
	w.t.Fatalf("%q is lost", x.answer)
	return ""
}

// raw is every entry of the transcript.
func (w *tree) raw() []protocol.Message {
	row, err := w.rowOf(w.key)
	if err != nil {
		w.t.Fatal(err)
	}
	msgs, _, err := w.Searchable().Entries(row.SessionID, 0, 1<<20)
	if err != nil {
		w.t.Fatal(err)
	}
	return msgs
}

func (w *tree) step() string {
	ctx := w.t.Context()
	path := w.leaf.path()
	words := fmt.Sprint("words ", w.n)
	what := w.rnd.IntN(8)
	if len(path) == 0 && what != 5 || len(w.all) == 0 {
		what = 0
	}
	switch what {
	case 0, 1:
		parent := w.leaf
		w.took(parent, words, w.run(Turn{Text: words}, w.Submit))
		return "say"
	case 2, 3:
		i := w.rnd.IntN(len(path))
		at := w.read()[2*i+w.rnd.IntN(2)].Meta.ID
		if what == 2 {
			w.took(path[i].parent, words, w.run(Turn{Text: words, Again: Again{Entry: at, Words: true}}, w.AnswerAgain))
			return "edit"
		}
		w.took(path[i].parent, path[i].words, w.run(Turn{Text: "ignored", Again: Again{Entry: at}}, w.AnswerAgain))
		return "again"
	case 4:
		i := w.rnd.IntN(len(path))
		msg, err := w.Rewind(ctx, w.key, w.read()[2*i].Meta.ID)
		if err != nil || msg.Text() != path[i].words {
			w.t.Fatal(err)
		}
		w.leaf = path[i].parent
		return "rewind"
	case 5:
		x := w.all[w.rnd.IntN(len(w.all))]
		if err := w.Switch(ctx, w.key, w.idOf(x)); err != nil {
			w.t.Fatal(err)
		}
		w.leaf = w.through(x)
		return "switch"
	case 6:
		i := w.rnd.IntN(len(path))
		key := fmt.Sprint("agent:main:f", w.n)
		w.n++
		if _, _, err := w.Fork(ctx, w.key, w.read()[2*i+1].Meta.ID, key); err != nil {
			w.t.Fatal(err)
		}
		other := &tree{bench: w.bench, rnd: w.rnd, key: key, n: w.n * 1000, all: path[:i+1], leaf: path[i]}
		other.read()
		other.step()
		other.read()
		return "fork"
	}
	w.Manager.t.histories = newHistories(keptHistory) // as after a start
	return "forget"
}

// A session with branches reads as a simple tree does, for people, models, exports
// and lists, and nothing of it is ever lost.
func TestBranchesAreATree(t *testing.T) {
	for range seed.Rounds(6, 60) {
		w := &tree{bench: newBench(t, echo, nil, policy(Followup)), rnd: seed.New(t), key: benchKey}
		for range 40 {
			did := w.step()
			if w.read(); len(w.raw()) != 2*len(w.all) {
				t.Fatalf("after %s there are %d entries of %d messages", did, len(w.raw()), len(w.all))
			}
			if wrong := w.differs(t); wrong != "" {
				t.Fatalf("after %s: %s", did, wrong)
			}
		}
		w.close()
	}
}

// A summary holds on the branches that share what it stands for. On others the
// model is given the words themselves, and back there the summary again.
func TestSummariesGoWithTheirBranch(t *testing.T) {
	w := &tree{bench: newBench(t, echo, nil, policy(Followup)), rnd: seed.New(t), key: benchKey}
	defer w.close()
	for i := range 5 {
		words := fmt.Sprint("words ", i)
		w.took(w.leaf, words, w.run(Turn{Text: words}, w.Submit))
	}
	if _, err := w.Compact(t.Context(), w.key, ""); err != nil {
		t.Fatal(err)
	}
	msgs, first := w.read(), w.leaf
	summary := func() bool { row, _ := w.rowOf(w.key); return row.Compaction != nil }
	w.run(Turn{Text: "late", Again: Again{Entry: msgs[8].Meta.ID, Words: true}}, w.AnswerAgain)
	if !summary() {
		t.Error("a branch behind what was summarized lost the summary")
	}
	if err := w.Switch(t.Context(), w.key, msgs[9].Meta.ID); err != nil {
		t.Fatal(err)
	}
	w.took(first.path()[0], "early", w.run(Turn{Text: "early", Again: Again{Entry: msgs[2].Meta.ID, Words: true}}, w.AnswerAgain))
	if summary() {
		t.Error("the summary of another branch is in force")
	}
	if err := w.Switch(t.Context(), w.key, msgs[9].Meta.ID); err != nil || !summary() {
		t.Errorf("the summary did not come back: %v", err)
	}
}

// While an answer is made, and for what somebody else said, no branch begins.
func TestSec_NoBranchWhileAnsweringOrOfOthers(t *testing.T) {
	go1 := make(chan struct{})
	b := newBench(t, func(ctx context.Context, n int, req model.Request, yield func(model.Event) bool) {
		if n == 1 {
			<-go1
		}
		echo(ctx, n, req, yield)
	}, nil, policy(Followup))
	defer b.close()
	ctx := t.Context()
	b.must("a", "one")
	if _, err := b.Wait(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	h, _ := b.History(ctx, benchKey, protocol.ChatHistoryParams{})
	id := h.Messages[0].Meta.ID
	again := func(run string) error {
		_, err := b.AnswerAgain(ctx, Turn{RunID: run, SessionKey: benchKey, Owner: true, Text: "x", Again: Again{Entry: id, Words: true}})
		return err
	}
	if err := again("g"); !errors.Is(err, ErrNotYours) { // send does not say Owner
		t.Errorf("a guest's message was answered as the owner's: %v", err)
	}
	if _, err := b.Submit(ctx, Turn{RunID: "b", SessionKey: benchKey, Text: "two", Owner: true}); err != nil {
		t.Fatal(err)
	}
	h, _ = b.History(ctx, benchKey, protocol.ChatHistoryParams{})
	id = h.Messages[2].Meta.ID
	_, rewind := b.Rewind(ctx, benchKey, id)
	for what, err := range map[string]error{"again": again("c"), "switch": b.Switch(ctx, benchKey, id), "rewind": rewind} {
		if !errors.Is(err, ErrBusy) {
			t.Errorf("%s while an answer is made: %v", what, err)
		}
	}
	close(go1)
	if _, err := b.Wait(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	if err := again("c"); err != nil {
		t.Error(err)
	}
	acc, err := b.AnswerAgain(ctx, Turn{RunID: "c", SessionKey: benchKey, Owner: true, Text: "x", Again: Again{Entry: id, Words: true}})
	if err != nil || !acc.Duplicate {
		t.Errorf("the same again: %+v, %v", acc, err)
	}
	if _, err := b.Wait(ctx, "c"); err != nil {
		t.Fatal(err)
	}
}
