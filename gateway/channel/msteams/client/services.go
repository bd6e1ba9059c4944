package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// services are where conversations live at Microsoft: each message says it, and answers
// go there. They are kept, so that an answer finds its way after a restart.
type services struct {
	durable channel.Durable

	mu   sync.Mutex
	kept keptServices
}

// keptServices is what stays over restarts. Usual is where those live that are not
// among the others.
type keptServices struct {
	Usual  string            `json:"usual"`
	Others map[string]string `json:"others,omitempty"` // by conversation
}

const (
	servicesKey = "services"
	mostOthers  = 1000
)

func (s *services) remember(ctx context.Context) error {
	if s.durable == nil {
		return nil
	}
	b, err := s.durable.Get(ctx, servicesKey)
	if err != nil || len(b) == 0 {
		return err
	}
	var k keptServices
	if err := json.Unmarshal(b, &k); err != nil {
		return fmt.Errorf("read where conversations are: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept.Usual == "" {
		s.kept = k
	}
	return nil
}

// of is where a conversation lives.
func (s *services) of(conversation string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, where := range []string{s.kept.Others[conversation], s.kept.Usual} {
		if isService(where) {
			return where
		}
	}
	return everywhere
}

// note keeps where a conversation lives, as Microsoft has signed it.
func (s *services) note(ctx context.Context, conversation, where string) error {
	where = strings.TrimRight(where, "/")
	s.mu.Lock()
	now := s.kept.Others[conversation]
	if now == "" {
		now = s.kept.Usual
	}
	if now == where {
		s.mu.Unlock()
		return nil
	}
	if s.kept.Usual == "" {
		s.kept.Usual = where
	} else {
		if s.kept.Others == nil || len(s.kept.Others) >= mostOthers { // they are told again with the next messages
			s.kept.Others = map[string]string{}
		}
		s.kept.Others[conversation] = where
	}
	b, err := json.Marshal(s.kept)
	s.mu.Unlock()
	if err != nil || s.durable == nil {
		return err
	}
	return s.durable.Put(ctx, servicesKey, b)
}

// isService reports whether an address is of Microsoft's service for Teams: the bot's
// token goes nowhere else.
func isService(address string) bool {
	u, err := url.Parse(address)
	return err == nil && len(address) < 300 && u.Scheme == "https" && u.User == nil && u.RawQuery == "" && u.Fragment == "" &&
		isServiceHost(u.Host) && !strings.Contains(u.Path, "..")
}

// isServiceHost: the names below trafficmanager.net are for everybody to have.
func isServiceHost(host string) bool {
	return host == "smba.trafficmanager.net" || host == "smba.infra.gcc.teams.microsoft.com"
}
