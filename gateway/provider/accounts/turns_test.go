package accounts

import (
	"context"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
)

// scriptedCalls answers or fails by model and account.
type scriptedCalls struct {
	calls []string
	fail  func(name string) error
}

type scriptedCall struct {
	s    *scriptedCalls
	name string
}

func (c scriptedCall) Stream(context.Context, model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		c.s.calls = append(c.s.calls, c.name)
		if err := c.s.fail(c.name); err != nil {
			yield(model.Event{}, err)
			return
		}
		if yield(model.Event{Kind: model.EventText, Text: c.name}, nil) {
			yield(model.Event{Kind: model.EventStop, Stop: model.StopEnd}, nil)
		}
	}
}

// The failover over the real book of accounts: one that is limited rests for a
// minute while the other answers, then five; a limit is of one model; without
// credit an account rests for all models, for hours.
func TestFailoverOverTheBook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		account := func(id, service string) profile.Implicit {
			return profile.Implicit{Profile: profile.Profile{ID: id, Provider: service, Type: profile.APIKey}, Key: "key-of-" + id}
		}
		book, err := profile.Open(t.Context(), profile.Options{Now: time.Now, Settings: profile.Settings{
			Order:    map[string][]string{"a": {"a:1", "a:2"}},
			Implicit: []profile.Implicit{account("a:1", "a"), account("a:2", "a"), account("b:1", "b")},
		}})
		if err != nil {
			t.Fatal(err)
		}
		one, two := model.Ref{Provider: "a", Model: "one"}, model.Ref{Provider: "b", Model: "two"}
		s := &scriptedCalls{}
		engine := failover.New(failover.Options{
			Resolve: func(_ context.Context, ref model.Ref, id string) (failover.Target, error) {
				return failover.Target{Ref: ref, Provider: scriptedCall{s, ref.Model + "@" + id}}, nil
			},
			Accounts: Turns{&Accounts{book: book, o: Options{Now: time.Now}}}, Now: time.Now,
			Settings: func(string) failover.Settings {
				return failover.Settings{Primary: one, Fallbacks: []model.Ref{two}, RateLimitedRotations: 1}
			},
		})
		ask := func(ref model.Ref, want ...string) {
			t.Helper()
			s.calls = nil
			target, err := engine.Begin(t.Context(), failover.Selection{Ref: ref, Source: failover.SourceDefault}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range target.Provider.Stream(t.Context(), model.Request{}) {
				if err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(s.calls, want) {
				t.Errorf("asked %v, want %v", s.calls, want)
			}
		}
		failing := func(class model.Class, names ...string) {
			s.fail = func(name string) error {
				if slices.Contains(names, name) {
					return &model.Error{Class: class, Status: 429}
				}
				return nil
			}
		}
		failing(model.ClassRateLimit, "one@a:1")
		ask(one, "one@a:1", "one@a:2")
		ask(one, "one@a:2") // the first one rests
		ask(model.Ref{Provider: "a", Model: "mini"}, "mini@a:1")
		<-time.After(time.Minute)
		ask(one, "one@a:1", "one@a:2")
		<-time.After(4 * time.Minute)
		ask(one, "one@a:2") // five minutes the second time
		failing("")
		<-time.After(time.Minute)
		ask(one, "one@a:1")

		failing(model.ClassBilling, "one@a:1", "one@a:2")
		ask(one, "one@a:1", "one@a:2", "two@b:1")
		failing("")
		ask(model.Ref{Provider: "a", Model: "mini"}, "mini@a:1") // a primary without credit is probed, and is back
		ask(one, "one@a:1")
	})
}
