package mcp

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/tool"
)

// Hub has all servers. It is safe for concurrent use.
type Hub struct {
	o    Options
	wake chan struct{}

	mu      sync.Mutex // guards the following
	wanted  map[string]Server
	running map[string]*server
}

// New returns a Hub that does nothing yet: see Configure and Run.
func New(o Options) *Hub {
	if o.Wait == nil {
		o.Wait = pause
	}
	return &Hub{o: o, wake: make(chan struct{}, 1), wanted: map[string]Server{}, running: map[string]*server{}}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Configure says which servers there shall be. Those that are as before go on.
func (h *Hub) Configure(servers []Server) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wanted = make(map[string]Server, len(servers))
	for _, s := range servers {
		h.wanted[s.ID] = s
	}
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Run starts and ends servers as they are wanted, until ctx ends; then none is
// left.
func (h *Hub) Run(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var work sync.WaitGroup
	defer work.Wait()
	for {
		h.reconcile(ctx, &work)
		select {
		case <-h.wake:
		case <-ctx.Done():
			stop()
			return
		}
	}
}

func (h *Hub) reconcile(ctx context.Context, work *sync.WaitGroup) {
	h.mu.Lock()
	var old []*server
	for id, s := range h.running {
		if w, ok := h.wanted[id]; !ok || !reflect.DeepEqual(w, s.set) {
			s.stop()
			old = append(old, s)
			delete(h.running, id)
		}
	}
	h.mu.Unlock()
	for _, s := range old {
		<-s.done
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, w := range h.wanted {
		if h.running[id] != nil {
			continue
		}
		s := newServer(w, &h.o)
		h.running[id] = s
		life, cancel := context.WithCancel(ctx)
		s.stop = cancel
		work.Go(func() {
			defer close(s.done)
			defer cancel()
			s.run(life)
		})
	}
}

func (h *Hub) all() []*server {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]*server, 0, len(h.running))
	for _, id := range slices.Sorted(maps.Keys(h.running)) {
		out = append(out, h.running[id])
	}
	return out
}

func (h *Hub) find(id string) (*server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.running[id]; s != nil {
		return s, nil
	}
	return nil, ErrUnknown
}

// Tools are what the servers that are ready offer now. A tool keeps being the
// one that was listed: when its server changes it, the old one refuses.
func (h *Hub) Tools() []tool.Tool {
	var out []tool.Tool
	any := false
	for _, s := range h.all() {
		offers := s.offers()
		any = any || offers.readable
		for _, t := range offers.tools {
			out = append(out, t)
		}
	}
	if any {
		out = append(out, &readResource{h})
	}
	return out
}

// Has reports whether a tool is offered now.
func (h *Hub) Has(name string) bool {
	return slices.ContainsFunc(h.Tools(), func(t tool.Tool) bool { return t.Spec().Name == name })
}

// Status lists all servers.
func (h *Hub) Status() []Status {
	out := []Status{}
	for _, s := range h.all() {
		out = append(out, s.status())
	}
	return out
}

// Restart begins a server anew, also one that was given up.
func (h *Hub) Restart(id string) error {
	s, err := h.find(id)
	if err != nil {
		return err
	}
	s.restart()
	return nil
}

// Settled returns a server's status once it is ready or has failed.
func (h *Hub) Settled(ctx context.Context, id string) (Status, error) {
	s, err := h.find(id)
	if err != nil {
		return Status{}, err
	}
	for {
		st, changed := s.watch()
		if st.State == Ready || st.State == Failed || st.State == Waiting {
			return st, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return st, context.Cause(ctx)
		}
	}
}
