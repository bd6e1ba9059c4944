package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Turn is a person's message to be answered.
type Turn struct {
	RunID         string // the client's idempotency key
	SessionKey    string // canonical
	Text          string
	ForAgent      string           // what the model reads instead of Text; "" = Text
	Title         string           // of the session if it has none; "" = the text's beginning
	Model         string           // "provider/model" for this turn only, may be empty
	Hints         Hints            // what the text asks for beside its words, which are ForAgent then
	Outside       bool             // somebody else's words or files came with it: a forward
	TimeoutMs     int64            // 0 = the configured one
	Mode          Mode             // what to do behind a running answer; "" = the session's
	Route         string           // where it came from, and where the answer goes; "" = the gateway's own clients
	Deliver       string           // where the answer goes instead; "": there
	Follows       bool             // a person said it: the answer follows them to where they go on (Row.Dock)
	Owner         bool             // the words are the owner's own; others get fewer tools
	AwaitModel    bool             // it waits until a model was chosen to answer
	Sender        string           // who said them on the route
	QuoteSelected bool             // a part of a message there was chosen to reply to
	ReplyTo       string           // the message there that is answered
	Pictures      []protocol.Block // of type image or file, kept already
	Spoken        []Spoken         // what was written down of sounds that came with it; not part of the message
	Origin        *Origin          // where it came from; nil = the gateway's own clients
	Passing       bool             // its Origin is not where the session is held from now on
	Relay         Relay            // set when another session sent it
	Terms         *Terms           // nil: as usual
	Again         Again            // which message it takes the place of; see AnswerAgain
	Expected      Expected         // which session it is meant for; not part of the message
	// Past is what was said before, for a session without messages; another one
	// knows better.
	Past []protocol.Message
	// With changes more in the transaction that accepts the message; its error
	// refuses the message. It may run more than once, and does not run for a
	// message that was accepted before. nil: nothing.
	With func(tx *store.Tx) error
}

// Spoken is what a program heard in a sound of a message.
type Spoken struct {
	Text string
	Path string // where the sound is kept in the workspace, "" when no tool reaches it
	MIME string
}

// Accepted tells what became of a Submit.
type Accepted struct {
	Run       Run
	Duplicate bool   // the run was accepted before
	Live      bool   // it has not ended
	Text      string // of the message
}

// ErrConflict: the run id was used for another message.
var ErrConflict = errors.New("this idempotency key was used for another message")

