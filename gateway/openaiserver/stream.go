package openaiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// stream writes events as they happen. Who does not read is cut off.
type stream struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	limit time.Duration
	begun bool
}

func newStream(w http.ResponseWriter, limit time.Duration) *stream {
	return &stream{w: w, rc: http.NewResponseController(w), limit: limit}
}

// write begins the stream with the first thing there is to say.
func (s *stream) write(text string) error {
	if !s.begun {
		s.begun = true
		h := s.w.Header()
		h.Set("Content-Type", "text/event-stream; charset=utf-8")
		h.Set("X-Accel-Buffering", "no")
		s.w.WriteHeader(http.StatusOK)
	}
	if err := s.rc.SetWriteDeadline(time.Now().Add(s.limit)); err != nil {
		return err
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.rc.Flush()
}

// data writes an event without a name.
func (s *stream) data(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write("data: " + string(raw) + "\n\n")
}

// event writes an event with a name.
func (s *stream) event(name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write(fmt.Sprintf("event: %s\ndata: %s\n\n", name, raw))
}

// comment keeps the connection open; readers skip it.
func (s *stream) comment() error { return s.write(": still here\n\n") }

// done is how chat completions end.
func (s *stream) done() error {
	_ = s.write("data: [DONE]\n\n")
	return nil
}

// whole writes an answer in one piece.
func (s *stream) whole(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	_ = s.rc.SetWriteDeadline(time.Now().Add(s.limit + time.Duration(len(raw))*time.Microsecond))
	s.w.Header().Set("Content-Type", "application/json")
	_, _ = s.w.Write(raw) // who has left does not get it
	return nil
}
