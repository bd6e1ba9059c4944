package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const (
	watchers    = 200
	parallel    = 500
	connections = 10 // of the parallel sessions
)

// measureWatch lets 200 clients watch one answer of 500 deltas.
func measureWatch(ctx context.Context, b *bench) ([]figure, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	dir, err := b.home()
	if err != nil {
		return nil, err
	}
	g, err := b.startGateway(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer g.stop()
	sender, err := g.connect(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer sender.Close()
	model := protocol.PatchTo("bench/" + modelClock)
	if err := sender.Call(ctx, protocol.MethodSessionsPatch, protocol.SessionsPatchParams{Key: "watched", Model: model}, nil); err != nil {
		return nil, err
	}
	var all []*light
	defer func() {
		for _, l := range all {
			_ = l.conn.CloseNow()
		}
	}()
	for range watchers {
		l, err := g.connectLight(ctx)
		if err != nil {
			return nil, fmt.Errorf("connect client %d: %w", len(all)+1, err)
		}
		all = append(all, l)
		if err := l.call(ctx, protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: "watched"}); err != nil {
			return nil, err
		}
	}
	cpu, err := g.cpu()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	var following sync.WaitGroup
	for _, l := range all {
		following.Go(func() { l.follow(ctx) })
	}
	p := protocol.ChatSendParams{SessionKey: "watched", Message: "what time is it", IdempotencyKey: "watched"}
	if err := sender.Call(ctx, protocol.MethodChatSend, p, nil); err != nil {
		return nil, err
	}
	following.Wait()
	took := time.Since(began)
	after, err := g.cpu()
	if err != nil {
		return nil, err
	}
	var lags []time.Duration
	for _, l := range all {
		if l.err != nil {
			return nil, l.err
		}
		lags = append(lags, l.lags...)
	}
	return []figure{
		{name: "200 clients, 500 deltas: most behind", measured: quantile(lags, 1), budget: 50, unit: "ms",
			note: fmt.Sprintf("p50 %.1f, p99 %.1f ms, %d frames, all whole, %.1f s", quantile(lags, 0.5), quantile(lags, 0.99), len(lags),
				took.Seconds())},
		{name: "200 clients, 500 deltas: gateway's processors", measured: (after - cpu).Seconds() / took.Seconds(), budget: 1, unit: "cores"},
	}, nil
}

func crowd(ctx context.Context, g *gateway, n int, onEvent func(int) func(protocol.Event)) ([]*client.Client, error) {
	all := make([]*client.Client, n)
	group, ctx2 := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for i := range n {
		group.Go(func() (err error) {
			all[i], err = g.connect(ctx2, onEvent(i))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		leave(all)
		return nil, fmt.Errorf("connect %d clients: %w", n, err)
	}
	return all, nil
}

func leave(all []*client.Client) {
	for _, c := range all {
		if c != nil {
			_ = c.Close()
		}
	}
}

// tally counts the endings of many runs.
type tally struct {
	mu     sync.Mutex
	ended  map[string]bool
	wrong  []string
	frames int
	done   chan struct{}
}

func (t *tally) event(e protocol.Event) {
	if e.Event != protocol.EventChat {
		return
	}
	var ev protocol.ChatEvent
	if json.Unmarshal(e.Payload, &ev) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.frames++
	if ev.State != protocol.ChatFinal && ev.State != protocol.ChatError && ev.State != protocol.ChatAborted {
		return
	}
	if t.ended[ev.RunID] {
		return // another connection's copy
	}
	t.ended[ev.RunID] = true
	text := ""
	if ev.Message != nil {
		text = strings.TrimSpace(ev.Message.Text())
	}
	if ev.State != protocol.ChatFinal || !strings.HasPrefix(text, "re: "+ev.RunID+"\n") || !strings.HasSuffix(text, " w100") {
		t.wrong = append(t.wrong, fmt.Sprintf("%s %s %s", ev.RunID, ev.State, ev.ErrorMessage))
	}
	if len(t.ended) == parallel {
		close(t.done)
	}
}

// measureParallel streams 500 answers at once.
func measureParallel(ctx context.Context, b *bench) ([]figure, error) {
	dir, err := b.home()
	if err != nil {
		return nil, err
	}
	g, err := b.startGateway(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer g.stop()
	seen := &tally{ended: map[string]bool{}, done: make(chan struct{})}
	all, err := crowd(ctx, g, connections, func(int) func(protocol.Event) { return seen.event })
	if err != nil {
		return nil, err
	}
	defer leave(all)
	model := protocol.PatchTo("bench/" + modelParallel)
	each := func(do func(c *client.Client, id string) error) error {
		group := new(errgroup.Group)
		for i := range parallel {
			group.Go(func() error { return do(all[i%connections], fmt.Sprintf("p%d", i)) })
		}
		return group.Wait()
	}
	err = each(func(c *client.Client, id string) error {
		if err := c.Call(ctx, protocol.MethodSessionsPatch, protocol.SessionsPatchParams{Key: id, Model: model}, nil); err != nil {
			return err
		}
		return watch(ctx, c, id)
	})
	if err != nil {
		return nil, err
	}
	cpu, err := g.cpu()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	err = each(func(c *client.Client, id string) error {
		return c.Call(ctx, protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: id, Message: id, IdempotencyKey: id}, nil)
	})
	if err != nil {
		return nil, err
	}
	accepted := time.Since(began)
	select {
	case <-seen.done:
	case <-time.After(2 * time.Minute):
	}
	took := time.Since(began)
	after, err := g.cpu()
	if err != nil {
		return nil, err
	}
	mb, _, err := g.memory()
	if err != nil {
		return nil, err
	}
	seen.mu.Lock()
	defer seen.mu.Unlock()
	note := fmt.Sprintf("all accepted in %.0f ms, done in %.1f s of 2.0 s ideal, %.2f cores, %.0f MB of private memory", ms(accepted),
		took.Seconds(), (after-cpu).Seconds()/took.Seconds(), mb)
	if len(seen.wrong) > 0 {
		note += "; wrong: " + strings.Join(seen.wrong[:min(3, len(seen.wrong))], ", ")
	}
	lost := parallel - len(seen.ended) + len(seen.wrong)
	f := figure{name: "500 sessions at once: not finished", measured: float64(lost), none: true, unit: "of 500", note: note}
	if lost > 0 {
		f.err = fmt.Errorf("%d of %d did not finish well; %s", lost, parallel, note)
	}
	return []figure{f}, nil
}
