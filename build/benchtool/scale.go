package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	scaleSessions = 10_000
	scaleEntries  = 1_000_000
	bigSession    = 10_000 // entries of the largest one
	scaleStarts   = 10
	scaleReads    = 300
)

// measureScale reads from a store of 10,000 sessions and 1,000,000 entries.
func measureScale(ctx context.Context, b *bench) ([]figure, error) {
	dir, err := b.home()
	if err != nil {
		return nil, err
	}
	if err := b.bigStore(ctx, dir.Store()); err != nil {
		return nil, fmt.Errorf("make the large store: %w", err)
	}
	var starts []time.Duration
	for range scaleStarts {
		g, err := b.startGateway(ctx, dir)
		if err != nil {
			return nil, err
		}
		starts = append(starts, g.start)
		g.stop()
	}
	g, err := b.startGateway(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer g.stop()
	c, err := g.connect(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	lists, err := timeLists(ctx, c)
	if err != nil {
		return nil, err
	}
	histories, err := timeHistories(ctx, c)
	if err != nil {
		return nil, err
	}
	mb, _, err := g.memory()
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%d sessions, %d entries", scaleSessions, scaleEntries)
	return []figure{
		{name: "sessions.list, p95", measured: quantile(lists, 0.95), budget: 10, unit: "ms", note: what + fmt.Sprintf("; p50 %.2f ms",
			quantile(lists, 0.5))},
		{name: "chat.history, p95", measured: quantile(histories, 0.95), budget: 10, unit: "ms", note: fmt.Sprintf("newest 200; p50 %.2f ms",
			quantile(histories, 0.5))},
		{name: "start with that store, p95", measured: quantile(starts, 0.95), budget: 200, unit: "ms",
			note: fmt.Sprintf("p50 %.1f ms", quantile(starts, 0.5))},
		{name: "private memory with that store, after the reads", measured: mb, unit: "MB"},
	}, nil
}

func timeLists(ctx context.Context, c *client.Client) (times []time.Duration, err error) {
	for i := range scaleReads {
		// Mostly what the page asks for, sometimes a page further back.
		p := protocol.SessionsListParams{Limit: 100, IncludeDerivedTitles: true, IncludeLastMessage: true, Offset: i % 4 * 100}
		var list protocol.SessionsList
		began := time.Now()
		if err := c.Call(ctx, protocol.MethodSessionsList, p, &list); err != nil {
			return nil, err
		}
		times = append(times, time.Since(began))
		if list.TotalCount != scaleSessions || len(list.Sessions) != 100 {
			return nil, fmt.Errorf("sessions.list tells of %d sessions and shows %d, want %d and 100: the large store is not what this gateway "+
				"writes", list.TotalCount, len(list.Sessions), scaleSessions)
		}
	}
	return times, nil
}

func timeHistories(ctx context.Context, c *client.Client) (times []time.Duration, err error) {
	for i := range scaleReads {
		n := i * 37 % scaleSessions
		if i%10 == 0 {
			n = 0 // the big one
		}
		want := min(200, entriesOf(n))
		var h protocol.ChatHistory
		began := time.Now()
		if err := c.Call(ctx, protocol.MethodChatHistory, protocol.ChatHistoryParams{SessionKey: sessionKey(n), Limit: 200}, &h); err != nil {
			return nil, err
		}
		times = append(times, time.Since(began))
		if len(h.Messages) != want {
			return nil, fmt.Errorf("chat.history of %s shows %d messages, want %d: the large store is not what this gateway writes", sessionKey(n),
				len(h.Messages), want)
		}
	}
	return times, nil
}

func sessionKey(n int) string { return fmt.Sprintf("agent:main:s%05d", n) }

// entriesOf spreads the entries: session 0 is big, the others share the rest
// evenly, in pairs of question and answer.
func entriesOf(n int) int {
	if n == 0 {
		return bigSession
	}
	pairs := (scaleEntries - bigSession) / 2
	each, more := pairs/(scaleSessions-1), pairs%(scaleSessions-1)
	if n <= more {
		each++
	}
	return 2 * each
}

// bigStore puts the large store at path. Making it takes a while, so it is kept
// in the cache; its name changes with what is in it.
func (b *bench) bigStore(ctx context.Context, path string) error {
	kept := filepath.Join(b.cache, fmt.Sprintf("store-v1-%dx%d.db", scaleSessions, scaleEntries))
	if _, err := os.Stat(kept); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintln(os.Stderr, "  filling the large store; it is kept for the next time")
		next := filepath.Join(b.work, "fill", "hearth.db")
		if err := statedir.Dir(filepath.Dir(next)).Ensure(); err != nil {
			return err
		}
		if err := fill(ctx, next); err != nil {
			return err
		}
		if err := os.Rename(next, kept); err != nil {
			return err
		}
	}
	return copyFile(kept, path)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	// Flushed, so that the disk is quiet when the first start is timed.
	return errors.Join(err, out.Sync(), out.Close())
}

// fill writes the tables of gateway/session as it does itself; timeLists and
// timeHistories notice when it does no more.
func fill(ctx context.Context, path string) error {
	db, err := store.Open(path, store.Options{NoSync: true, ReserveBytes: -1})
	if err != nil {
		return err
	}
	var (
		sessions = store.NewBucket[session.Row]("sessions")
		recent   = store.NewBucket[struct{}]("sessions.recent")
		entries  = store.NewBucket[protocol.Message]("entries")
		runs     = store.NewBucket[session.Run]("runs")
	)
	order := make([]int, scaleSessions) // by id, so that the file grows at its end
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(sessionID(a), sessionID(b)) })
	for chunk := range slices.Chunk(order, 50) {
		err := db.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
			for _, n := range chunk {
				row := sessionRow(n)
				at := binary.BigEndian.AppendUint64(nil, ^uint64(row.UpdatedAt))
				if err := errors.Join(sessions.Put(tx, []byte(row.Key), row), recent.Put(tx, append(at, row.Key...), struct{}{})); err != nil {
					return err
				}
				for turn := range entriesOf(n) / 2 {
					run := sessionRun(row, turn)
					if err := runs.Put(tx, []byte(run.ID), run); err != nil {
						return err
					}
					for _, m := range messages(run) {
						key := binary.BigEndian.AppendUint64(sessionID(n), uint64(m.Meta.Seq))
						if err := entries.Put(tx, key, m); err != nil {
							return err
						}
					}
				}
			}
			return nil
		}})
		if err != nil {
			return errors.Join(err, db.Close(ctx))
		}
	}
	return db.Close(ctx)
}

