package hub

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

// settings are what a channel is made of; another channel is made when they change.
type settings struct {
	texts   map[string]string
	secrets []secret.Setting
	maxFile int
}

func (s settings) equal(o settings) bool {
	return maps.Equal(s.texts, o.texts) && slices.Equal(s.secrets, o.secrets) && s.maxFile == o.maxFile
}

func (h *Hub) settings(n name) (s settings) {
	k, _ := h.Kinds.Get(n.network)
	a := h.Account(n.network, n.account)
	s.texts, s.maxFile = a.Texts(), a.MediaMaxMB
	for _, key := range k.Secrets() {
		s.secrets = append(s.secrets, a.Secret(key))
	}
	return s
}

// running is one Run.
type running struct {
	h     *Hub
	ctx   context.Context
	inbox channel.Inbox
	work  sync.WaitGroup
}

// Run connects every account and serves it until ctx ends. Accounts that the settings
// get meanwhile are connected, those that they lose are ended, and those that they
// change are made anew.
func (h *Hub) Run(ctx context.Context, inbox channel.Inbox) {
	r := &running{h: h, ctx: ctx, inbox: inbox}
	h.runs.Store(true)
	defer h.runs.Store(false)
	defer r.work.Wait()
	changed := make(chan struct{}, 1)
	defer h.Settings.Subscribe(nil, func(_, _ config.Config) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	for _, n := range h.later {
		r.work.Go(func() { h.attach(ctx, n); r.begin(n) })
	}
	r.beginAll()
	for {
		select {
		case <-changed:
			r.follow()
		case <-ctx.Done():
			return
		}
	}
}

func (r *running) beginAll() {
	r.h.mu.Lock()
	names := slices.Collect(maps.Keys(r.h.list))
	r.h.mu.Unlock()
	for _, n := range names {
		r.begin(n)
	}
}

// begin serves an account that was made and does not run yet.
func (r *running) begin(n name) {
	h := r.h
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.list[n]
	if a == nil || a.stop != nil {
		return
	}
	ctx, stop := context.WithCancel(r.ctx)
	a.stop = stop
	r.work.Go(func() {
		defer close(a.done)
		defer stop()
		h.serve(ctx, a, r.inbox)
	})
}

// follow makes the accounts those of the settings. It waits for those that end, so
// that none is there twice.
func (r *running) follow() {
	h := r.h
	wanted := h.configured()
	h.mu.Lock()
	var ended []*attached
	for n, a := range h.list {
		if a.stop != nil && (!slices.Contains(wanted, n) || !a.of.equal(h.settings(n))) {
			a.stop()
			ended = append(ended, a)
			delete(h.list, n)
		}
	}
	clear(h.missed)
	var fresh []name
	for _, n := range wanted {
		if _, made := h.list[n]; !made {
			fresh = append(fresh, n)
		}
	}
	h.mu.Unlock()
	for _, a := range ended {
		<-a.done
	}
	for _, n := range fresh {
		h.attach(r.ctx, n)
		r.begin(n)
	}
}
