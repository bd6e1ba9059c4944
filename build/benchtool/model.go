package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
)

const (
	modelTurn     = "stream-8-3"    // a first word at once, then one each 3 ms
	modelParallel = "stream-100-20" // 2 s of words
	modelClock    = "clock"         // words that say when they were sent

	clockWords = 500
	clockGap   = 20 * time.Millisecond
	clockWidth = 18 // bytes of a word: t, 16 digits of microseconds, a space
)

func modelIDs() []string { return []string{modelTurn, modelParallel, modelClock} }

// models is the scripted model with one more: the clock. It remembers the last
// question, so that it can be asked the same once more.
type models struct {
	rest *scripted.Handler
	last atomic.Pointer[[]byte]
}

func newModel() *models { return &models{rest: scripted.New()} }

func (m *models) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if strings.HasSuffix(r.URL.Path, "/chat/completions") {
		if bytes.HasPrefix(body, []byte(`{"model":"`+modelClock+`"`)) { // as our dialect writes it
			tell(w, r)
			return
		}
		m.last.Store(&body)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	m.rest.ServeHTTP(w, r)
}

// tell streams the time, each word on its own schedule, so that a slow reader
// does not slow the clock.
func tell(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	began := time.Now()
	for i := range clockWords {
		select {
		case <-time.After(time.Until(began.Add(time.Duration(i) * clockGap))):
		case <-r.Context().Done():
			return
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"t%016d \"}}]}\n\n", time.Now().UnixMicro())
		if flush() != nil {
			return
		}
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	_ = flush()
}

// oldestWord returns when the first whole word of a delta that starts at
// offset was sent.
func oldestWord(text string, offset int64) (time.Time, bool) {
	skip := int((clockWidth - offset%clockWidth) % clockWidth)
	if len(text) < skip+clockWidth {
		return time.Time{}, false
	}
	var us int64
	if _, err := fmt.Sscanf(text[skip:skip+clockWidth], "t%d ", &us); err != nil {
		return time.Time{}, false
	}
	return time.UnixMicro(us), true
}
