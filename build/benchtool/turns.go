package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

const (
	starts = 30
	turns  = 400
	warmUp = 20
)

// measureStart starts the gateway again and again on one state folder, as a
// person's machine does, and weighs it after the first turn.
func measureStart(ctx context.Context, b *bench) ([]figure, error) {
	dir, err := b.home()
	if err != nil {
		return nil, err
	}
	var times []time.Duration
	for range starts {
		g, err := b.startGateway(ctx, dir)
		if err != nil {
			return nil, err
		}
		times = append(times, g.start)
		g.stop()
	}
	out := []figure{
		{name: "start → port answers, p95", measured: quantile(times, 0.95), budget: 50, unit: "ms",
			note: fmt.Sprintf("p50 %.1f ms, %d starts", quantile(times, 0.5), len(times))},
	}
	g, err := b.startGateway(ctx, dir)
	if err != nil {
		return out, err
	}
	defer g.stop()
	c, answers, err := watcher(ctx, g)
	if err != nil {
		return out, err
	}
	defer c.Close()
	if err := watch(ctx, c, "rss"); err != nil {
		return out, err
	}
	if _, err := turn(ctx, c, answers, "rss", "hello"); err != nil {
		return out, err
	}
	time.Sleep(3 * time.Second) // idle
	private, resident, err := g.memory()
	if err != nil {
		return out, err
	}
	return append(out,
		figure{name: "private memory, idle after the first turn", measured: private, budget: 12, unit: "MB", note: "RssAnon"},
		figure{name: "the same with pages of files", measured: resident, unit: "MB", note: "VmRSS, for information; 40 are allowed"}), nil
}

// answer is what a client sees of one run.
type answer struct {
	runID string
	first time.Time // of the first words; zero in the final event
	final string    // state, in the final event
	text  string
}

// watcher connects a client that reports first words and endings.
func watcher(ctx context.Context, g *gateway) (*client.Client, chan answer, error) {
	answers := make(chan answer, 64)
	seen := map[string]bool{}
	c, err := g.connect(ctx, func(e protocol.Event) {
		at := time.Now()
		if e.Event != protocol.EventChat {
			return
		}
		var ev protocol.ChatEvent
		if json.Unmarshal(e.Payload, &ev) != nil {
			return
		}
		switch ev.State {
		case protocol.ChatDelta:
			if !seen[ev.RunID] {
				seen[ev.RunID] = true
				answers <- answer{runID: ev.RunID, first: at}
			}
		case protocol.ChatFinal, protocol.ChatError, protocol.ChatAborted:
			a := answer{runID: ev.RunID, final: ev.State, text: ev.ErrorMessage}
			if ev.Message != nil {
				a.text = ev.Message.Text()
			}
			answers <- a
		}
	})
	return c, answers, err
}

func watch(ctx context.Context, c *client.Client, session string) error {
	return c.Call(ctx, protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: session}, nil)
}

// timing of one turn, from the moment chat.send was written.
type timing struct{ ack, first time.Duration }

// errNoDelta: a client that was not served for the length of a whole answer gets it
// in one piece.
var errNoDelta = errors.New("an answer ended without a delta")

// turn sends a message and waits for the whole answer.
func turn(ctx context.Context, c *client.Client, answers chan answer, session, text string) (timing, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	p := protocol.ChatSendParams{SessionKey: session, Message: text, IdempotencyKey: fmt.Sprintf("b%d", time.Now().UnixNano())}
	var t timing
	began := time.Now()
	if err := c.Call(ctx, protocol.MethodChatSend, p, nil); err != nil {
		return t, fmt.Errorf("chat.send: %w", err)
	}
	t.ack = time.Since(began)
	for {
		select {
		case a := <-answers:
			switch {
			case a.runID != p.IdempotencyKey:
			case !a.first.IsZero():
				t.first = a.first.Sub(began)
			case a.final != protocol.ChatFinal:
				return t, fmt.Errorf("the answer ended as %s: %s", a.final, a.text)
			case t.first == 0:
				return t, errNoDelta
			default:
				return t, nil
			}
		case <-ctx.Done():
			return t, errors.New("no answer within 20 s")
		}
	}
}

