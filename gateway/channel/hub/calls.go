package hub

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/internal/httpbody"
)

// Bounds of what anybody can cost who knows an address.
const (
	callTime      = 10 * time.Second // to send a request, and once more to answer it
	callsAtOnce   = 16               // of one account
	callsReading  = 64               // of all, whose bodies are on their way
	callsASecond  = 50               // of one account
	callsBurst    = 200
	mostHeaders   = 64
	longestHeader = 16 << 10
	longestReply  = 64 << 10
	callsTold     = time.Minute // between two words in the log about refused ones
)

// calls is where networks call their accounts. It lets nobody in: the account's
// channel proves who calls, and this keeps what it costs small.
type calls struct {
	h       *Hub
	reading chan struct{}

	mu   sync.Mutex
	list map[name]*counted
}

// counted are the calls of one account.
type counted struct {
	*rate.Limiter
	running chan struct{}
	told    time.Time
	refused int // since then
}

func newCalls(h *Hub) *calls {
	return &calls{h: h, reading: make(chan struct{}, callsReading), list: map[name]*counted{}}
}

// Outward implements server.Outward: networks call by any name.
func (*calls) Outward() {}

func (c *calls) of(n name) *counted {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.list[n]
	if a == nil { // there are as many as accounts
		a = &counted{Limiter: rate.NewLimiter(callsASecond, callsBurst), running: make(chan struct{}, callsAtOnce)}
		c.list[n] = a
	}
	return a
}

// ServeHTTP implements http.Handler.
func (c *calls) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	network, account, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, channel.CallsBelow), "/")
	n := name{network, account}
	var called channel.Called
	if ch := c.h.Find(network, account); ok && ch != nil {
		called, ok = channel.AsCalled(ch)
	} else {
		ok = false
	}
	switch {
	case !ok:
		refuseCall(w, http.StatusNotFound, "No network calls here.", 0)
		return
	case r.Method != http.MethodPost && r.Method != http.MethodGet:
		w.Header().Set("Allow", "GET, POST")
		refuseCall(w, http.StatusMethodNotAllowed, "Networks call with GET and POST.", 0)
		return
	case r.ContentLength > longestCall:
		refuseCall(w, http.StatusRequestEntityTooLarge, "That is more than 1 MB.", 0)
		return
	}
	own := c.of(n)
	if !own.AllowN(c.h.Now(), 1) {
		refuseCall(w, http.StatusTooManyRequests, "That is called too often.", time.Second)
		return
	}
	select {
	case own.running <- struct{}{}:
		defer func() { <-own.running }()
	default:
		refuseCall(w, http.StatusServiceUnavailable, "Too many calls at once.", time.Second)
		return
	}
	body, status := c.body(w, r, callTime)
	if status != 0 {
		refuseCall(w, status, "The request was too long, too slow or cut.", 0)
		return
	}
	c.answer(w, r, n, called, body)
}

// body is that of a request; status is not 0 when there is none to take.
func (c *calls) body(w http.ResponseWriter, r *http.Request, within time.Duration) (body []byte, status int) {
	select {
	case c.reading <- struct{}{}:
		defer func() { <-c.reading }()
	default:
		return nil, http.StatusServiceUnavailable
	}
	body, err := httpbody.Read(w, r, longestCall, within)
	switch {
	case err == nil:
		return body, 0
	case errors.Is(err, httpbody.ErrLarge):
		return nil, http.StatusRequestEntityTooLarge
	case errors.Is(err, httpbody.ErrLate):
		return nil, http.StatusRequestTimeout
	}
	return nil, http.StatusBadRequest
}

// answer asks the account's channel, and writes what it says.
func (c *calls) answer(w http.ResponseWriter, r *http.Request, n name, called channel.Called, body []byte) {
	header, ok := headersOf(r.Header)
	if !ok {
		refuseCall(w, http.StatusRequestHeaderFieldsTooLarge, "The headers are too long.", 0)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), callTime)
	defer cancel()
	a, err := called.Call(ctx, channel.Call{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: header, Body: body})
	if err == nil && (a.Status < 200 || a.Status > 599 || a.Status >= 300 && a.Status < 400 || len(a.Body) > longestReply) {
		err = errors.New("its answer is none that can be passed on")
	}
	if err != nil {
		c.h.Logger.Warn("a network called, and its account had no answer; it is asked to come again", "channel", n.network,
			"account", n.account, "err", err)
		refuseCall(w, http.StatusServiceUnavailable, "Hearth cannot take this now; send it again.", 5*time.Second)
		return
	}
	if a.Status >= 400 && a.Status < 500 {
		c.refused(n, a.Status)
	}
	if a.Status == http.StatusUnauthorized && len(a.Body) == 0 {
		refuseCall(w, a.Status, channel.NotProven(c.h.Kinds.Label(n.network)), 0)
		return
	}
	for _, key := range []string{"Content-Type", "Retry-After", "Allow", "Www-Authenticate"} {
		if v := a.Header.Get(key); v != "" && len(v) < 256 {
			w.Header().Set(key, v)
		}
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body)
}

// refused tells of calls that were, not more often than a log can bear.
func (c *calls) refused(n name, status int) {
	own, now := c.of(n), c.h.Now()
	c.mu.Lock()
	own.refused++
	count := own.refused
	tell := now.Sub(own.told) >= callsTold
	if tell {
		own.told, own.refused = now, 0
	}
	c.mu.Unlock()
	if tell {
		c.h.Logger.Warn("calls of a network were refused", "channel", n.network, "account", n.account, "status", status, "calls", count)
	}
}

// headersOf are those that an account's channel gets; ok is false for too many.
func headersOf(h http.Header) (out http.Header, ok bool) {
	out, size := http.Header{}, 0
	for key, values := range h {
		if key == "Cookie" {
			continue
		}
		for _, v := range values {
			size += len(key) + len(v)
		}
		out[key] = values
	}
	return out, len(out) <= mostHeaders && size <= longestHeader
}

func refuseCall(w http.ResponseWriter, status int, why string, retry time.Duration) {
	if retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(retry.Seconds())))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"ok": false, "error": why})
}
