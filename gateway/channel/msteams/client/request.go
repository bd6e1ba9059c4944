package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
	"github.com/hearth-assistant/hearth/internal/text"
)

const (
	askTime   = 30 * time.Second
	fileTime  = 5 * time.Minute
	maxAnswer = 4 << 20
	userAgent = "Hearth (+https://github.com/hearth-assistant/hearth)"
)

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{channel.ErrRefused}, args...)...)
}

// call is a request to the Bot Connector. once: done twice it would be seen twice.
type call struct {
	method, what string
	url          string
	once         bool
}

// place is the conversation of a target as Microsoft calls it.
func place(to channel.Target) (conversation string, err error) {
	conversation = strings.TrimPrefix(to.Conversation, msteams.PersonSign)
	if !msteams.IsConversation(conversation) {
		return "", refused("%q is no conversation", text.Ellipsis(to.Conversation, 40))
	}
	if to.Thread == "" {
		return conversation, nil
	}
	if !msteams.IsActivity(to.Thread) {
		return "", refused("%q is no thread", text.Ellipsis(to.Thread, 40))
	}
	return conversation + threadSign + to.Thread, nil
}

// threadSign stands between a channel and the post that a thread begins with.
const threadSign = ";messageid="

// activities is where the messages of a target are; id "" is a new one.
func (c *Client) activities(to channel.Target, id string) (string, error) {
	conversation, err := place(to)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(c.services.of(to.Conversation))
	if err != nil {
		return "", fmt.Errorf("find where the conversation is: %w", err)
	}
	path := "/v3/conversations/" + url.PathEscape(conversation) + "/activities"
	if id != "" {
		if !msteams.IsActivity(id) {
			return "", refused("%q is no message", text.Ellipsis(id, 40))
		}
		path += "/" + url.PathEscape(id)
	}
	return strings.TrimRight(c.reach(u), "/") + path, nil
}

// ask makes a request, once more with a new token when the old one is not accepted:
// nothing was done then.
func (c *Client) ask(ctx context.Context, q call, body, result any) error {
	token, err := c.bearerToken(ctx, botScope)
	if err != nil {
		return err
	}
	err = c.askOnce(ctx, token, q, body, result)
	if !errors.Is(err, channel.ErrAuth) {
		return err
	}
	c.tokens.forget(botScope, token)
	if token, err = c.bearerToken(ctx, botScope); err != nil {
		return err
	}
	return c.askOnce(ctx, token, q, body, result)
}

func (c *Client) askOnce(ctx context.Context, token string, q call, body, result any) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var content io.Reader = http.NoBody
	if body != nil {
		b, err := plainJSON(body)
		if err != nil {
			return refused("it cannot be written as JSON: %v", err)
		}
		content = bytes.NewReader(b)
	}
	req, err := http.NewRequest(q.method, q.url, content)
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("User-Agent", userAgent)
	if body != nil {
		req.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	a, err := webcall.Do(ctx, c.http, req, maxAnswer)
	switch {
	case err != nil && q.once:
		return webcall.Once(err, network, q.what)
	case err != nil:
		return webcall.Again(err, network, q.what)
	case a.Status < 200 || a.Status > 299:
		return judge(a, q)
	case result == nil:
		return nil
	}
	if json.Unmarshal(a.Body, result) != nil {
		err := fmt.Errorf("Microsoft's answer to %s could not be read", q.what)
		if q.once {
			err = fmt.Errorf("%w: %w", channel.ErrUncertain, err)
		}
		return err
	}
	return nil
}

// plainJSON writes no sign longer than it has to be: messages have a limit in bytes.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// apiError is Microsoft's no. It unwraps to the error of package channel that says what
// to do about it.
type apiError struct {
	what, code, said string
	status           int
	graph            bool  // Microsoft Graph said it
	meaning          error // nil: passing
}

func (e *apiError) Error() string {
	words := fmt.Sprintf("Microsoft answered %s with %d %s", e.what, e.status, e.said)
	if e.code != "" {
		words += " (" + e.code + ")"
	}
	if e.meaning != nil {
		words = e.meaning.Error() + ": " + words
	}
	return words + e.advice()
}

func (e *apiError) Unwrap() error { return e.meaning }

