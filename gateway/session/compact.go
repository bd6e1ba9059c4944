package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Compaction puts a summary in the place of older turns for the model. The
// transcript itself is never changed: the summary and the position it reaches
// up to are one record on the session's row, written in one transaction, so a
// crash leaves the old state or the new one, and taking the record away
// restores everything (F-CRASH-12 by construction).

// Compaction is the summary in force.
type Compaction struct {
	Summary string `json:"summary"`
	UpTo    int64  `json:"upTo"` // position of the last entry that it stands for
	Entries int    `json:"entries"`
	At      int64  `json:"at"`
	Model   string `json:"model"`
	// Others: not all of the words were the owner's own.
	Others bool `json:"others,omitempty"`
}

const (
	// compactAt is the share of the window, in percent, that starts one.
	compactAt = 80
	// keepTurns stay word for word behind a summary.
	keepTurns = 2
	// maxDigest bounds what a summary is made of, in bytes.
	maxDigest = 400 << 10
)

// ErrNothingToCompact: the session is too short.
var ErrNothingToCompact = errors.New("there is nothing to summarize yet")

const compactPrompt = `You summarize a conversation between a person and their assistant so that it can go on from your summary alone.
Keep: what the person wants, decisions, facts, names, numbers, file paths, open questions,
	and what was promised. Leave out greetings and repetition. Write in the person's language, as short notes. Do not answer the conversation.`

// Compact summarizes all but the last turns of a session.
func (m *Manager) Compact(ctx context.Context, key, instructions string) (Compaction, error) {
	row, err := m.rowOf(key)
	if err != nil {
		return Compaction{}, err
	}
	used := &tally{}
	defer func() { m.bookTally(ctx, key, used) }()
	mdl, err := m.Models.Begin(ctx, row.selection(), used)
	if err != nil {
		return Compaction{}, err
	}
	return m.compact(ctx, row, mdl, instructions)
}

func (m *Manager) compact(ctx context.Context, row Row, mdl Model, instructions string) (Compaction, error) {
	turns, err := m.turns(row, row.NextTurn, maxDigest)
	if err != nil {
		return Compaction{}, err
	}
	turns = answered(spoken(turns))
	if len(turns) <= keepTurns {
		return Compaction{}, ErrNothingToCompact
	}
	old := turns[:len(turns)-keepTurns]
	last := old[len(old)-1]
	c := Compaction{UpTo: last[len(last)-1].seq, At: m.nowMs(), Model: mdl.Ref.String()}
	for _, t := range old {
		c.Entries += len(t)
	}
	runs, err := m.runsOf(row, old)
	if err != nil {
		return Compaction{}, err
	}
	c.Others = slices.ContainsFunc(runs, func(r Run) bool { return !r.Owner })
	m.compacting(row, turns)
	m.flush(ctx, row, mdl, old, runs)
	failpoint.Hit("beforeSummary")
	c.Summary, err = m.summarize(ctx, row, mdl, old, instructions)
	if err != nil {
		return Compaction{}, err
	}
	failpoint.Hit("beforeCompactionCommit")
	after, err := m.edit(ctx, row.Key, "compact", false, func(r *Row) error {
		if r.SessionID != row.SessionID {
			return notFound(row.Key) // it was reset meanwhile
		}
		if !slices.Equal(r.Path.until(uint64(c.UpTo)>>16), row.Path.until(uint64(c.UpTo)>>16)) {
			return notFound(row.Key) // another branch is in use by now
		}
		r.Compaction, r.Compactions = &c, r.Compactions+1
		r.Used = len(c.Summary) / bytesPerToken
		for _, t := range turns[len(old):] {
			r.Used += t.size() / bytesPerToken
		}
		return nil
	})
	failpoint.Hit("afterCompactionCommit")
	if err == nil {
		m.compacted(row, after, c)
	}
	return c, err
}

// spoken leaves out commands and their replies, which models never see.
func spoken(turns []turn) []turn {
	return slices.DeleteFunc(turns, func(t turn) bool { return t[0].exclude })
}

// answered leaves out the turns at the end that have no answer yet.
func answered(turns []turn) []turn {
	for len(turns) > 0 && len(turns[len(turns)-1]) == 1 && turns[len(turns)-1][0].role == protocol.MessageUser {
		turns = turns[:len(turns)-1]
	}
	return turns
}

