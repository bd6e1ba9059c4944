package telegramtest

import (
	"net/http"
	"time"
)

// Fault is what happens to one call instead of its answer.
type Fault struct {
	// An answer that is not ok. Status 0: none of these.
	Status      int
	Description string
	RetryAfter  int
	MigrateTo   int64
	Body        string // this text instead of JSON

	// CutBefore breaks the connection, and nothing was done. CutAfter does what
	// was asked and breaks it then. The caller sees the same.
	CutBefore, CutAfter bool
	Hang                bool          // never answer
	Delay               time.Duration // answer late
}

// Fail makes the next calls of a method fail, one fault each.
func (s *Server) Fail(method string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], faults...)
}

// Revoke makes the token invalid.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = true
	s.changed()
}

// Deaf lets polls hang without any answer, also those that wait already.
func (s *Server) Deaf(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf = on
	s.changed()
}

// Limit allows so many messages into one chat in a time.
func (s *Server) Limit(messages int, per time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.perChat, s.perTime = messages, per
}

// fail reports whether the call was dealt with.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, method string, params map[string]any, f Fault) bool {
	switch {
	case f.CutAfter:
		_, _ = s.dispatch(r.Context(), method, params)
		cut(w)
	case f.CutBefore:
		cut(w)
	case f.Hang:
		<-r.Context().Done()
	case f.Body != "":
		status := f.Status
		if status == 0 {
			status = http.StatusOK
		}
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(f.Body))
	case f.Status != 0:
		write(w, nil, &refusal{code: f.Status, text: f.Description, retryAfter: f.RetryAfter, migrateTo: f.MigrateTo})
	case f.Delay > 0:
		t := time.NewTimer(f.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
		}
		return false
	default:
		return false
	}
	return true
}

func cut(w http.ResponseWriter) {
	h, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	if conn, _, err := h.Hijack(); err == nil {
		_ = conn.Close()
	}
}

// overRate reports how long to wait; the lock is held.
func (s *Server) overRate(chat int64) int {
	if s.perChat == 0 {
		return 0
	}
	now := time.Now()
	recent := s.rate[chat][:0]
	for _, t := range s.rate[chat] {
		if now.Sub(t) < s.perTime {
			recent = append(recent, t)
		}
	}
	s.rate[chat] = recent
	if len(recent) >= s.perChat {
		return max(1, int((s.perTime-now.Sub(recent[0])+time.Second-1)/time.Second))
	}
	s.rate[chat] = append(recent, now)
	return 0
}
