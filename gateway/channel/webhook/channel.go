package webhook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/uuid"
	signature "github.com/hearth-assistant/hearth/gateway/webhook"
)

const (
	longestText   = 32_000
	longestAnswer = 64 << 10
	editPace      = time.Second
	typingTime    = 5 * time.Second
)

// Endpoint is one account: one program that signs with one secret.
type Endpoint struct {
	account string
	key     secret.Secret
	address string
	can     []channel.Ability
	once    bool
	now     func() time.Time
	log     *slog.Logger
	client  *http.Client

	mu     sync.Mutex
	inbox  channel.Inbox // nil: Run does not run
	status channel.Status
}

func newEndpoint(a channel.Account, key secret.Secret) *Endpoint {
	c := &Endpoint{
		account: a.ID, key: key, address: a.Texts[keyAddress], once: a.Texts[keyOnce] == "true", now: a.Now, log: a.Logger,
		client: webcall.Client(), status: channel.Status{State: channel.Stopped},
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	for _, word := range strings.Fields(a.Texts[keyCan]) {
		if ability := abilities[word]; ability != "" && c.address != "" {
			c.can = append(c.can, ability)
		}
	}
	return c
}

// ID is the network's.
func (c *Endpoint) ID() string { return id }

// Account is the account's name.
func (c *Endpoint) Account() string { return c.account }

// Can implements channel.Standing: what the program said that it does.
func (c *Endpoint) Can(a channel.Ability) bool { return slices.Contains(c.can, a) }

// Limits of a message. The text goes as the Markdown that it is.
func (c *Endpoint) Limits() channel.Limits {
	l := channel.Limits{Text: longestText, Dialect: channel.Markdown, Threads: true}
	if c.Can(channel.CanEdit) {
		l.EditPace = editPace
	}
	if c.Can(channel.CanType) {
		l.Typing = typingTime
	}
	l.Reactions = c.Can(channel.CanReact)
	return l
}

// Status implements channel.Reporter.
func (c *Endpoint) Status() channel.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

// note is called with c.mu held.
func (c *Endpoint) note(state channel.State, problem string) {
	if c.status.State != state {
		c.status.Since = c.now()
	}
	c.status.State, c.status.Problem = state, problem
}

// said is what is posted to the program.
type said struct {
	Type         string `json:"type"` // message, edit, delete, typing, react
	Account      string `json:"account"`
	Conversation string `json:"conversation"`
	Thread       string `json:"thread,omitempty"`
	ReplyTo      string `json:"replyTo,omitempty"`
	MessageID    string `json:"messageId,omitempty"` // of the message that is changed
	Text         string `json:"text,omitempty"`      // Markdown
	Emoji        string `json:"emoji,omitempty"`     // of react; none takes it away
}

// Send posts a message. Its id is what the program answers, or else its key.
func (c *Endpoint) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	if len(m.Media) > 0 {
		return channel.Receipt{}, fmt.Errorf("%w: a webhook carries no files", channel.ErrRefused)
	}
	key := cmp.Or(m.Key, uuid.New())
	id, err := c.post(ctx, key, said{
		Type: "message", Conversation: m.To.Conversation, Thread: m.To.Thread, ReplyTo: m.To.ReplyTo, Text: m.Text,
	})
	if err != nil {
		return channel.Receipt{}, err
	}
	return channel.Receipt{MessageID: cmp.Or(id, key)}, nil
}

// Edit implements channel.Editor.
func (c *Endpoint) Edit(ctx context.Context, to channel.Target, messageID, text string) error {
	return c.change(ctx, to, said{Type: "edit", MessageID: messageID, Text: text})
}

// Delete implements channel.Deleter.
func (c *Endpoint) Delete(ctx context.Context, to channel.Target, messageID string) error {
	return c.change(ctx, to, said{Type: "delete", MessageID: messageID})
}

// React implements channel.Reactor.
func (c *Endpoint) React(ctx context.Context, to channel.Target, messageID, emoji string) error {
	return c.change(ctx, to, said{Type: "react", MessageID: messageID, Emoji: emoji})
}

// Typing implements channel.Typer.
func (c *Endpoint) Typing(ctx context.Context, to channel.Target) error {
	return c.change(ctx, to, said{Type: "typing"})
}

// change posts what may be done twice without harm.
func (c *Endpoint) change(ctx context.Context, to channel.Target, s said) error {
	s.Conversation, s.Thread = to.Conversation, to.Thread
	_, err := c.post(ctx, uuid.New(), s)
	return err
}

// post signs and sends, and says what the answer means.
func (c *Endpoint) post(ctx context.Context, key string, s said) (messageID string, err error) {
	if c.address == "" {
		return "", fmt.Errorf("%w: channels.webhook.url is not set, so there is nobody to send it to", channel.ErrRefused)
	}
	s.Account = c.account
	body, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("%w: it cannot be written as JSON: %w", channel.ErrRefused, err)
	}
	req, err := http.NewRequest(http.MethodPost, c.address, bytes.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("%w: channels.webhook.url: %w", channel.ErrRefused, err)
	}
	head, err := signature.Sign(c.key, strings.ReplaceAll(key, ".", "_"), body, c.now())
	if err != nil {
		return "", fmt.Errorf("%w: %w", channel.ErrRefused, err)
	}
	req.Header = head
	req.Header.Set("Content-Type", "application/json")
	got, err := webcall.Do(ctx, c.client, req, longestAnswer)
	if err != nil {
		if s.Type == "message" && !c.once {
			return "", c.trouble(webcall.Once(err, "the webhook's program", "the message"))
		}
		return "", c.trouble(webcall.Again(err, "the webhook's program", "a request"))
	}
	if between := got.Status == http.StatusBadGateway || got.Status == http.StatusGatewayTimeout; between && s.Type == "message" && !c.once {
		return "", c.trouble(fmt.Errorf("%w: a proxy answered %d for the webhook's program", channel.ErrUncertain, got.Status))
	}
	return c.meaning(got)
}

// meaning of an answer.
func (c *Endpoint) meaning(got webcall.Answer) (messageID string, err error) {
	var told struct {
		MessageID string `json:"messageId"`
		Error     string `json:"error"`
	}
	_ = json.Unmarshal(got.Body, &told) // an answer may be anything
	why := webcall.Words(told.Error, fmt.Sprintf("it answered %d", got.Status))
	switch s := got.Status; {
	case s >= 200 && s < 300:
		c.trouble(nil)
		return told.MessageID, nil
	case s == http.StatusTooManyRequests:
		return "", &channel.RateLimit{After: webcall.RetryAfter(got.Header, "Retry-After")}
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return "", c.trouble(fmt.Errorf("%w: the webhook's program does not accept the signature (%s). Is the secret the same on both sides?",
			channel.ErrAuth, why))
	case s >= 300 && s < 500 && s != http.StatusRequestTimeout:
		return "", fmt.Errorf("%w: %s", channel.ErrRefused, why)
	}
	return "", c.trouble(errors.New("the webhook's program has a problem: " + why))
}

// trouble notes what is wrong with sending; nil: nothing is.
func (c *Endpoint) trouble(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status.State != channel.Receiving {
		return err
	}
	c.status.LastPoll = c.now()
	c.status.Problem = ""
	if err != nil {
		c.status.Problem = err.Error() + ". Hearth still takes what it sends."
	}
	return err
}
