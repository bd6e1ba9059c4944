package telegram

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

const (
	secretHeader = "X-Telegram-Bot-Api-Secret-Token"
	maxHookBody  = 1 << 20
	maxSeen      = 4096
)

// webhook takes updates that Telegram posts to us.
type webhook struct {
	c      *Channel
	url    string
	path   string
	secret func() string

	mu    sync.Mutex // one update at a time, in the order of arrival
	inbox channel.Inbox
	seen  map[int64]bool // taken lately; older repeats are known by message id
	order []int64
}

func newWebhook(c *Channel, o Options) (*webhook, error) {
	u, err := url.Parse(o.WebhookURL)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("channels.telegram.webhookUrl must be the public https:// address at which Telegram reaches this gateway, " +
			"without ? or #")
	}
	if !secretShaped(o.WebhookSecret) {
		return nil, errors.New("channels.telegram.webhookSecret is missing or not usable: without it anybody could write messages in your " +
			"name. Set 16 to 256 letters, digits, _ or -")
	}
	if o.WebhookSecret == o.Token {
		return nil, errors.New("channels.telegram.webhookSecret is the same as botToken: use a text of its own")
	}
	secret := o.WebhookSecret
	path := u.Path
	if path == "" {
		path = "/"
	}
	return &webhook{c: c, url: o.WebhookURL, path: path, secret: func() string { return secret }, seen: map[int64]bool{}}, nil
}

// Webhook is where to mount the handler, and the handler; ok is false in Poll
// mode. The handler answers 503 while Run does not run: Telegram comes again.
func (c *Channel) Webhook() (path string, h http.Handler, ok bool) {
	if c.hook == nil {
		return "", nil, false
	}
	return c.hook.path, c.hook, true
}

func (w *webhook) run(ctx context.Context, inbox channel.Inbox) error {
	w.mu.Lock()
	w.inbox = inbox
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.inbox = nil
		w.mu.Unlock()
	}()
	if err := w.c.persist(ctx, func() error { return w.register(ctx) }); err != nil {
		return err
	}
	for sleep.For(ctx, hookCheck) == nil {
		if err := w.c.persist(ctx, func() error { return w.check(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

// register tells Telegram the address. One connection at a time keeps messages
// in order.
func (w *webhook) register(ctx context.Context) error {
	err := w.c.api.call(ctx, "setWebhook", setWebhook{URL: w.url, Secret: w.secret(), MaxConnections: 1, Allowed: wanted()}, nil)
	if err == nil {
		w.c.answered()
	}
	return err
}

// check is the round trip that shows whether we are still the receiver.
func (w *webhook) check(ctx context.Context) error {
	var info webhookInfo
	if err := w.c.api.call(ctx, "getWebhookInfo", struct{}{}, &info); err != nil {
		return err
	}
	if info.URL != w.url {
		w.c.log.Warn("somebody changed where this Telegram bot delivers; it is set to this gateway again", "host", hostOf(info.URL))
		return w.register(ctx)
	}
	w.c.answered()
	if info.Pending > 0 && info.LastError != "" {
		w.c.setState(channel.Waiting, "Telegram cannot reach the webhook address: "+w.c.api.plain(info.LastError, "no reason given")+". Check "+
			"that channels.telegram.webhookUrl leads to this gateway")
	}
	return nil
}

// ServeHTTP believes nothing before the secret is right: the body of a
// stranger is not read.
func (w *webhook) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if !w.trusted(r) {
		http.Error(rw, "unauthorized", http.StatusUnauthorized)
		return
	}
	if r.Method != http.MethodPost {
		rw.Header().Set("Allow", http.MethodPost)
		http.Error(rw, "post an update", http.StatusMethodNotAllowed)
		return
	}
	raw, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxHookBody))
	if err != nil {
		http.Error(rw, "the update is too long or was cut", http.StatusRequestEntityTooLarge)
		return
	}
	u, ok := parseUpdate(json.RawMessage(raw))
	if !ok {
		http.Error(rw, "this is not an update", http.StatusBadRequest)
		return
	}
	if !w.take(r.Context(), u) {
		rw.Header().Set("Retry-After", "5")
		http.Error(rw, "not now", http.StatusServiceUnavailable)
		return
	}
	rw.WriteHeader(http.StatusOK)
}

func (w *webhook) trusted(r *http.Request) bool {
	given := r.Header.Values(secretHeader)
	if len(given) != 1 {
		return false
	}
	a, b := sha256.Sum256([]byte(given[0])), sha256.Sum256([]byte(w.secret()))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// take reports whether the update need not come again.
func (w *webhook) take(ctx context.Context, u update) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.inbox == nil {
		return false
	}
	if w.seen[u.ID] {
		return true
	}
	if err := w.c.hand(ctx, u, w.inbox); err != nil {
		w.c.log.Warn("Telegram: a message was not taken", "err", err)
		return false
	}
	if len(w.order) == maxSeen {
		delete(w.seen, w.order[0])
		w.order = w.order[1:]
	}
	w.seen[u.ID] = true
	w.order = append(w.order, u.ID)
	return true
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