func digest(key, text string, pictures ...protocol.Block) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s", len(key), key)
	h.Write([]byte(text))
	for _, p := range pictures {
		fmt.Fprintf(h, "\x00%s", p.MediaID)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Submit accepts a message: when it returns without error the message, its run
// and its place in the queue are on disk. The same RunID and text again return
// the same run and add nothing.
func (m *Manager) Submit(ctx context.Context, turn Turn) (Accepted, error) {
	return m.SubmitWith(ctx, turn, nil)
}

func (m *Manager) isClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

// SubmitWith is Submit that makes something more durable in the transaction that
// accepts the message, or finds that it was accepted before; an error of also
// takes all of it back. also may run more than once and must only touch tx.
func (m *Manager) SubmitWith(ctx context.Context, turn Turn, also func(tx *store.Tx) error) (Accepted, error) {
	if m.isClosed() {
		return Accepted{}, ErrClosed
	}
	s := &submission{m: m, l: m.laneOf(turn.SessionKey), turn: turn, digest: digest(turn.SessionKey, turn.Text, turn.Pictures...)}
	failpoint.Hit("beforeAcceptCommit")
	err := m.DB.Update(ctx, store.Write{
		Do: func(tx *store.Tx) error {
			if err := s.write(tx); err != nil || also == nil {
				return err
			}
			return also(tx)
		},
		Then: s.begin,
	})
	if err != nil {
		return Accepted{}, err
	}
	failpoint.Hit("afterAcceptCommit")
	if !s.acc.Duplicate && s.policy.Drop != DropNew {
		m.dropOldest(s.l, s.policy)
	}
	return s.acc, nil
}

// submission is one message on its way into its session. write sets what is behind
// digest, each time anew.
type submission struct {
	m      *Manager
	l      *lane
	turn   Turn
	digest string

	acc     Accepted
	policy  QueuePolicy
	row     Row
	created bool // the session, with this message
}

// write puts the message, its run and its place in the queue into a transaction, or
// finds that they are there.
func (s *submission) write(tx *store.Tx) error {
	s.acc, s.created = Accepted{}, false
	old, ok, err := s.m.t.runs.Get(tx, []byte(s.turn.RunID))
	switch {
	case err != nil:
		return err
	case ok && old.Digest != s.digest:
		return ErrConflict
	case ok:
		s.acc = Accepted{Run: old, Duplicate: true, Live: !old.State.Ended()}
		return nil
	}
	if s.row, s.created, err = s.m.openRow(tx, s.turn.SessionKey); err != nil {
		return err
	}
	if err := s.m.open(tx, &s.row, s.turn, s.created); err != nil {
		return err
	}
	s.policy = s.m.Settings.Queue(s.turn.Route).over(s.row.Queue)
	s.policy.Mode = cmp.Or(s.turn.Mode, s.policy.Mode)
	if s.policy.Drop == DropNew && s.l.waiting() >= s.policy.Cap {
		return fmt.Errorf("%w (%d); wait for an answer, stop the running one, or raise the cap", ErrQueueFull, s.policy.Cap)
	}
	turn := s.turn
	turn.Mode = s.policy.Mode
	s.acc.Live, s.acc.Text = true, turn.Text
	s.acc.Run, err = s.m.accept(tx, &s.row, turn, s.digest, s.l.idle())
	return err
}

// begin puts the accepted message in line and shows it.
func (s *submission) begin() {
	if s.acc.Duplicate {
		return
	}
	if s.created {
		s.m.count.Add(1)
	}
	r := s.m.newRun(s.acc.Run, cmp.Or(s.turn.ForAgent, s.turn.Text))
	r.debounce = s.policy.Debounce
	s.m.showing.Lock() // that it was accepted is shown before that it begins
	defer s.m.showing.Unlock()
	if s.m.enqueue(r) {
		s.m.Publish.Chat(protocol.ChatEvent{
			RunID: r.id, SessionKey: s.turn.SessionKey, AgentID: AgentOf(s.turn.SessionKey), State: protocol.ChatStatus, Phase: "queued",
		})
	}
	s.m.Publish.SessionChanged(s.m.changed(s.row, "send", "", r.id))
}

// open makes a session ready for a message: it is the one that was meant, and reads
// as it did where the message is said.
func (m *Manager) open(tx *store.Tx, row *Row, turn Turn, created bool) error {
	if err := turn.Expected.holds(*row, !created); err != nil {
		return err
	}
	if row.Messages == 0 {
		if err := m.seed(tx, row, turn.Past); err != nil {
			return err
		}
	}
	if turn.Again.Entry == "" {
		return nil
	}
	return m.instead(tx, row, turn.Again.Entry)
}

// accept writes the message, its run and its place in the queue. A run that
// will start at once is claimed in the same transaction, which saves a flush.
func (m *Manager) accept(tx *store.Tx, row *Row, turn Turn, sum string, startsNow bool) (Run, error) {
	if turn.With != nil {
		if err := turn.With(tx); err != nil {
			return Run{}, err
		}
	}
	order, err := m.t.pending.NextSeq(tx)
	if err != nil {
		return Run{}, err
	}
	at, err := m.beginTurn(tx, row)
	if err != nil {
		return Run{}, err
	}
	now := m.nowMs()
	rec := Run{
		ID: turn.RunID, SessionKey: row.Key, SessionID: row.SessionID, Turn: at, Accept: order,
		Again: turn.Again.Entry, Digest: sum, State: RunQueued, Model: turn.Model, Hints: turn.Hints, Outside: turn.Outside || row.From != "",
		TimeoutMs:  turn.TimeoutMs,
		AcceptedAt: now,
		Mode:       turn.Mode, Route: turn.Route, Owner: turn.Owner, AwaitModel: turn.AwaitModel, Sender: turn.Sender, ReplyTo: turn.ReplyTo,
		QuoteSelected: turn.QuoteSelected, Relay: turn.Relay, Terms: turn.Terms,
	}
	if startsNow && !m.held() {
		rec.State, rec.Epoch, rec.Attempt, rec.StartedAt = RunClaimed, m.Epoch, 1, now
	}
	rec.Deliver, rec.Docked = row.towards(turn)
	row.Messages++
	row.UpdatedAt = now
	row.Preview = clip(turn.Text, 120)
	row.visited(turn)
	if row.Title == "" {
		row.Title = cmp.Or(clip(turn.Title, 60), firstWords(turn.Text))
	}
	msg := protocol.Message{
		Role: protocol.MessageUser, Content: append(protocol.TextBlocks(turn.Text), turn.Pictures...), Timestamp: now,
		IdempotencyKey: turn.RunID + ":user", ForAgent: turn.ForAgent,
		Meta:   &protocol.MessageMeta{ID: m.NewID(), Seq: int64(seqOf(rec.Turn, 0)), RunID: turn.RunID, IdempotencyKey: turn.RunID + ":user"},
		Origin: messageOrigin(turn), AnswersTo: answersTo(rec, *row), Hearth: &protocol.MessageReceipt{State: protocol.ReceiptAccepted},
	}
	if turn.Relay.From != "" {
		msg.Provenance = &protocol.Provenance{Kind: protocol.ProvenanceSession, SourceSessionKey: turn.Relay.From, SourceTool: turn.Relay.Tool}
	}
	if err := m.t.putEntry(tx, row.SessionID, msg); err != nil {
		return rec, err
	}
	if err := m.t.runs.Put(tx, []byte(rec.ID), rec); err != nil {
		return rec, err
	}
	if err := m.t.pending.Put(tx, store.Uint64Key(order), rec.ID); err != nil {
		return rec, err
	}
	return rec, m.t.putRow(tx, *row)
}

// openRow reads a session's row, or starts one.
func (m *Manager) openRow(tx *store.Tx, key string) (row Row, created bool, err error) {
	row, ok, err := m.t.sessions.Get(tx, []byte(key))
	if err != nil || ok {
		return row, false, err
	}
	now := m.nowMs()
	return Row{Key: key, SessionID: m.NewID(), AgentID: AgentOf(key), CreatedAt: now, UpdatedAt: now, NextTurn: 1}, true, nil
}

// Outcome is how a run ended.
type Outcome struct {
	Run     Run
	Message *protocol.Message // the final answer; nil when there is none
	Usage   model.Usage
}

// Wire is how a run ended, as clients are told.
func (out Outcome) Wire() protocol.AgentResult {
	ref, _ := model.ParseRef(out.Run.AnsweredBy)
	res := protocol.AgentResult{RunID: out.Run.ID, Status: "ok", Summary: "completed", Result: protocol.AgentPayload{
		Payloads: []protocol.AgentText{},
		Meta: protocol.AgentMeta{
			DurationMs: out.Run.EndedAt - out.Run.StartedAt,
			AgentMeta:  protocol.AgentModelMeta{SessionID: out.Run.SessionID, Provider: ref.Provider, Model: ref.Model},
		},
	}}
	if out.Message != nil {
		res.Result.Payloads = append(res.Result.Payloads, protocol.AgentText{Text: out.Message.Text()})
		res.Result.Meta.AgentMeta.Usage = out.Message.Usage
	}
	if out.Run.State != RunAnswered {
		res.Status, res.Summary = "error", out.Run.ErrorText
		if res.Summary == "" {
			res.Summary = string(out.Run.State)
		}
	}
	return res
}

// Wait returns when the run has ended, or with ctx's error.
func (m *Manager) Wait(ctx context.Context, runID string) (Outcome, error) {
	if r := m.liveRun(runID); r != nil {
		select {
		case <-r.done:
		case <-ctx.Done():
			return Outcome{}, ctx.Err()
		}
	}
	var out Outcome
	err := m.DB.View(func(tx *store.Tx) error {
		rec, ok, err := m.t.runs.Get(tx, []byte(runID))
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("run %q: %w", clip(runID, 80), ErrNotFound)
		}
		if !rec.State.Ended() {
			return ErrClosed // it was left for the next start
		}
		out.Run = rec
		last, err := m.lastOfTurn(tx, rec)
		if err != nil || last == nil || last.Role != protocol.MessageAssistant {
			return err
		}
		out.Message = last
		if last.Usage != nil {
			out.Usage = last.Usage.Usage
		}
		return nil
	})
	return out, err
}

// lastOfTurn returns the last entry that a run wrote, nil when there is none.
func (m *Manager) lastOfTurn(tx *store.Tx, rec Run) (*protocol.Message, error) {
	prefix, err := entryPrefix(rec.SessionID)
	if err != nil {
		return nil, err
	}
	turn := max(rec.Turn, rec.AnswerTurn)
	end, _ := entryKey(rec.SessionID, seqOf(turn+1, 0))
	start, _ := entryKey(rec.SessionID, seqOf(turn, 0))
	for row, err := range m.t.entries.Scan(tx, store.Range{Prefix: prefix, Before: end, After: start, Reverse: true}) {
		if err != nil {
			return nil, err
		}
		return &row.Value, nil
	}
	return nil, nil
}

// clip shortens text to its first words on one line, never inside a rune.
func clip(s string, n int) string {
	return text.Ellipsis(text.Line(text.Prefix(s, n*8)), n)
}