const scaleEpoch = 1_760_000_000_000 // ms

func sessionID(n int) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "session %d", n))
	return sum[:16]
}

func sessionRow(n int) session.Row {
	id := hex.EncodeToString(sessionID(n))
	id = id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:]
	count := entriesOf(n)
	return session.Row{
		Key: sessionKey(n), SessionID: id, AgentID: "main", CreatedAt: scaleEpoch, UpdatedAt: scaleEpoch + int64(n)*1000,
		Title: fmt.Sprintf("What is the answer to question number %d?", n), Preview: "It depends on what was asked, but mostly it is this.",
		NextTurn: uint64(count/2) + 1, Messages: count, LastModel: "bench/" + modelTurn,
	}
}

func sessionRun(row session.Row, turn int) session.Run {
	return session.Run{
		ID: fmt.Sprintf("%s-%05d", row.SessionID, turn), SessionKey: row.Key, SessionID: row.SessionID, Turn: uint64(turn) + 1,
		Digest: row.SessionID, State: session.RunAnswered, AcceptedAt: row.UpdatedAt, StartedAt: row.UpdatedAt, EndedAt: row.UpdatedAt,
	}
}

// messages are the question and the answer of a run, of ordinary length.
func messages(run session.Run) []protocol.Message {
	say := func(role, text string, step int) protocol.Message {
		return protocol.Message{
			Role: role, Content: protocol.TextBlocks(text), Timestamp: run.AcceptedAt,
			Meta: &protocol.MessageMeta{ID: fmt.Sprintf("%s-%d", run.ID, step), Seq: int64(run.Turn<<16) + int64(step), RunID: run.ID},
		}
	}
	q := say(protocol.MessageUser, fmt.Sprintf("Here is question %d of this conversation, in a sentence or two, as people write them.",
		run.Turn), 0)
	q.IdempotencyKey = run.ID + ":user"
	a := say(protocol.MessageAssistant, fmt.Sprintf("And this is answer %d. It is a short paragraph with **some** Markdown in it, `a "+
		"little code`, and enough words to be like what a model says when it is asked to be brief.", run.Turn), 1)
	a.Provider, a.Model, a.StopReason = "bench", modelTurn, "stop"
	return []protocol.Message{q, a}
}
