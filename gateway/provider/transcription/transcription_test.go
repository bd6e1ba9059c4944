package transcription_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/provider/transcription"
	"github.com/hearth-assistant/hearth/gateway/provider/transcription/transcriptiontest"
)

const key = "sk-live-0123456789abcdef"

func client(s *transcriptiontest.Server, with string) *transcription.Client {
	return &transcription.Client{Service: "Acme", Model: "whisper-1", BaseURL: s.URL, HTTP: http.DefaultClient,
		Key: func(context.Context) (string, error) { return with, nil }}
}

// What is sent is what services take, whatever the file is called, and what they
// say of its cost is read in each of its forms.
func TestWrite(t *testing.T) {
	s := transcriptiontest.New(t, key, " Buy milk. ")
	sound := transcription.Sound{Name: "a\"\r\nb/Größe.ogg", MIME: "audio/ogg", Data: []byte("OggS and more"), Language: "de", Prompt: "Milch"}
	for _, c := range []struct {
		bill map[string]any
		want transcription.Words
	}{
		{nil, transcription.Words{Text: "Buy milk."}},
		{map[string]any{"type": "duration", "seconds": 3}, transcription.Words{Text: "Buy milk.", Length: 3 * time.Second}},
		{map[string]any{"type": "tokens", "input_tokens": 14, "output_tokens": 5}, transcription.Words{Text: "Buy milk.", Input: 14, Output: 5}},
		{map[string]any{"prompt_audio_seconds": 4, "prompt_tokens": 7, "completion_tokens": 2},
			transcription.Words{Text: "Buy milk.", Input: 7, Output: 2, Length: 4 * time.Second}},
		{map[string]any{"seconds": -4, "input_tokens": -1}, transcription.Words{Text: "Buy milk."}},
		{map[string]any{"seconds": 1e300}, transcription.Words{Text: "Buy milk.", Length: 24 * time.Hour}},
	} {
		s.Bill(c.bill)
		got, err := client(s, key).Write(t.Context(), sound)
		if d := cmp.Diff(c.want, got); err != nil || d != "" {
			t.Errorf("%v: %v %s", c.bill, err, d)
		}
	}
	want := transcriptiontest.Request{Model: "whisper-1", Language: "de", Prompt: "Milch", Name: "Gr__e.ogg", MIME: "audio/ogg", Size: 13}
	if d := cmp.Diff(want, s.Taken()[0]); d != "" || len(s.Refused()) > 0 {
		t.Error(d, s.Refused())
	}
}

// Failures say what happened and what to do, and never the key.
func TestSec_A_SEC_WriteFailures(t *testing.T) {
	for name, c := range map[string]struct {
		with, raw string
		file      string
		status    int
		want      string
	}{
		"a wrong key":       {"sk-wrong-0123456789abcdef", "", "v.ogg", 0, "hearth models auth"},
		"a kind":            {key, "", "v.amr", 0, "Invalid file format"},
		"an error":          {key, "", "v.ogg", 500, "HTTP 500"},
		"no credit":         {key, "", "v.ogg", 429, "no credit"},
		"too large":         {key, "", "v.ogg", 413, "maxBytes"},
		"another address":   {key, "", "v.ogg", 404, "tools.media.audio"},
		"a page":            {key, "<html>", "v.ogg", 0, "/v1"},
		"no words":          {key, `{"error":{"message":"x"}}`, "v.ogg", 0, "something else than words"},
		"words of one kind": {key, `{"text":7}`, "v.ogg", 0, "something else than words"},
		"endless":           {key, `{"text":"` + strings.Repeat("x", 5<<20) + `"}`, "v.ogg", 0, "more than 4 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			s := transcriptiontest.New(t, key, "words")
			s.Answer(c.raw)
			s.Fail(c.status)
			_, err := client(s, c.with).Write(t.Context(), transcription.Sound{Name: c.file, Data: []byte("x")})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.with) {
				t.Error(err)
			}
		})
	}
	s := transcriptiontest.New(t, key, "words")
	c := client(s, key)
	locked := errors.New("the keychain is locked")
	c.Key = func(context.Context) (string, error) { return "", locked }
	if _, err := c.Write(t.Context(), transcription.Sound{Name: "v.ogg"}); !errors.Is(err, locked) {
		t.Error(err)
	}
	defer s.Hold()()
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := client(s, key).Write(ctx, transcription.Sound{Name: "v.ogg"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
