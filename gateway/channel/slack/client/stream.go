package client

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/markup"
	"github.com/hearth-assistant/hearth/gateway/channel/slack"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Slack shows the beginning of an answer by itself where the answer stands in a thread:
// a stream is begun, gets more text, and is ended. What only adds to a text goes by it;
// any other edit ends the stream, and the message is edited as all others are.

const (
	// mostAdded is how much one request can add, in characters.
	mostAdded = 12_000
	// restOf is how long a conversation that refused a stream, or the assistant's view,
	// is not asked again.
	restOf = time.Hour
	// mostStreams of each kind are remembered.
	mostStreams = 1000
)

// streams are what this process knows of its own.
type streams struct {
	mu    sync.Mutex
	open  map[string]*streamed // by conversation and message
	ended map[string]bool      // that were streams
	asked map[string]string    // who wrote last, by conversation and thread
	rests map[string]time.Time // what was refused, and until when it is not tried
	fresh map[string]bool      // threads of the assistant's view without a title
}

// streamed is a message that grows.
type streamed struct {
	mu   sync.Mutex
	sent string
	torn bool // nobody knows what it reads
}

func newStreams() *streams {
	return &streams{open: map[string]*streamed{}, ended: map[string]bool{}, asked: map[string]string{}, rests: map[string]time.Time{},
		fresh: map[string]bool{}}
}

// put remembers one thing of many.
func put[T any](s *streams, m map[string]T, key string, v T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(m) >= mostStreams {
		clear(m)
	}
	m[key] = v
}

func get[T any](s *streams, m map[string]T, key string) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return m[key]
}

func drop[T any](s *streams, m map[string]T, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(m, key)
}

// rests reports whether what was refused is left alone still.
func (c *Client) rests(what string) bool {
	return c.now().Before(get(c.streams, c.streams.rests, what))
}

// rest leaves alone what Slack refused: all of it when the app may not do it at all, the
// conversation otherwise. It reports whether it was a refusal.
func (c *Client) rest(err error, what, at string) bool {
	if !errors.Is(err, channel.ErrRefused) && !errors.Is(err, channel.ErrAuth) {
		return false
	}
	if !saidOf(err, "missing_scope", "unknown_method", "not_allowed_token_type", "feature_not_enabled") {
		what += "/" + at
	}
	c.log.Info("Slack does not do this here, so it is left out for a while", "what", what, "err", err)
	put(c.streams, c.streams.rests, what, c.now().Add(restOf))
	return true
}

// standard is a text as Slack's streams read Markdown: nobody is called by it, and no
// picture is fetched.
func standard(words string) string {
	return strings.NewReplacer("<@", "<\u2060@", "<!", "<\u2060!", "<#", "<\u2060#", "![", "!\u2060[").Replace(words)
}

// begun is a text of which more may come: the fence that closes it for now is not said.
func begun(words string) string {
	if rest, ok := strings.CutSuffix(words, "\n```"); ok {
		words = strings.TrimRight(rest, "\n")
	}
	return standard(words)
}

// start begins a stream; began is false where a plain message is to be sent instead.
func (c *Client) start(ctx context.Context, at string, m channel.Message) (id string, began bool, err error) {
	words := begun(m.Text)
	if m.To.Thread == "" || len(m.Media) > 0 || len(m.Choices) > 0 || utf8.RuneCountInString(words) > mostAdded || words == "" ||
		strings.HasPrefix(m.Text, "• ") || c.rests("stream") || c.rests("stream/"+at) {
		return "", false, nil // a line about a tool goes away again
	}
	args := url.Values{"channel": {at}, "thread_ts": {m.To.Thread}, "markdown_text": {words}, "unfurl_links": {"false"},
		"unfurl_media": {"false"}}
	if slack.Kind().Group(at) {
		who := get(c.streams, c.streams.asked, at+"/"+m.To.Thread)
		self, err := c.me(ctx)
		if err != nil || who == "" || self.TeamID == "" {
			return "", false, err
		}
		args.Set("recipient_user_id", who)
		args.Set("recipient_team_id", self.TeamID)
	}
	var made struct {
		TS string `json:"ts"`
	}
	_, err = c.ask(ctx, call{method: "chat.startStream", once: true}, args, &made)
	var limit *channel.RateLimit
	switch {
	case errors.As(err, &limit), err != nil && c.rest(err, "stream", at):
		return "", false, nil // a plain message has limits of its own
	case err != nil || micros(made.TS) == 0:
		return "", true, errors.Join(err, unnamed(err))
	}
	put(c.streams, c.streams.open, at+"/"+made.TS, &streamed{sent: words})
	return made.TS, true, nil
}

