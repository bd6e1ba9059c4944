package server

import (
	"strconv"
	"time"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Audience says who of those that may see an event gets it.
type Audience int

const (
	Everyone         Audience = iota // every connection with the event's scope
	SessionsWatchers                 // called sessions.subscribe
	MessageWatchers                  // called sessions.messages.subscribe for SessionKey
	ToolWatchers                     // has the cap tool-events
	ThoughtWatchers                  // has the cap hearth.thoughts, and watches the session
)

// Broadcast is an event that must arrive. With a RunID it comes after all text
// of that run that came before it; EndsRun is set on the run's terminal event,
// which carries the whole text and takes the place of what is not yet sent.
// A protocol.ChatEvent payload gets its Seq here, in one row with the deltas.
type Broadcast struct {
	Event      string
	Payload    any
	Audience   Audience
	SessionKey string
	RunID      string
	EndsRun    bool
}

// runIdle is how long a run may be silent before its live state is dropped;
// should it go on, clients get its text from the start.
const runIdle = 30 * time.Minute

// Broadcast queues the event for everybody in its audience. It never blocks.
// An event without a row in the scope table goes to nobody.
func (s *Server) Broadcast(b Broadcast) {
	scope, ok := protocol.EventScope(b.Event)
	if !ok {
		s.log.Error("event without a scope is not sent", "event", b.Event)
		return
	}
	for _, hear := range s.overhear {
		hear(b)
	}
	if b.RunID == "" {
		s.publish(&b, scope, nil)
		return
	}
	chat := asChatEvent(&b)
	r := s.runOf(b.RunID, chat != nil && !b.EndsRun, func(r *run) {
		r.sessionKey = b.SessionKey
		if chat != nil {
			r.agentID = chat.AgentID
		}
	})
	if r == nil { // it never spoke, or is over
		if chat != nil && chat.Seq == 0 {
			chat.Seq = 1
			b.Payload = chat
		}
		s.endRun(&b)
		s.publish(&b, scope, nil)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.touched = s.now()
	if !b.EndsRun && !r.ended {
		s.show(r, &r.slim)
		s.show(r, &r.full)
	}
	if chat != nil {
		r.seq++
		chat.Seq = r.seq
		b.Payload = chat
	}
	s.publish(&b, scope, r)
	if b.EndsRun {
		r.ended = true
		r.stop()
		s.dropRun(r)
		s.endRun(&b)
	}
}

func (s *Server) endRun(b *Broadcast) {
	if !b.EndsRun {
		return
	}
	s.runsMu.Lock()
	defer s.runsMu.Unlock()
	s.over.add(b.RunID)
}

// asChatEvent returns a copy of a chat payload, so that the caller's stays as
// it is.
func asChatEvent(b *Broadcast) *protocol.ChatEvent {
	switch e := b.Payload.(type) {
	case protocol.ChatEvent:
		return &e
	case *protocol.ChatEvent:
		c := *e
		return &c
	}
	return nil
}

// publish encodes the event once and queues it; r.mu is held when r is set.
func (s *Server) publish(b *Broadcast, scope protocol.Scope, r *run) {
	var head []byte
	tail := s.stateTail(b.Event)
	for _, c := range *s.conns.Load() {
		if b.EndsRun && r != nil {
			c.out.forget(func(other *run) bool { return other == r })
		}
		if !c.wants(b, scope) {
			continue
		}
		if head == nil {
			var err error
			if head, err = eventHead(b.Event, b.Payload); err != nil {
				s.log.Error("event is not sent", "error", err)
				return
			}
		}
		it := item{frame: head, event: true, tail: tail}
		if r != nil && !b.EndsRun {
			it.run, it.upto = r, r.paceOf(c.out.slim).upto
		}
		if !c.out.pushEvent(it) {
			c.log.Warn("client is too slow and is cut off", "client", c.caller.Client.ID)
			c.end(websocket.StatusTryAgainLater, "slow", true)
		}
	}
}

// stateTail is the state version that presence and health events carry.
func (s *Server) stateTail(event string) string {
	if event != protocol.EventPresence && event != protocol.EventHealth {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if event == protocol.EventPresence {
		s.state.Presence++
	} else {
		s.state.Health++
	}
	return `,"stateVersion":{"presence":` + strconv.Itoa(s.state.Presence) + `,"health":` + strconv.Itoa(s.state.Health) + `}`
}

// Delta shows more of a run's text. It never blocks; clients that are slow get
// fewer and longer steps of the same text.
func (s *Server) Delta(d Delta) {
	r := s.runOf(d.RunID, true, func(r *run) { r.sessionKey, r.agentID = d.SessionKey, d.AgentID })
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.touched = s.now()
	r.grow(&d)
	s.pace(r, &r.slim)
	s.pace(r, &r.full)
}

// pace shows the text now or, when that was done a moment ago, once the pace
// allows it; r.mu is held.
func (s *Server) pace(r *run, p *pace) {
	if p.timer != nil {
		return
	}
	wait := p.every - time.Since(p.at)
	if wait <= 0 {
		s.show(r, p)
		return
	}
	p.timer = time.AfterFunc(wait, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		p.timer = nil
		if !r.ended {
			s.show(r, p)
		}
	})
}

// show makes the newest text visible to the clients of one pace; r.mu is held.
func (s *Server) show(r *run, p *pace) {
	if !r.step(p, time.Now()) {
		return
	}
	slim := p == &r.slim
	for _, c := range *s.conns.Load() {
		if c.out.slim == slim && c.wantsDeltas(r) {
			c.out.mark(r, p.from, r.epoch)
		}
	}
}

// runOf finds a run, or makes it when create is set. A run that is over is
// never made again: what comes late would look like a new answer.
func (s *Server) runOf(id string, create bool, fill func(*run)) *run {
	s.runsMu.Lock()
	defer s.runsMu.Unlock()
	r := s.runs[id]
	if r == nil && create && !s.over.has(id) {
		r = &run{id: id, slim: pace{every: s.limits.SlimInterval}, full: pace{every: s.limits.MessageInterval}, touched: s.now()}
		fill(r)
		s.runs[id] = r
	}
	return r
}

func (s *Server) dropRun(r *run) {
	s.runsMu.Lock()
	defer s.runsMu.Unlock()
	if s.runs[r.id] == r {
		delete(s.runs, r.id)
	}
}

func (s *Server) liveRuns() []*run {
	s.runsMu.Lock()
	defer s.runsMu.Unlock()
	all := make([]*run, 0, len(s.runs))
	for _, r := range s.runs {
		all = append(all, r)
	}
	return all
}

// overRuns remembers the last runs that ended.
type overRuns struct {
	ids  map[string]struct{}
	ring []string
	next int
}

const maxOverRuns = 1024

func (o *overRuns) has(id string) bool { _, ok := o.ids[id]; return ok }

func (o *overRuns) add(id string) {
	if o.has(id) {
		return
	}
	if o.ids == nil {
		o.ids = make(map[string]struct{})
	}
	if len(o.ring) < maxOverRuns {
		o.ring = append(o.ring, id)
	} else {
		delete(o.ids, o.ring[o.next])
		o.ring[o.next] = id
		o.next = (o.next + 1) % maxOverRuns
	}
	o.ids[id] = struct{}{}
}

// dropIdleRuns forgets runs that never ended, so that a fault elsewhere cannot
// fill the memory.
func (s *Server) dropIdleRuns() {
	for _, r := range s.liveRuns() {
		r.mu.Lock()
		if s.now().Sub(r.touched) > runIdle {
			r.ended = true
			r.stop()
			s.dropRun(r)
			for _, c := range *s.conns.Load() {
				c.out.forget(func(other *run) bool { return other == r })
			}
		}
		r.mu.Unlock()
	}
}