// advice says what a person can do.
func (e *apiError) advice() string {
	if e.graph {
		return graphAdvice(e.status)
	}
	switch e.code {
	case "BotNotInConversationRoster", "BotNotInConversation":
		return ". The app is not in this conversation any more: add it there again (in Teams: Apps, Manage your apps)"
	case "BotDisabledByAdmin":
		return ". An administrator has blocked the app: it is let in again in the Teams admin center, Teams apps, Manage apps"
	case "ConversationBlockedByUser":
		return ". This person has blocked the app, or removed it: they add it again in Teams, Apps"
	case "NotEnoughPermissions", "ForbiddenOperationException":
		return ". The app may not do that here. For channels of teams its manifest needs the scope team, and the permission " +
			"ChannelMessage.Read.Group to hear what does not mention it; for group chats the scope groupChat and ChatMessage.Read.Chat. " +
			"`hearth channels manifest msteams` prints one with all of them; after a change the app is added to the team or chat again"
	case "InvalidBotApiHost":
		return ". This conversation is in another cloud of Microsoft's (of a government, say), which this program does not reach"
	case "ConversationNotFound":
		return ". The conversation is gone, or the app was never in it: in Teams, add the app and write to it once"
	case "ActivityNotFoundInConversation":
		return ". The message is gone"
	case "MessageSizeTooBig":
		return ". Set channels.msteams.textChunkLimit lower"
	case "BotNotRegistered":
		return ". Microsoft knows no Azure Bot with this appId: look at the Azure Bot's Configuration, and whether Microsoft Teams is among " +
			"its Channels"
	}
	if errors.Is(e.meaning, channel.ErrAuth) {
		return ". The Bot Connector does not accept the token for channels.msteams.appId: look whether it is the App ID of the Azure Bot, and " +
			"whether Microsoft Teams is among its Channels"
	}
	return ""
}

// judge says what an answer means that is not what was asked for.
func judge(a webcall.Answer, q call) error {
	var said struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			Inner   struct {
				Code string `json:"code"`
			} `json:"innerError"`
		} `json:"error"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(a.Body, &said) // an answer may be anything
	if a.Status == http.StatusTooManyRequests {
		return &channel.RateLimit{After: webcall.RetryAfter(a.Header, "Retry-After")}
	}
	words := said.Error.Message
	if words == "" {
		words = said.Message
	}
	words = webcall.Words(words, http.StatusText(a.Status))
	e := &apiError{what: q.what, status: a.Status, code: codeOf(said.Error.Code), said: words}
	switch s := a.Status; {
	case s == http.StatusUnauthorized:
		e.meaning = channel.ErrAuth
	case s == http.StatusPreconditionFailed, s == http.StatusServiceUnavailable: // Microsoft says to come again
	case s >= 500, s == http.StatusRequestTimeout: // it may have been done
		if q.once {
			e.meaning = channel.ErrUncertain
		}
	default:
		e.meaning = channel.ErrRefused
	}
	return e
}

// codeOf is a word that Microsoft gave, if it is one.
func codeOf(s string) string {
	if len(s) > 60 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return ""
	}
	return s
}

// noToken says why there is no token, in the words of who set the bot up.
func noToken(a webcall.Answer) error {
	var said struct {
		Error string `json:"error"`
		Words string `json:"error_description"`
		Codes []int  `json:"error_codes"`
	}
	_ = json.Unmarshal(a.Body, &said) // an answer may be anything
	if a.Status == http.StatusTooManyRequests {
		return &channel.RateLimit{After: webcall.RetryAfter(a.Header, "Retry-After")}
	}
	first, _, _ := strings.Cut(said.Words, "\n")
	first, _, _ = strings.Cut(first, " Trace ID:")
	words := fmt.Sprintf("Microsoft gives no token (%d %s)", a.Status, webcall.Words(said.Error+" "+first, "no reason"))
	if a.Status >= 500 || a.Status == http.StatusRequestTimeout {
		return errors.New(words)
	}
	advice := "look at channels.msteams.appId, appPassword and tenantId"
	for _, code := range said.Codes {
		switch code {
		case 7000215:
			advice = "channels.msteams.appPassword is not the secret of this App ID. The Value of the client secret is needed, not its Secret ID"
		case 7000222:
			advice = "the client secret has ended: make a new one in the Azure portal (the bot's Configuration, Manage Password), and set " +
				"channels.msteams.appPassword"
		case 700016:
			advice = "this organisation knows no such App ID: look at channels.msteams.appId, and whether channels.msteams.tenantId is the App " +
				"Tenant ID that stands beside it (of a bot of the type Multi Tenant there is none)"
		case 90002:
			advice = "there is no such organisation: set channels.msteams.tenantId to the App Tenant ID of the Azure Bot"
		case 7000112:
			advice = "an administrator has disabled the application in Microsoft Entra: it is let in again there, below Enterprise applications"
		case 700024, 700027:
			advice = "this computer's clock is wrong: set it"
		}
	}
	return fmt.Errorf("%w: %s: %s", channel.ErrAuth, words, advice)
}