func unnamed(err error) error {
	if err != nil {
		return nil
	}
	return errors.Join(channel.ErrUncertain, errors.New("Slack's answer names no message"))
}

// grow gives a stream the rest of a text; grew is false when the message is to be edited
// instead, which also mends one of which nobody knows what it reads.
func (c *Client) grow(ctx context.Context, at, ts, words string, last bool) (grew bool, err error) {
	s := get(c.streams, c.streams.open, at+"/"+ts)
	if s == nil {
		return false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	whole := begun(words)
	if last {
		whole = standard(words)
	}
	more, adds := strings.CutPrefix(whole, s.sent)
	if s.torn || !adds || last && utf8.RuneCountInString(more) > mostAdded {
		return false, c.end(ctx, at, ts)
	}
	if !last {
		more = text.Prefix(more, mostAdded) // the rest comes with the next
		if more == "" {
			return true, nil
		}
	}
	args, method := url.Values{"channel": {at}, "ts": {ts}}, "chat.appendStream"
	if last {
		method = "chat.stopStream"
	}
	if more != "" {
		args.Set("markdown_text", more)
	}
	_, err = c.ask(ctx, call{method: method, once: true}, args, nil)
	var limit *channel.RateLimit
	switch {
	case errors.As(err, &limit):
		return true, err
	case errors.Is(err, channel.ErrRefused):
		return false, c.end(ctx, at, ts)
	case err != nil: // the message is edited then, which can be repeated
		s.torn = true
		return true, errors.New("Slack did not confirm more of an answer; the whole of it is sent again: " + err.Error())
	}
	s.sent += more
	if last {
		drop(c.streams, c.streams.open, at+"/"+ts)
		put(c.streams, c.streams.ended, at+"/"+ts, true)
	}
	return true, nil
}

// end ends a stream, so that its message can be edited.
func (c *Client) end(ctx context.Context, at, ts string) error {
	_, err := c.ask(ctx, call{method: "chat.stopStream"}, url.Values{"channel": {at}, "ts": {ts}}, nil)
	if err = ignore(err, "message_not_in_streaming_state", "message_not_found"); err != nil {
		return err
	}
	drop(c.streams, c.streams.open, at+"/"+ts)
	put(c.streams, c.streams.ended, at+"/"+ts, true)
	return nil
}

// Finish is Edit with the whole of an answer: no more follows.
func (c *Client) Finish(ctx context.Context, to channel.Target, messageID, words string) error {
	return c.change(ctx, to, messageID, words, true)
}

// change gives a message another text.
func (c *Client) change(ctx context.Context, to channel.Target, messageID, words string, last bool) error {
	args, err := c.about(ctx, to, messageID, "ts")
	if err != nil {
		return err
	}
	at := args.Get("channel")
	if grew, err := c.grow(ctx, at, messageID, words, last); grew || err != nil {
		return err
	}
	args.Set("text", markup.Mrkdwn(words))
	args.Set("link_names", "false")
	args.Set("parse", "none")
	if get(c.streams, c.streams.ended, at+"/"+messageID) {
		args.Set("blocks", "[]") // what was streamed stays otherwise
	}
	_, err = c.ask(ctx, call{method: "chat.update"}, args, nil)
	if saidOf(err, "streaming_state_conflict") { // begun by an earlier start of this program
		if err := c.end(ctx, at, messageID); err != nil {
			return err
		}
		args.Set("blocks", "[]")
		_, err = c.ask(ctx, call{method: "chat.update"}, args, nil)
	}
	return err
}
