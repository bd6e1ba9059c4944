package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/signal"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

const (
	askTime   = 60 * time.Second // signal-cli may have to fetch keys of many devices first
	fileTime  = 5 * time.Minute
	maxAnswer = 8 << 20
)

// call is a request to signal-cli.
type call struct {
	method string
	params map[string]any
	once   bool // it must not be done twice
	within time.Duration
	most   int64 // bytes of the answer
}

// ask makes a request that can be made again without harm.
func (c *Client) ask(ctx context.Context, method string, params map[string]any, result any) error {
	return c.do(ctx, call{method: method, params: params, within: askTime, most: maxAnswer}, result)
}

// answer is what signal-cli says.
type answer struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Response sent `json:"response"`
		} `json:"data"`
	} `json:"error"`
}

func (c *Client) do(ctx context.Context, q call, result any) error {
	ctx, cancel := context.WithTimeout(ctx, q.within)
	defer cancel()
	params := map[string]any{"account": c.number}
	maps.Copy(params, q.params)
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": "1", "method": q.method, "params": params})
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/api/v1/rpc", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	a, err := webcall.Do(ctx, c.http, req, q.most)
	if err != nil {
		return c.broken(err, q)
	}
	var said answer
	parsed := a.Status == http.StatusOK && json.Unmarshal(a.Body, &said) == nil && (said.Error != nil || said.Result != nil)
	switch {
	case !parsed:
		return c.strange(a, q)
	case said.Error != nil:
		return c.judge(q, said)
	case result == nil:
		return nil
	}
	if err := json.Unmarshal(said.Result, result); err != nil {
		err = fmt.Errorf("signal-cli's answer to %s could not be read", q.method)
		if q.once {
			err = fmt.Errorf("%w: %w", channel.ErrUncertain, err)
		}
		return err
	}
	return nil
}

// broken is the error of a request without an answer.
func (c *Client) broken(err error, q call) error {
	if q.once {
		err = webcall.Once(err, "signal-cli", q.method)
	} else {
		err = webcall.Again(err, "signal-cli", q.method)
	}
	var f *webcall.Failure
	if errors.As(err, &f) && !f.Sent {
		err = fmt.Errorf("%w. Is it running at %s? Start it with: signal-cli -a %s daemon --http", err, c.base, c.number)
	}
	return err
}

// strange is the error of an answer that is none of signal-cli's.
func (c *Client) strange(a webcall.Answer, q call) error {
	err := fmt.Errorf("%s answered %s with %d, which signal-cli does not: check channels.signal.httpUrl", c.base, q.method, a.Status)
	switch {
	case a.Status == http.StatusMisdirectedRequest:
		return fmt.Errorf("signal-cli at %s takes requests by the name only that it was started with: write the same into "+
			"channels.signal.httpUrl", c.base)
	case q.once && (a.Status == http.StatusOK || a.Status == http.StatusBadGateway || a.Status == http.StatusGatewayTimeout):
		return fmt.Errorf("%w: %w", channel.ErrUncertain, err) // signal-cli behind it may have done it
	}
	return err
}

// Codes of signal-cli's errors.
const (
	codeUser      = -1
	codeUntrusted = -4
	codeRate      = -5
	codeParams    = -32602
	codeMethod    = -32601
	codeRequest   = -32600
)

// Failures inside of signal-cli before anything left it, and such that mean that the
// account is no more.
var (
	unsent = regexp.MustCompile(`\((UnknownHostException|ConnectException|NoRouteToHostException|SSLHandshakeException|NoSuchFileException)\)`)
	unused = regexp.MustCompile(`\((AttachmentInvalidException|InvalidNumberException)\)`)
	logout = regexp.MustCompile(`AuthorizationFailed|NotRegisteredException|DeprecatedVersionException`)
)

