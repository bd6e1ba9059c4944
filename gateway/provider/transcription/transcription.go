// Package transcription asks a model service to write down what is said in a sound,
// in the dialect of OpenAI's /v1/audio/transcriptions, which Groq, Mistral and the
// servers of whisper.cpp and faster-whisper speak. It owns the exchange and checks
// what comes back; which service, its key and what the words are for is its
// caller's.
package transcription

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

// maxAnswer bounds what is read of an answer: hours of talk are less.
const maxAnswer = 4 << 20

// maxSound bounds what a service may say that a sound lasts.
const maxSound = 24 * time.Hour

// Client asks one model of one service.
type Client struct {
	Service string // as people call it
	Model   string
	BaseURL string // with its version, as "https://api.openai.com/v1"
	// Key is asked for with every call; "" sends none.
	Key  func(ctx context.Context) (string, error)
	HTTP *http.Client
}

// Sound is what is to be written down.
type Sound struct {
	Name     string // of the file: services know the kind by its ending
	MIME     string
	Data     []byte
	Language string // ISO 639-1, "" when nobody knows it
	Prompt   string // names and words that are likely, may be empty
}

// Words are what was heard.
type Words struct {
	Text string
	// What it took, as the service says; all zero when it does not.
	Input, Output int // tokens
	Length        time.Duration
}

type answer struct {
	Text     *string `json:"text"`
	Duration float64 `json:"duration"` // of verbose answers, seconds
	Usage    struct {
		Seconds float64 `json:"seconds"`
		Input   int     `json:"input_tokens"`
		Output  int     `json:"output_tokens"`
		// as chat models count, which some services say here too
		Prompt     int     `json:"prompt_tokens"`
		Completion int     `json:"completion_tokens"`
		Audio      float64 `json:"prompt_audio_seconds"`
	} `json:"usage"`
}

// Write returns what is said in a sound.
func (c *Client) Write(ctx context.Context, s Sound) (Words, error) {
	body, kind, err := form(c.Model, s)
	if err != nil {
		return Words{}, fmt.Errorf("ask %s to write it down: %w", c.Service, err)
	}
	address, err := url.JoinPath(c.BaseURL, "audio", "transcriptions")
	if err != nil {
		return Words{}, fmt.Errorf("the address of %s cannot be used: %w", c.Service, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return Words{}, fmt.Errorf("ask %s to write it down: %w", c.Service, err)
	}
	req.Header.Set("Content-Type", kind)
	key := ""
	if c.Key != nil {
		if key, err = c.Key(ctx); err != nil {
			return Words{}, err
		}
		if key != "" {
			req.Header.Set("Authorization", "Bearer "+key)
		}
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return Words{}, c.silent(ctx, "%s did not answer: %s", err, key)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return Words{}, c.silent(ctx, "%s stopped in the middle of its answer: %s", err, key)
	}
	return c.decode(resp.StatusCode, raw, key)
}

// silent is a failure of the way to the service; ctx's end keeps its cause.
func (c *Client) silent(ctx context.Context, words string, err error, key string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf(words, c.Service, wire.Clean(err.Error(), 300, key))
}

// form is the request as services want it.
func form(model string, s Sound) (body []byte, kind string, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	head := textproto.MIMEHeader{}
	name := strings.Map(func(r rune) rune {
		if r == '"' || r == '\\' || r < ' ' || r > '~' {
			return '_'
		}
		return r
	}, s.Name)
	head.Set("Content-Disposition", `form-data; name="file"; filename="`+name+`"`)
	if strings.ContainsAny(s.MIME, "\r\n") || s.MIME == "" {
		s.MIME = "application/octet-stream"
	}
	head.Set("Content-Type", s.MIME)
	file, err := w.CreatePart(head)
	if err != nil {
		return nil, "", err
	}
	_, err = file.Write(s.Data)
	for _, f := range [][2]string{{"model", model}, {"response_format", "json"}, {"language", s.Language}, {"prompt", s.Prompt}} {
		if f[1] != "" {
			err = errors.Join(err, w.WriteField(f[0], f[1]))
		}
	}
	err = errors.Join(err, w.Close())
	return b.Bytes(), w.FormDataContentType(), err
}

func (c *Client) decode(status int, raw []byte, key string) (Words, error) {
	switch {
	case status != http.StatusOK:
		return Words{}, c.refused(status, raw, key)
	case len(raw) > maxAnswer:
		return Words{}, fmt.Errorf("%s answered with more than %d MB", c.Service, maxAnswer>>20)
	}
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil || a.Text == nil || !utf8.ValidString(*a.Text) {
		return Words{}, fmt.Errorf("%s answered with something else than words; does its address end with /v1, and can it write down speech?",
			c.Service)
	}
	u := a.Usage
	w := Words{Text: strings.TrimSpace(*a.Text), Input: max(u.Input, u.Prompt, 0), Output: max(u.Output, u.Completion, 0)}
	w.Length = seconds(max(u.Seconds, u.Audio, a.Duration))
	return w, nil
}

// refused says why in the service's words, and what a person can do.
func (c *Client) refused(status int, raw []byte, key string) error {
	var said struct {
		Error json.RawMessage `json:"error"`
	}
	var inner struct {
		Message string `json:"message"`
	}
	text := string(raw[:min(len(raw), 2000)])
	if json.Unmarshal(raw, &said) == nil && len(said.Error) > 0 {
		if json.Unmarshal(said.Error, &inner) == nil && inner.Message != "" {
			text = inner.Message
		} else if json.Unmarshal(said.Error, &inner.Message) == nil {
			text = inner.Message
		}
	}
	words := wire.Clean(strings.TrimSpace(text), 300, key)
	do := ""
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		do = "; check its key with `hearth models auth`"
	case http.StatusNotFound:
		do = "; check the model and the address in tools.media.audio"
	case http.StatusRequestEntityTooLarge:
		do = "; set tools.media.audio.maxBytes to what it takes"
	case http.StatusTooManyRequests:
		do = "; it has no room or no credit at the moment"
	}
	return fmt.Errorf("%s refused to write it down with %s (HTTP %d: %s)%s", c.Service, c.Model, status, words, do)
}

// seconds makes sense of what a service says.
func seconds(s float64) time.Duration {
	if math.IsNaN(s) || s <= 0 {
		return 0
	}
	return time.Duration(min(s, maxSound.Seconds()) * float64(time.Second))
}
