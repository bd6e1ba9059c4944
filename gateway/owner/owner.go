// Package owner reaches the owner of Hearth on the network where they wrote, for
// questions and notices that do not belong to an answer. What it sends does not
// pass the outbox: a question that is lost expires, a notice stands in the
// conversation too. It does not decide what is asked or told.
package owner

import (
	"context"
	"log/slog"
	"time"

	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/question"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// sendTimeout bounds one message to the owner on a network.
const sendTimeout = 30 * time.Second

// Runs tells about the runs of sessions.
type Runs interface {
	// Why is the record of a run.
	Why(key, runID string) (session.Run, error)
}

// Channels are the messaging networks that are connected.
type Channels interface {
	// Find is the channel of a network and account, nil for none.
	Find(network, account string) channel.Channel
}

// Line leads to the owner. Its methods may be called from several goroutines.
type Line struct {
	runs     Runs
	channels Channels
	desk     *question.Desk
	work     *background.Group
	log      *slog.Logger
}

// New returns a line over the networks that are connected.
func New(runs Runs, channels Channels, db *store.DB, work *background.Group, now func() time.Time, log *slog.Logger) *Line {
	desk := question.New(question.Options{DB: db, Channels: channels, Work: work, Now: now, Logger: log})
	return &Line{runs, channels, desk, work, log}
}

// Desk holds the questions with buttons. Its Run takes away those that are over.
func (l *Line) Desk() *question.Desk { return l.desk }

// Reaches reports whether the owner wrote what led to a run on a network that is
// connected, in a direct chat: never a group, where others read along.
func (l *Line) Reaches(runID string) bool {
	_, _, ok := l.chat(runID)
	return ok
}

// Tell sends words to where the owner wrote what led to a run, and does not wait
// for it; without such a chat it does nothing.
func (l *Line) Tell(runID, text string) {
	ch, to, ok := l.chat(runID)
	if !ok {
		return
	}
	l.work.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, sendTimeout)
		defer cancel()
		if _, err := ch.Send(ctx, channel.Message{To: to, Text: text}); err != nil {
			l.log.Warn("the owner could not be told on a network", "channel", ch.ID(), "err", err)
		}
	})
}

// Ask asks the owner where they wrote what led to a run: with buttons where the network
// has them, and with words, which say how to answer, where it has none; without words nothing
// is asked there.
func (l *Line) Ask(runID string, q question.Question, words string) {
	ch, to, ok := l.chat(runID)
	if !ok {
		return
	}
	tell := func() {
		if words != "" {
			l.Tell(runID, words)
		}
	}
	if !question.Shows(ch, len(q.Options)) {
		tell()
		return
	}
	q.Channel, q.To, q.Owner = ch.ID(), to, true
	err := l.desk.Ask(q, func(error) { tell() })
	if err != nil {
		l.log.Warn("a question could not be kept, so it is asked without buttons", "err", err)
		tell()
	}
}

// Over ends the questions of a subject, and says why below them.
func (l *Line) Over(subject, said string) { l.desk.Over(subject, said) }

// Open are the subjects of the questions that wait for an answer by a button.
func (l *Line) Open() ([]string, error) { return l.desk.Subjects() }

func (l *Line) chat(runID string) (ch channel.Channel, to channel.Target, ok bool) {
	if runID == "" {
		return nil, to, false
	}
	rec, err := l.runs.Why("", runID)
	if err != nil || !rec.Owner {
		return nil, to, false
	}
	r, ok := channel.ParseRoute(rec.Route)
	if !ok || r.Chat != channel.Direct {
		return nil, to, false
	}
	ch = l.channels.Find(r.Channel, r.Account)
	return ch, r.Target(""), ch != nil
}
