package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/provider/wire"
	"github.com/hearth-assistant/hearth/gateway/sse"
)

// maxAnswer bounds what a server says about its models: licences come with it.
const maxAnswer = 4 << 20

// Server is one Ollama server, for what is not a conversation.
type Server struct {
	BaseURL string       // one that ends with /v1 works too
	Key     string       // "" = none
	HTTP    *http.Client // nil = the default one
}

// Info is what a server says of a model.
type Info struct {
	Capabilities  []string // completion, tools, thinking, vision, embedding…; nil: an old server does not say
	ContextLength int      // tokens that the model was made for, 0 = not said
	Window        int      // tokens that its Modelfile asks for (PARAMETER num_ctx), 0 = none
}

// Can reports whether a model has an ability; ok is false when nobody knows.
func (i Info) Can(what string) (can, ok bool) {
	return slices.Contains(i.Capabilities, what), i.Capabilities != nil
}

// Running is a model that is loaded now.
type Running struct {
	Name          string    `json:"name"`
	ContextLength int       `json:"context_length"` // tokens that it was given, 0 = not said
	Size          int64     `json:"size"`
	SizeVRAM      int64     `json:"size_vram"`
	ExpiresAt     time.Time `json:"expires_at"`
}

// Error is a refusal of the server, in its words.
type Error struct {
	Status int
	Detail string
}

func (e *Error) Error() string {
	if e.Status == 0 {
		return "Ollama says: " + e.Detail
	}
	return fmt.Sprintf("Ollama says: %s (HTTP %d)", e.Detail, e.Status)
}

// Show asks what a model can do.
func (s Server) Show(ctx context.Context, model string) (Info, error) {
	var got struct {
		Capabilities []string                   `json:"capabilities"`
		ModelInfo    map[string]json.RawMessage `json:"model_info"`
		Parameters   string                     `json:"parameters"` // a name and a value a line
	}
	if err := s.ask(ctx, http.MethodPost, "/api/show", map[string]string{"model": model}, &got); err != nil {
		return Info{}, fmt.Errorf("asking Ollama about %s: %w", model, err)
	}
	info := Info{Capabilities: got.Capabilities, Window: parameter(got.Parameters, "num_ctx")}
	for name, v := range got.ModelInfo {
		var n wire.Count
		if strings.HasSuffix(name, ".context_length") && json.Unmarshal(v, &n) == nil {
			info.ContextLength = int(n)
		}
	}
	return info, nil
}

// parameter is a number among a Modelfile's parameters, the last one that is
// given; 0 = none, or one that makes no sense.
func parameter(lines, name string) (n int) {
	for line := range strings.Lines(lines) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, _ = strconv.Atoi(f[1])
		}
	}
	return max(n, 0)
}

// Loaded lists the models that are loaded now.
func (s Server) Loaded(ctx context.Context) ([]Running, error) {
	var got struct {
		Models []Running `json:"models"`
	}
	if err := s.ask(ctx, http.MethodGet, "/api/ps", nil, &got); err != nil {
		return nil, fmt.Errorf("asking Ollama what is loaded: %w", err)
	}
	return got.Models, nil
}

// Progress is how far a download is.
type Progress struct {
	Status    string // the server's words: "pulling manifest", "pulling 4b…", "verifying…", "success"
	Digest    string // the part that comes, "" between parts
	Total     int64  // bytes of the part, 0 = not known yet
	Completed int64
}

// Done reports whether it was the last step.
func (p Progress) Done() bool { return p.Status == "success" }

// ErrBrokeOff ends a download whose connection went away before its end.
var ErrBrokeOff = errors.New("the download broke off; start it again, it goes on where it was")

// Pull downloads a model and yields its progress. It ends after one Done, or
// with one error. Leaving the loop, or ending ctx, stops the download; what came
// is kept by the server.
func (s Server) Pull(ctx context.Context, model string) iter.Seq2[Progress, error] {
	return func(yield func(Progress, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		resp, err := s.do(ctx, http.MethodPost, "/api/pull", map[string]any{"model": model, "stream": true})
		if err != nil {
			yield(Progress{}, fmt.Errorf("downloading %s: %w", model, err))
			return
		}
		defer resp.Body.Close()
		for rec, err := range sse.Lines(resp.Body, 1<<20) {
			p, err := progress(rec, err)
			if err != nil {
				yield(Progress{}, fmt.Errorf("downloading %s: %w", model, err))
				return
			}
			if !yield(p, nil) || p.Done() {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Progress{}, err)
			return
		}
		yield(Progress{}, fmt.Errorf("downloading %s: %w", model, ErrBrokeOff))
	}
}

// progress reads one line of a download.
func progress(rec sse.Event, err error) (Progress, error) {
	if err != nil {
		return Progress{}, fmt.Errorf("%w (%w)", ErrBrokeOff, err)
	}
	var l struct {
		Status    string `json:"status"`
		Digest    string `json:"digest"`
		Total     int64  `json:"total"`
		Completed int64  `json:"completed"`
		Error     string `json:"error"`
	}
	switch uerr := json.Unmarshal(rec.Data, &l); {
	case uerr != nil && rec.Open && rec.Data[0] == '{':
		return Progress{}, ErrBrokeOff
	case uerr != nil:
		return Progress{}, errors.New("the server sent something that is no progress; is it Ollama?")
	case l.Error != "":
		return Progress{}, &Error{Detail: wire.Clean(l.Error, 300)}
	}
	total := max(l.Total, 0)
	return Progress{Status: wire.Clean(l.Status, 200), Digest: wire.Clean(l.Digest, 80), Total: total,
		Completed: min(max(l.Completed, 0), total)}, nil
}

func (s Server) ask(ctx context.Context, method, path string, question, answer any) error {
	resp, err := s.do(ctx, method, path, question)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return fmt.Errorf("the answer is not Ollama's: %w", err)
	}
	return nil
}

// do sends one request. The response is a good one; its body is the caller's.
func (s Server) do(ctx context.Context, method, path string, question any) (*http.Response, error) {
	var body io.Reader
	if question != nil {
		b, err := json.Marshal(question)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(strings.TrimRight(s.BaseURL, "/"), "/v1")+path, body)
	if err != nil {
		return nil, errors.New("its address is not a web address")
	}
	r.Header.Set("Accept", "application/x-ndjson, application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	wire.Bearer(r.Header, s.Key)
	var c http.Client
	if s.HTTP != nil {
		c = *s.HTTP
	}
	c.Timeout, c.Jar = 0, nil
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := c.Do(r)
	if err != nil {
		return nil, fmt.Errorf("Ollama cannot be reached: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // whatever came is enough for an error
		return nil, &Error{resp.StatusCode, refusal(said)}
	}
	return resp, nil
}

func refusal(body []byte) string {
	var e struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &e) == nil && e.Error != "" {
		return wire.Clean(e.Error, 300)
	}
	return wire.Clean(string(body), 300)
}