// measureTurn compares the time to the first words through the gateway with
// the model's own, asked directly. It does so twice: on the disk, as people
// have it, and in memory, which shows what is the disk's part.
func measureTurn(ctx context.Context, b *bench) ([]figure, error) {
	dir, err := b.home()
	if err != nil {
		return nil, err
	}
	t, err := timeTurns(ctx, b, dir)
	if err != nil {
		return nil, err
	}
	flush, err := flushTime(string(dir))
	if err != nil {
		return nil, err
	}
	own := quantile(t.direct, 0.5)
	note := fmt.Sprintf("%d turns; %.2f ms less the model's own %.2f ms", turns, quantile(t.firsts, 0.5), own)
	out := []figure{
		{name: "own cost of a turn, p50", measured: quantile(t.firsts, 0.5) - own, budget: 2, unit: "ms", note: note},
		{name: "own cost of a turn, p99", measured: quantile(t.firsts, 0.99) - own, budget: 10, unit: "ms"},
		{name: "the gateway's processor time of a turn", measured: ms(t.cpu) / turns, budget: 3, unit: "ms", work: true,
			note: "from the question to the end of the answer, eight pieces of text"},
		{name: "durable accept (chat.send → ack), p50", measured: quantile(t.acks, 0.5), unit: "ms",
			note: fmt.Sprintf("p99 %.2f ms; one flush of this disk takes %.2f ms, and a commit needs two", quantile(t.acks, 0.99), flush)},
	}
	memory, err := os.MkdirTemp("/dev/shm", "hearth-bench-")
	if err != nil {
		return out, nil // no such place on this system
	}
	defer os.RemoveAll(memory)
	if dir, err = b.homeIn(memory); err != nil {
		return out, err
	}
	if t, err = timeTurns(ctx, b, dir); err != nil {
		return out, err
	}
	own = quantile(t.direct, 0.5)
	return append(out, figure{name: "own cost of a turn without a disk, p50", measured: quantile(t.firsts, 0.5) - own, unit: "ms",
		note: fmt.Sprintf("p99 %.2f ms", quantile(t.firsts, 0.99)-own)}), nil
}

// times of many turns, and of asking the model directly between them.
type times struct {
	acks, firsts, direct []time.Duration
	cpu                  time.Duration // of the gateway, for all of them
	turns                int           // that cpu is of
}

func timeTurns(ctx context.Context, b *bench, dir statedir.Dir) (t times, err error) {
	g, err := b.startGateway(ctx, dir)
	if err != nil {
		return t, err
	}
	defer g.stop()
	c, answers, err := watcher(ctx, g)
	if err != nil {
		return t, err
	}
	defer c.Close()
	var before time.Duration
	for i := range warmUp + turns {
		if i == warmUp {
			if before, err = g.cpu(); err != nil {
				return t, err
			}
		}
		session := fmt.Sprintf("turn-%d", i/20) // 20 turns each, so that history counts too
		if i%20 == 0 {
			if err := watch(ctx, c, session); err != nil {
				return t, err
			}
		}
		one, err := turn(ctx, c, answers, session, fmt.Sprintf("question %d", i))
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
		if i >= warmUp {
			t.acks, t.firsts, t.direct = append(t.acks, one.ack), append(t.firsts, one.first), append(t.direct, d)
		}
	}
	after, err := g.cpu()
	t.cpu = after - before
	return t, err
}

// askDirectly is the time from the request to the model's first words, when it
// is asked what the gateway asked: what it takes to read that is its own time.
func askDirectly(ctx context.Context, url string, question []byte) (time.Duration, error) {
	began := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", bytes.NewReader(question))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	var first time.Duration
	sc := bufio.NewScanner(res.Body)
	for sc.Scan() { // to the end, so that the connection is used again
		if first == 0 && strings.Contains(sc.Text(), `"content":"re:`) {
			first = time.Since(began)
		}
	}
	if first == 0 {
		return 0, errors.New("the model said nothing when asked directly")
	}
	return first, sc.Err()
}

// flushTime is how long this disk takes to make 4 KB durable, the median of 50.
// As in the turns, each comes after a pause: a disk that rests is slower to answer.
func flushTime(dir string) (float64, error) {
	f, err := os.Create(filepath.Join(dir, "flush"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	page := make([]byte, 4096)
	var times []time.Duration
	for range 50 {
		time.Sleep(30 * time.Millisecond)
		began := time.Now()
		if _, err := f.WriteAt(page, 0); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		times = append(times, time.Since(began))
	}
	return quantile(times, 0.5), nil
}