// summarize asks the model. An answer that is no summary is an error, so that
// nothing false takes the place of the conversation.
func (m *Manager) summarize(ctx context.Context, row Row, mdl Model, turns []turn, instructions string) (string, error) {
	body := readable(row, turns)
	if instructions != "" {
		body += "The person asks for this summary: " + instructions + "\n"
	}
	summary, err := ask(ctx, mdl, compactPrompt, body)
	if err != nil {
		return "", fmt.Errorf("summarize the conversation: %w", err)
	}
	if summary == "" {
		return "", &model.Error{Class: model.ClassEmpty, Ref: mdl.Ref}
	}
	return summary, nil
}

// flush lets the model write down what must outlast the summary, where there is
// a place for it. It is silent, and
// failing it does not stop the summary.
func (m *Manager) flush(ctx context.Context, row Row, mdl Model, turns []turn, runs []Run) {
	if m.Notes == nil || mdl.BuiltIn {
		return
	}
	keep, ok := m.Notes(row.Key, runs)
	if !ok {
		return
	}
	notes, err := ask(ctx, mdl, flushPrompt, readable(row, turns))
	if err == nil && notes != "" && !isSilent(notes) {
		err = keep(ctx, notes)
	}
	if err != nil {
		m.Logger.Warn("no notes were kept before a summary", "session", row.Key, "err", err)
	}
}

// runsOf finds the runs that a summary of turns stands for: who spoke. What
// nobody can tell any more counts as somebody else's.
func (m *Manager) runsOf(row Row, turns []turn) (runs []Run, err error) {
	somebody := Run{SessionKey: row.Key, SessionID: row.SessionID}
	if row.Compaction != nil && row.Compaction.Others {
		runs = append(runs, somebody)
	}
	return runs, m.DB.View(func(tx *store.Tx) error {
		for _, t := range turns {
			for _, msg := range t {
				if msg.role != protocol.MessageUser {
					continue
				}
				rec, ok := somebody, false
				if msg.run != "" {
					if rec, ok, err = m.t.runs.Get(tx, []byte(msg.run)); err != nil {
						return err
					}
				}
				if !ok {
					rec = somebody
				}
				runs = append(runs, rec)
			}
		}
		return nil
	})
}

const flushPrompt = `A conversation between a person and their assistant is about to be shortened. Write down what should still be known in a month: facts about the person, decisions, names, dates, preferences, open promises. Short Markdown bullet points in the person's language, nothing else. If nothing is worth keeping, answer exactly NO_REPLY.`

// readable is a conversation as text.
func readable(row Row, turns []turn) string {
	var b strings.Builder
	if row.Compaction != nil {
		b.WriteString("Earlier summary:\n" + row.Compaction.Summary + "\n\n")
	}
	for _, t := range turns {
		for _, msg := range t {
			if msg.words != "" {
				fmt.Fprintf(&b, "%s: %s\n\n", msg.role, msg.words)
			}
		}
	}
	return b.String()
}

// ask makes one call without tools and returns the whole answer.
func ask(ctx context.Context, mdl Model, system, body string) (string, error) {
	req := model.Request{Model: mdl.Ref.Model, System: system, MaxTokens: mdl.MaxTokens,
		Messages: []model.Message{{Role: model.RoleUser, Blocks: []model.Block{{Text: body}}}}}
	var out strings.Builder
	for ev, err := range mdl.Provider.Stream(ctx, req) {
		if err != nil {
			return "", err
		}
		if ev.Kind == model.EventText {
			out.WriteString(ev.Text)
		}
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return strings.TrimSpace(out.String()), nil
}

// Restore takes the summary away: the model sees the whole conversation again.
func (m *Manager) Restore(ctx context.Context, key string) error {
	_, err := m.edit(ctx, key, "compact", false, func(r *Row) error {
		r.Compaction, r.Used = nil, 0
		return nil
	})
	return err
}

// turns reads the turns of a session up to and without the turn before, newest
// first within the budget of bytes, and returns them in order. What a summary
// stands for is left out.
func (m *Manager) turns(row Row, before uint64, budget int) ([]turn, error) {
	return readTurns(m.t.histories.backwards(m.DB, &m.t, row.SessionID, row.Path, int64(seqOf(before, 0))), row.Compaction, budget)
}
