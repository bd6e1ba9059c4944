package embedding

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEmbed(t *testing.T) {
	var got request
	var auth, path string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth, path = r.Header.Get("Authorization"), r.URL.Path
		_ = json.NewDecoder(r.Body).Decode(&got)
		fmt.Fprint(w, `{"data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}]}`)
	}))
	defer srv.Close()
	c := &Client{Service: "Acme", Model: "m", BaseURL: srv.URL + "/v1/", HTTP: srv.Client(), Key: func(context.Context) (string, error) {
		return "sk-1", nil
	}}
	vs, err := c.Embed(t.Context(), []string{"a", "b"})
	if err != nil || !cmp.Equal(vs, [][]float32{{1, 2}, {3, 4}}) {
		t.Fatal(vs, err)
	}
	if auth != "Bearer sk-1" || path != "/v1/embeddings" || !cmp.Equal(got, request{"m", []string{"a", "b"}}) {
		t.Errorf("%s %s %+v", auth, path, got)
	}
}

func TestEmbedFailures(t *testing.T) {
	const key = "sk-live-0123456789abcdef"
	for name, c := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"refused":    {401, `{"error":{"message":"bad key ` + key + `"}}`, "HTTP 401"},
		"a page":     {200, `<html>`, "/v1"},
		"too few":    {200, `{"data":[{"index":0,"embedding":[1]}]}`, "1 vectors for 2 texts"},
		"twice":      {200, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, "do not fit"},
		"other":      {200, `{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}]}`, "do not fit"},
		"two shapes": {200, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`, "vectors for"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			}))
			defer srv.Close()
			cl := &Client{Service: "Acme", Model: "m", BaseURL: srv.URL, HTTP: srv.Client(), Key: func(context.Context) (string, error) {
				return key, nil
			}}
			_, err := cl.Embed(t.Context(), []string{"a", "b"})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), key) {
				t.Errorf("%v", err)
			}
		})
	}
	locked := errors.New("the keychain is locked")
	cl := &Client{Service: "Acme", BaseURL: "http://127.0.0.1:1", HTTP: http.DefaultClient, Key: func(context.Context) (string, error) {
		return "", locked
	}}
	if _, err := cl.Embed(t.Context(), []string{"a"}); !errors.Is(err, locked) {
		t.Error(err)
	}
}