// judge says what an error of signal-cli means.
func (c *Client) judge(q call, a answer) error {
	words := fmt.Sprintf("signal-cli answered %s: %s", q.method, webcall.Words(a.Error.Message, "nothing"))
	switch e := a.Error; {
	case logout.MatchString(e.Message):
		return fmt.Errorf("%w: %s. Signal no longer knows this device, or signal-cli is too old: link or register it again, and update it",
			channel.ErrAuth, words)
	case e.Code == codeParams && strings.Contains(e.Message, "account"):
		return fmt.Errorf("%w: %s. It has no account %s: `signal-cli listAccounts` shows those it has", channel.ErrAuth, words, c.number)
	case e.Code == codeRate:
		return c.limited(e.Data.Response)
	case e.Code == codeUntrusted:
		return fmt.Errorf("%w: %s. The recipient's key has changed: compare the safety number, then `signal-cli -a %s trust`",
			channel.ErrRefused, words, c.number)
	case e.Code == codeUser && q.once:
		return e.Data.Response.verdict(words)
	case e.Code == codeUser || e.Code == codeParams || e.Code == codeMethod || e.Code == codeRequest || unused.MatchString(e.Message):
		return fmt.Errorf("%w: %s", channel.ErrRefused, words)
	case q.once && !unsent.MatchString(e.Message):
		return fmt.Errorf("%w: %s", channel.ErrUncertain, words)
	}
	return errors.New(words)
}

// usualWait is waited when Signal does not say for how long.
const usualWait = time.Minute

// limited is the error of a request that Signal asks to make later.
func (c *Client) limited(s sent) error {
	var most int64
	for _, r := range s.Results {
		most = max(most, r.RetryAfter)
		if r.Token != "" {
			c.log.Warn("Signal asks for a proof that a person sends: signal-cli submitRateLimitChallenge --challenge "+webcall.Words(r.Token, "?")+
				" --captcha …, with the answer of https://signalcaptchas.org/challenge/generate.html", "account", c.account)
		}
	}
	if most <= 0 {
		return &channel.RateLimit{After: usualWait}
	}
	return &channel.RateLimit{After: webcall.Seconds(float64(most))}
}

// sent is what became of a message.
type sent struct {
	Timestamp int64 `json:"timestamp"`
	Results   []struct {
		Type       string `json:"type"`
		Token      string `json:"token"`
		RetryAfter int64  `json:"retryAfterSeconds"`
	} `json:"results"`
}

// has counts the recipients with a result.
func (s sent) has(kind string) (n int) {
	for _, r := range s.Results {
		if r.Type == kind {
			n++
		}
	}
	return n
}

// verdict says what it means that a message reached nobody.
func (s sent) verdict(words string) error {
	switch {
	case s.has("NETWORK_FAILURE") > 0:
		return fmt.Errorf("%w: %s, because the connection to Signal broke", channel.ErrUncertain, words)
	case s.has("UNREGISTERED_FAILURE") > 0:
		return fmt.Errorf("%w: %s. The recipient is not at Signal any more", channel.ErrRefused, words)
	case s.has("IDENTITY_FAILURE") > 0:
		return fmt.Errorf("%w: %s. The recipient's key has changed: compare the safety number, then `signal-cli trust`",
			channel.ErrRefused, words)
	}
	return fmt.Errorf("%w: %s", channel.ErrRefused, words)
}

// recipient is where a request goes to, in the words of signal-cli.
func recipient(conversation string) (map[string]any, error) {
	if person, ok := strings.CutPrefix(conversation, signal.PersonSign); ok {
		if !isUUID(person) {
			return nil, refused("%q is nobody at Signal: a person is called %s and 36 signs", cut(conversation), signal.PersonSign)
		}
		return map[string]any{"recipient": []string{person}}, nil
	}
	if !isGroupID(conversation) {
		return nil, refused("%q is no conversation: a person is called %s and 36 signs, a group by its id", cut(conversation), signal.PersonSign)
	}
	return map[string]any{"groupId": conversation}, nil
}

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{channel.ErrRefused}, args...)...)
}
