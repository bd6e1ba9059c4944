package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/nextcloudtalk"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
	"github.com/hearth-assistant/hearth/gateway/uuid"
	"github.com/hearth-assistant/hearth/internal/text"
)

const (
	askTime   = 30 * time.Second
	maxAnswer = 8 << 20
	network   = "Nextcloud"
)

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{channel.ErrRefused}, args...)...)
}

// tokenOf is the token of a conversation.
func tokenOf(conversation string) (string, error) {
	token := strings.TrimPrefix(conversation, nextcloudtalk.PersonSign)
	if !nextcloudtalk.IsToken(token) {
		return "", refused("%q is no conversation", text.Ellipsis(conversation, 40))
	}
	return token, nil
}

// Send posts a message. The server names it to nobody: its id is our own mark on it.
func (c *Client) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return channel.Receipt{}, err
	}
	token, err := tokenOf(m.To.Conversation)
	if err != nil {
		return channel.Receipt{}, err
	}
	if len(m.Media) > 0 {
		return channel.Receipt{}, refused("Nextcloud lets bots send no files")
	}
	words := strings.ToValidUTF8(m.Text, "\uFFFD")
	if strings.TrimSpace(words) == "" {
		return channel.Receipt{}, refused("there is nothing to send")
	}
	if n := utf8.RuneCountInString(words); n > nextcloudtalk.MostText {
		return channel.Receipt{}, refused("the message has %d characters, and at most %d are sent", n, nextcloudtalk.MostText)
	}
	key := m.Key
	if key == "" {
		key = uuid.New()
	}
	sum := sha256.Sum256([]byte(c.account + "\x00" + key))
	mark := hex.EncodeToString(sum[:])
	body := map[string]any{"message": words, "referenceId": mark}
	if isNumber(m.To.ReplyTo) {
		body["replyTo"] = json.Number(m.To.ReplyTo)
	}
	q := request{method: http.MethodPost, path: "/bot/" + token + "/message", signed: words, body: body, once: true}
	if err := c.asBot(ctx, q); err != nil {
		return channel.Receipt{}, err
	}
	return channel.Receipt{MessageID: "ref-" + mark[:32]}, nil
}

// React puts an emoji on somebody's message, instead of those that we put there before.
func (c *Client) React(ctx context.Context, to channel.Target, messageID, sign string) error {
	token, err := tokenOf(to.Conversation)
	if err != nil {
		return err
	}
	if !isNumber(messageID) {
		return refused("Nextcloud tells bots no number of their own messages, so they cannot react to them")
	}
	path, at := "/bot/"+token+"/reaction/"+messageID, token+" "+messageID
	c.mu.Lock()
	before := slices.Clone(c.signs[at])
	c.mu.Unlock()
	for _, old := range before {
		if old == sign {
			continue
		}
		err := c.asBot(ctx, request{method: http.MethodDelete, path: path, signed: old, body: map[string]any{"reaction": old}})
		if err != nil && !isNo(err) {
			return err
		}
	}
	if sign != "" && !slices.Contains(before, sign) {
		if err := c.asBot(ctx, request{method: http.MethodPost, path: path, signed: sign, body: map[string]any{"reaction": sign}}); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.signs) >= mostRooms {
		clear(c.signs)
	}
	if delete(c.signs, at); sign != "" {
		c.signs[at] = []string{sign}
	}
	return nil
}

// request is one of the bot.
type request struct {
	method, path string
	signed       string // what the signature is of
	body         map[string]any
	once         bool // it must not be done twice
}

const botAPI = "/ocs/v2.php/apps/spreed/api/v1"

func (c *Client) asBot(ctx context.Context, q request) error {
	body, err := json.Marshal(q.body)
	if err != nil {
		return refused("it cannot be written as JSON: %v", err)
	}
	req, err := http.NewRequest(q.method, c.base+botAPI+q.path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	chance := make([]byte, 32)
	_, _ = rand.Read(chance) // never fails (crypto/rand)
	random := hex.EncodeToString(chance)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Nextcloud-Talk-Bot-Random", random)
	req.Header.Set("X-Nextcloud-Talk-Bot-Signature", hex.EncodeToString(signature(c.secret(), random, []byte(q.signed))))
	return c.do(ctx, req, "the bot", q.once, nil)
}

// asUser asks with the account that people gave us beside the bot.
func (c *Client) asUser(ctx context.Context, path string, data any) error {
	req, err := http.NewRequest(http.MethodGet, c.base+path, http.NoBody)
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	req.SetBasicAuth(c.user, c.password())
	said := struct {
		OCS struct {
			Data any `json:"data"`
		} `json:"ocs"`
	}{}
	said.OCS.Data = data
	return c.do(ctx, req, "apiUser", false, &said)
}

func (c *Client) plain(ctx context.Context, path string, into any) error {
	req, err := http.NewRequest(http.MethodGet, c.base+path, http.NoBody)
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	return c.do(ctx, req, "status", false, into)
}

func (c *Client) do(ctx context.Context, req *http.Request, who string, once bool, into any) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	req.Header.Set("OCS-APIRequest", "true")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "Hearth")
	what := req.Method + " " + strings.TrimPrefix(req.URL.Path, "/ocs/v2.php")
	a, err := webcall.Do(ctx, c.http, req, maxAnswer)
	switch {
	case err != nil && once:
		return webcall.Once(err, network, what)
	case err != nil:
		return webcall.Again(err, network, what)
	case a.Status < 200 || a.Status > 299:
		return judge(a, what, who, once)
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(a.Body, into); err != nil {
		return fmt.Errorf("Nextcloud's answer to %s could not be read; check channels.nextcloud-talk.baseUrl", what)
	}
	return nil
}

// judge says what an answer means that is not what was asked for.
func judge(a webcall.Answer, what, who string, once bool) error {
	var said struct {
		OCS struct {
			Meta struct {
				Status  string `json:"status"`
				Message string `json:"message"`
			} `json:"meta"`
		} `json:"ocs"`
	}
	parsed := json.Unmarshal(a.Body, &said) == nil && said.OCS.Meta.Status != ""
	words := webcall.Words(said.OCS.Meta.Message, http.StatusText(a.Status))
	answered := fmt.Sprintf("Nextcloud answered %s with %d %s", what, a.Status, words)
	switch s := a.Status; {
	case s == http.StatusTooManyRequests:
		return &channel.RateLimit{After: webcall.RetryAfter(a.Header, "Retry-After")}
	case s == http.StatusUnauthorized && who == "the bot":
		return fmt.Errorf("%w: %s. channels.nextcloud-talk.botSecret is not the one that the bot was installed with, or the bot is not "+
			"enabled in the conversation, or lacks the feature response", channel.ErrAuth, answered)
	case s == http.StatusUnauthorized:
		return fmt.Errorf("%w: %s. Check channels.nextcloud-talk.apiUser and apiPassword", channel.ErrAuth, answered)
	case once && !parsed && (s == http.StatusBadGateway || s == http.StatusGatewayTimeout):
		return fmt.Errorf("%w: a proxy said it: %s", channel.ErrUncertain, answered)
	case s < 500 && s != http.StatusRequestTimeout:
		return refused("%s", answered)
	}
	return errors.New(answered)
}

func isNo(err error) bool { return errors.Is(err, channel.ErrRefused) }
