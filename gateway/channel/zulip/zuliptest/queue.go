package zuliptest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// register makes a queue.
func (s *Server) register(_ *http.Request, p url.Values) (answer, *no) {
	for _, name := range []string{"event_types", "fetch_event_types"} {
		var kinds []string
		if p.Has(name) && json.Unmarshal([]byte(p.Get(name)), &kinds) != nil {
			return nil, bad("%s is not valid JSON", name)
		}
	}
	if p.Get("apply_markdown") != "false" && p.Get("apply_markdown") != "true" {
		return nil, bad("apply_markdown is not a boolean")
	}
	s.made++
	id := fmt.Sprintf("fb67bf8a-c031-47cc-84cf-%012d", s.made)
	s.queues[id] = &queue{pruned: -1}
	return answer{"queue_id": id, "last_event_id": -1, "event_queue_longpoll_timeout_seconds": 90, "zulip_version": "11.4",
		"zulip_feature_level": 421, "max_message_id": s.count}, nil
}

// poll waits until there is an event that the client does not have.
func (s *Server) poll(r *http.Request) (answer, *no) {
	p, err := params(r, []string{"queue_id*", "last_event_id*", "dont_block"})
	if err != nil {
		return nil, err
	}
	last, bads := strconv.ParseInt(p.Get("last_event_id"), 10, 64)
	if bads != nil {
		return nil, bad("last_event_id is not an integer")
	}
	s.count1(1)
	defer s.count1(-1)
	for {
		events, changed, err := s.events(p.Get("queue_id"), last)
		if err != nil || len(events) > 0 {
			return answer{"events": events, "queue_id": p.Get("queue_id")}, err
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return nil, bad("gone")
		case <-s.closing:
			return nil, bad("closing")
		}
	}
}

func (s *Server) count1(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.polls += n
}

// events are those behind the last that the client has, which are pruned.
func (s *Server) events(id string, last int64) ([]json.RawMessage, <-chan struct{}, *no) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, ok := s.queues[id]
	switch {
	case !ok:
		return nil, nil, &no{http.StatusBadRequest, "BAD_EVENT_QUEUE_ID", "Bad event queue ID: " + id}
	case last < q.pruned:
		return nil, nil, bad("An event newer than %d has already been pruned!", last)
	}
	q.pruned = last
	had := func(e map[string]any) bool {
		n, ok := e["id"].(int64)
		return ok && n <= last
	}
	q.events = slices.DeleteFunc(q.events, had)
	out := make([]json.RawMessage, 0, len(q.events))
	for _, e := range q.events {
		b, err := json.Marshal(e)
		if err != nil {
			panic(err) // a test's own mistake
		}
		out = append(out, b)
	}
	return out, s.changed, nil
}
