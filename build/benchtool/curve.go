package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	curveWindow   = 2_000_000 // tokens: the longest conversation fits
	curveSessions = 4         // of each age
	curveWarm     = 2         // turns of a session that do not count
	curveTurns    = 25        // turns of a session that count
)

// curveAges are how many turns the conversations have before. 0: new ones.
func curveAges() []int { return []int{0, 10, 100, 1000, 10_000} }

// measureCurve asks what a turn costs in conversations of different ages, all of
// which the model is sent whole.
func measureCurve(ctx context.Context, b *bench) ([]figure, error) {
	dir, err := b.homeFor(b.work, curveWindow)
	if err != nil {
		return nil, err
	}
	if err := fillCurve(ctx, dir); err != nil {
		return nil, err
	}
	g, err := b.startGateway(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer g.stop()
	if err := g.rests(ctx); err != nil {
		return nil, err
	}
	c, answers, err := watcher(ctx, g)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var out []figure
	var fresh float64
	for _, age := range curveAges() {
		t, err := timeAge(ctx, b, g, c, answers, age)
		if err != nil {
			return out, fmt.Errorf("after %d turns: %w", age, err)
		}
		name, own, cpu := "in a new session", quantile(t.firsts, 0.5)-quantile(t.direct, 0.5), ms(t.cpu)/float64(t.turns)
		if age > 0 {
			name = fmt.Sprintf("after %d turns", age)
		} else {
			fresh = cpu
		}
		f := figure{name: "processor time of a turn, " + name, measured: cpu, unit: "ms", work: true,
			note: fmt.Sprintf("%.2f of a new session's; first words after %.2f ms, of which the model %.2f ms, for a question of %d KB",
				cpu/fresh, quantile(t.firsts, 0.5), quantile(t.direct, 0.5), len(*b.asked.last.Load())/1000)}
		switch age {
		case 0:
			f.budget = 3
		case 1000:
			f.budget = 1.3 * fresh
		}
		out = append(out, f, figure{name: "own cost of a turn, p50, " + name, measured: own, unit: "ms"})
	}
	return out, nil
}

// rests waits until the gateway has done what it does after a start, such as
// looking through conversations that the search does not know.
func (g *gateway) rests(ctx context.Context) error {
	before := time.Duration(-1)
	for range 120 {
		now, err := g.cpu()
		if err != nil {
			return err
		}
		if before >= 0 && now-before <= 10*time.Millisecond {
			return nil
		}
		before = now
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.New("the gateway did not come to rest within two minutes of its start")
}

// timeAge takes turns in sessions of one age. A new session is left after a few.
func timeAge(ctx context.Context, b *bench, g *gateway, c *client.Client, answers chan answer, age int) (t times, err error) {
	sessions, warm, counted := curveSessions, curveWarm, curveTurns
	if age == 0 {
		sessions, warm, counted = curveSessions*5, 1, curveTurns/5
	}
	for n := range sessions {
		key := curveKey(age, n)
		if err := watch(ctx, c, key); err != nil {
			return t, err
		}
		var before time.Duration
		for i := range warm + counted {
			if i == warm {
				if before, err = g.cpu(); err != nil {
					return t, err
				}
			}
			one, err := turn(ctx, c, answers, key, fmt.Sprintf("question %d", i))
			if errors.Is(err, errNoDelta) {
				continue
			}
			if err != nil {
				return t, err
			}
			d, err := askDirectly(ctx, b.modelURL, *b.asked.last.Load())
			if err != nil {
				return t, err
			}
			if i >= warm {
				t.acks, t.firsts, t.direct = append(t.acks, one.ack), append(t.firsts, one.first), append(t.direct, d)
			}
		}
		after, err := g.cpu()
		if err != nil {
			return t, err
		}
		t.cpu, t.turns = t.cpu+after-before, t.turns+counted
	}
	return t, nil
}

func curveKey(age, n int) string { return fmt.Sprintf("agent:main:age-%d-%d", age, n) }

// fillCurve writes the old conversations.
func fillCurve(ctx context.Context, dir statedir.Dir) error {
	db, err := store.Open(dir.Store(), store.Options{NoSync: true, ReserveBytes: -1})
	if err != nil {
		return err
	}
	for _, age := range curveAges() {
		for n := range curveSessions {
			if age == 0 {
				continue
			}
			err := db.Update(ctx, store.Write{Do: func(tx *store.Tx) error { return putOld(tx, curveKey(age, n), age, n) }})
			if err != nil {
				return errors.Join(err, db.Close(ctx))
			}
		}
	}
	return db.Close(ctx)
}

// putOld writes one conversation, as the gateway does.
func putOld(tx *store.Tx, key string, age, n int) error {
	id := sessionID(1_000_000 + 10*age + n)
	h := hex.EncodeToString(id)
	row := session.Row{
		Key: key, SessionID: h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], AgentID: "main",
		CreatedAt: scaleEpoch, UpdatedAt: scaleEpoch + int64(n), Title: "An old conversation", NextTurn: uint64(age) + 1, Messages: 2 * age,
	}
	at := append(binary.BigEndian.AppendUint64(nil, ^uint64(row.UpdatedAt)), key...)
	err := errors.Join(
		store.NewBucket[session.Row](session.TableSessions).Put(tx, []byte(key), row),
		store.NewBucket[struct{}]("sessions.recent").Put(tx, at, struct{}{}))
	entries := store.NewBucket[protocol.Message](session.TableEntries)
	for i := range age {
		for _, m := range messages(sessionRun(row, i)) {
			at := binary.BigEndian.AppendUint64(append([]byte(nil), id...), uint64(m.Meta.Seq))
			err = errors.Join(err, entries.Put(tx, at, m))
		}
	}
	return err
}
