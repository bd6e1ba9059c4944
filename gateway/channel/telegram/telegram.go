// Package telegram is one bot account on Telegram's Bot API: it receives by
// long polling or webhook, sends, edits, deletes, types and reacts, and turns
// the assistant's Markdown into Telegram's HTML. It owns the transport and what
// the API's answers mean. It does not own who may talk (inbound), nor how text
// is cut, paced, retried and receipted (outbound).
package telegram

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Mode is how messages come in.
type Mode string

const (
	Poll    Mode = "poll"    // we ask; works behind any router
	Webhook Mode = "webhook" // Telegram calls us at a public https address
)

const (
	defaultBaseURL = "https://api.telegram.org"

	// maxUnits is Telegram's limit of a message, in UTF-16 units of the text
	// that is left when the markup is taken out.
	maxUnits = 4096
	// maxCaption is the same for the text under a file.
	maxCaption = 1024
	// textLimit leaves room below maxUnits for what rendering adds (the lines of a
	// table, say); more of that is cut when sending.
	textLimit = 4000

	// typingShown is how long "typing…" stays.
	typingShown = 5 * time.Second
)

// Options of a Channel. Token is required, and WebhookURL and WebhookSecret
// are in Webhook mode; everything else has a default.
type Options struct {
	Token   string // from @BotFather
	Account string // "default"
	BaseURL string // https://api.telegram.org, or a Bot API server of one's own
	HTTP    *http.Client
	Mode    Mode // Poll

	WebhookURL    string // the public address, https
	WebhookSecret string // 16 to 256 of A-Z a-z 0-9 _ -

	// Business are the accounts, by their numbers, in whose name customers are answered.
	Business []string

	// OpenFile opens a local file that is to be sent. Without it no local file
	// ever leaves: a model that names a path must not be able to send it.
	OpenFile func(path string) (fs.File, error)
	// MaxFile is the largest file to take or send, in bytes; 0 = 20 MiB, which
	// is what Telegram lets a bot download.
	MaxFile int64

	Now    func() time.Time
	Logger *slog.Logger
}

// Channel is one bot. Use New.
type Channel struct {
	api     *client
	opt     Options // without the token and the secret
	log     *slog.Logger
	now     func() time.Time
	hook    *webhook // nil in Poll mode
	parts   progress
	mu      sync.Mutex
	status  channel.Status
	me      user // filled by Run
	running bool

	business map[string]connection // by id; what was said of each last
}

// tokenShaped and secretShaped look by hand: such counts as a pattern cost a
// millisecond of every start.
func tokenShaped(s string) bool {
	id, key, ok := strings.Cut(s, ":")
	return ok && len(id) >= 1 && len(id) <= 20 && strings.Trim(id, "0123456789") == "" && plainWord(key, 10, 200)
}

func secretShaped(s string) bool { return plainWord(s, 16, 256) }

// plainWord is made of letters, digits, _ and - alone.
func plainWord(s string, least, most int) bool {
	return len(s) >= least && len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

// New checks the options. It does not talk to Telegram; Run does.
func New(o Options) (*Channel, error) {
	if !tokenShaped(o.Token) {
		return nil, fmt.Errorf("the Telegram bot token does not look like one: %w; @BotFather shows it as digits, a colon and letters: copy "+
			"all of it into channels.telegram.botToken", channel.ErrAuth)
	}
	if o.Account == "" {
		o.Account = "default"
	}
	if o.BaseURL == "" {
		o.BaseURL = defaultBaseURL
	}
	if o.Mode == "" {
		o.Mode = Poll
	}
	if o.MaxFile <= 0 {
		o.MaxFile = 20 << 20
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := checkBaseURL(o.BaseURL); err != nil {
		return nil, err
	}
	c := &Channel{
		api: newClient(o.HTTP, o.BaseURL, o.Token),
		log: o.Logger.With("channel", "telegram", "account", o.Account),
		now: o.Now,
	}
	switch o.Mode {
	case Poll:
	case Webhook:
		hook, err := newWebhook(c, o)
		if err != nil {
			return nil, err
		}
		c.hook = hook
	default:
		return nil, fmt.Errorf("telegram mode %q is not known: use %q or %q", o.Mode, Poll, Webhook)
	}
	o.Token, o.WebhookSecret = "", "" // kept in closures, where printing a Channel cannot reach them
	c.opt = o
	c.status = channel.Status{State: channel.Stopped, Since: c.now()}
	return c, nil
}

// checkBaseURL: the token is part of every address, so it travels encrypted or
// stays on this machine.
func checkBaseURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("the address of the Telegram Bot API server is not a plain web address such as https://api.telegram.org")
	}
	h := u.Hostname()
	local := h == "localhost" || h == "127.0.0.1" || h == "::1"
	if u.Scheme != "https" && (u.Scheme != "http" || !local) {
		return errors.New("the address of the Telegram Bot API server must start with https:// (http:// only on this machine), because the " +
			"bot token is part of every request")
	}
	return nil
}

// ID is the network's name.
func (c *Channel) ID() string { return id }

// Account names the bot among others.
func (c *Channel) Account() string { return c.opt.Account }

// Limits of one message.
func (c *Channel) Limits() channel.Limits {
	return channel.Limits{
		Text: textLimit, Unit: channel.UTF16, Caption: maxCaption, Dialect: channel.HTML,
		EditPace: time.Second, Typing: typingShown, Files: c.opt.MaxFile, Reactions: true, Threads: true, Heard: true, Choices: maxChoices,
		Manner: channel.Manner{Silent: true, Document: true, Voice: true, Animation: true, Public: true},
	}
}

// Status is the present one.
func (c *Channel) Status() channel.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

func (c *Channel) setState(s channel.State, problem string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status.State != s {
		c.status.State, c.status.Since = s, c.now()
	}
	c.status.Problem = problem
}

func (c *Channel) bot() user {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.me
}

// redact removes the token from a text.
func (c *client) redact(s string) string {
	token := c.token()
	s = strings.ReplaceAll(s, token, "<token>")
	_, secret, _ := strings.Cut(token, ":")
	return strings.ReplaceAll(s, secret, "<token>")
}
