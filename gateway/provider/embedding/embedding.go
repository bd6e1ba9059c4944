// Package embedding asks a model service for vectors of what texts mean, in the
// dialect of OpenAI's /v1/embeddings, which Ollama and most others speak. It
// owns the exchange and checks what comes back; which service, its key and what
// the vectors are for is its caller's.
package embedding

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 20

// Client asks one model of one service.
type Client struct {
	Service string // as people call it
	Model   string
	BaseURL string // with its version, as "https://api.openai.com/v1"
	// Key is asked for with every call; "" sends none.
	Key  func(ctx context.Context) (string, error)
	HTTP *http.Client
	// Spent is told how many tokens an answer took, as the service says, or about
	// as many when it does not. nil: nobody wants to know.
	Spent func(tokens int)
}

type request struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
}

type answer struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
	Error json.RawMessage `json:"error"`
	Usage struct {
		Prompt int `json:"prompt_tokens"`
		Total  int `json:"total_tokens"`
	} `json:"usage"`
}

// Embed returns a vector for each text, in order.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(request{c.Model, texts})
	if err != nil {
		return nil, fmt.Errorf("ask for vectors: %w", err)
	}
	address, err := url.JoinPath(c.BaseURL, "embeddings")
	if err != nil {
		return nil, fmt.Errorf("the address of %s cannot be used: %w", c.Service, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask %s for vectors: %w", c.Service, err)
	}
	req.Header.Set("Content-Type", "application/json")
	key := ""
	if c.Key != nil {
		if key, err = c.Key(ctx); err != nil {
			return nil, err
		}
		if key != "" {
			req.Header.Set("Authorization", "Bearer "+key)
		}
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s did not answer: %s", c.Service, wire.Clean(err.Error(), 300, key))
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("%s stopped in the middle of its answer: %s", c.Service, wire.Clean(err.Error(), 300, key))
	}
	return c.decode(resp.StatusCode, raw, texts, key)
}

// perToken is about how many bytes of a text are a token.
const perToken = 4

func (c *Client) spent(a answer, texts []string) {
	if c.Spent == nil {
		return
	}
	tokens := cmp.Or(max(a.Usage.Prompt, 0), max(a.Usage.Total, 0))
	if tokens == 0 {
		for _, t := range texts {
			tokens += len(t)/perToken + 1
		}
	}
	c.Spent(tokens)
}

func (c *Client) decode(status int, raw []byte, texts []string, key string) ([][]float32, error) {
	n := len(texts)
	if status != http.StatusOK {
		why := wire.Clean(strings.TrimSpace(string(raw[:min(len(raw), 2000)])), 300, key)
		return nil, fmt.Errorf("%s refused to make vectors with %s (HTTP %d): %s; check agents.defaults.memorySearch", c.Service, c.Model, status,
			why)
	}
	if len(raw) > maxAnswer {
		return nil, fmt.Errorf("%s answered with more than %d MB", c.Service, maxAnswer>>20)
	}
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fmt.Errorf("%s answered with something else than vectors; does its address end with /v1?", c.Service)
	}
	c.spent(a, texts)
	out := make([][]float32, n)
	for _, d := range a.Data {
		if d.Index < 0 || d.Index >= n || out[d.Index] != nil || len(d.Embedding) == 0 {
			return nil, fmt.Errorf("%s answered with vectors that do not fit the texts", c.Service)
		}
		out[d.Index] = d.Embedding
	}
	for _, v := range out {
		if v == nil || len(v) != len(out[0]) {
			return nil, fmt.Errorf("%s answered with %d vectors for %d texts", c.Service, len(a.Data), n)
		}
	}
	return out, nil
}
