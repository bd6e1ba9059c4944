package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/internal/random"
)

// server is a model whose server keeps only the last words of a text.
type server struct {
	keeps  int // words
	honest bool
	counts bool
	dumb   bool
	tools  string // yes, second, wrong, no
	fails  error
	asked  int
	stop   func() // called when a long text comes
}

var secret = regexp.MustCompile(`secret word is ([a-z]+-[0-9]+)`)

func (s *server) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		s.asked++
		if s.fails != nil {
			yield(model.Event{}, s.fails)
			return
		}
		words := strings.Fields(req.Messages[0].Blocks[0].Text)
		if len(words) > 5000 && s.stop != nil {
			s.stop()
		}
		if ctx.Err() != nil {
			yield(model.Event{}, ctx.Err())
			return
		}
		if s.keeps > 0 && len(words) > s.keeps {
			if s.honest {
				yield(model.Event{}, &model.Error{Class: model.ClassContext})
				return
			}
			words = words[len(words)-s.keeps:]
		}
		out := model.Event{Kind: model.EventText, Text: "I do not know."}
		if m := secret.FindStringSubmatch(strings.Join(words, " ")); m != nil && !s.dumb {
			out.Text = "It is **" + strings.ToUpper(m[1]) + "**."
		}
		if len(req.Tools) > 0 {
			s.tool(req.Messages[0].Blocks[0].Text, &out)
		}
		if !yield(out, nil) {
			return
		}
		u := model.Usage{Input: 10}
		if s.counts {
			u.Input = 2 * len(words)
		}
		if yield(model.Event{Kind: model.EventUsage, Usage: u}, nil) {
			yield(model.Event{Kind: model.EventStop, Stop: model.StopEnd}, nil)
		}
	}
}

func (s *server) tool(text string, out *model.Event) {
	args := text[strings.Index(text, "{"):]
	switch {
	case s.tools == "wrong":
		args = `{"number":1}`
	case s.tools == "no", s.tools == "second" && s.asked == 1:
		return
	}
	*out = model.Event{Kind: model.EventToolCall, Call: &model.ToolCall{ID: "1", Name: toolName, Arguments: json.RawMessage(args)}}
}

func prober(s *server) Prober {
	return Prober{Provider: s, Model: "m", Now: time.Now, Draw: random.Below}
}

func TestHello(t *testing.T) {
	a, err := prober(&server{}).Hello(t.Context())
	if err != nil || a.Text == "" || a.Usage.Input != 10 {
		t.Errorf("%+v, %v", a, err)
	}
	want := &model.Error{Class: model.ClassAuth}
	if _, err := prober(&server{fails: want}).Hello(t.Context()); !errors.Is(err, want) {
		t.Error(err)
	}
}

func TestTools(t *testing.T) {
	for how, want := range map[string]bool{"yes": true, "second": true, "wrong": false, "no": false} {
		s := &server{tools: how}
		works, used, err := prober(s).Tools(t.Context())
		if err != nil || works != want || used.Input != 10*s.asked {
			t.Errorf("%s: %v, %+v, %v", how, works, used, err)
		}
	}
}

func TestWindow(t *testing.T) {
	for _, tc := range []struct {
		name    string
		s       server
		claimed int
		want    Window
	}{
		{"all of it", server{}, 32768, Window{Holds: 32768}},
		{"an odd size", server{}, 40960, Window{Holds: 40960}},
		{"a tiny one", server{}, 1000, Window{Holds: 1000}},
		{"cut without a word", server{keeps: 6068}, 32768, Window{Holds: 8192, Fails: 12288}},
		{"cut, and tokens are counted", server{keeps: 8192 / 2, counts: true}, 32768, Window{Holds: 8192, Fails: 12288}},
		{"refused", server{keeps: 3034, honest: true}, 131072, Window{Holds: 4096, Fails: 6144}},
		{"smaller than the first step", server{keeps: 100}, 8192, Window{Unsure: true}},
		{"a model that understands nothing", server{dumb: true}, 8192, Window{Unsure: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var told []int
			got, err := prober(&tc.s).Window(t.Context(), tc.claimed, func(n int) { told = append(told, n) })
			got.Usage = model.Usage{}
			if d := cmp.Diff(tc.want, got); d != "" || err != nil {
				t.Errorf("%v, %s", err, d)
			}
			if tc.s.asked > 7 || len(told) > 6 {
				t.Errorf("%d questions, steps %v", tc.s.asked, told)
			}
		})
	}
}

// A time that is up ends the search with what is known.
func TestWindowOutOfTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &server{stop: cancel}
	got, err := prober(s).Window(ctx, 32768, nil)
	if err != nil || got.Holds != smallest || got.Fails != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestLadder(t *testing.T) {
	if d := cmp.Diff([]int{2048, 3072, 4096, 6144, 8192}, ladder(8192)); d != "" {
		t.Error(d)
	}
	for _, n := range []int{0, 1, 1024, 1025, 5000, 1_000_000} {
		steps := ladder(n)
		for i := range steps {
			if i > 0 && steps[i] <= steps[i-1] {
				t.Error(n, steps)
			}
		}
		if len(steps) > 0 && steps[len(steps)-1] != n {
			t.Error(n, fmt.Sprint(steps))
		}
	}
}
