package reconnect_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/reconnect"
)

// one is a connection: how long it was there, whether it received, and how it ended.
type one struct {
	lived    time.Duration
	received bool
	err      error
}

// waits runs a loop over connections, and returns how long it waited after each. The
// last connection is there until the end.
func waits(t *testing.T, l reconnect.Loop, all []one, final ...error) (out []time.Duration, err error) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		at := -1
		l.Now = time.Now
		if l.Received != nil {
			l.Received = func() bool { return all[at].received }
		}
		l.Connect = func(ctx context.Context) error {
			if at++; at == len(all) {
				cancel()
				return ctx.Err()
			}
			<-time.After(all[at].lived)
			return all[at].err
		}
		l.Waiting = func(_ error, wait time.Duration) { out = append(out, wait) }
		err = l.Run(ctx, final...)
	})
	return out, err
}

var errBroke = errors.New("it broke")

// TestPauses: twice as long after each failure up to the most, from the beginning
// after a connection that lived, and never less than the network asks for.
func TestPauses(t *testing.T) {
	broke := one{time.Second, false, errBroke}
	l := reconnect.Loop{Least: time.Second, Most: 8 * time.Second, Lived: time.Minute}
	for name, tc := range map[string]struct {
		loop reconnect.Loop
		all  []one
		want []time.Duration // 0: none
	}{
		"failures":     {l, []one{broke, broke, broke, broke, broke, broke}, seconds(1, 2, 4, 8, 8, 8)},
		"lived":        {l, []one{broke, broke, {2 * time.Minute, true, errBroke}, broke}, seconds(1, 2, 1, 2)},
		"a rate limit": {l, []one{{0, false, fmt.Errorf("no: %w", &channel.RateLimit{After: time.Hour})}}, seconds(3600)},
		"short ones that received": {
			reconnect.Loop{Least: l.Least, Most: l.Most, Lived: l.Lived, Received: func() bool { return false }, MayEnd: 2},
			[]one{broke, {0, true, errBroke}, {0, true, errBroke}, {0, true, errBroke}, {0, true, errBroke}}, seconds(1, 1, 1, 2, 4),
		},
		"asked to": {
			reconnect.Loop{Least: l.Least, Most: l.Most, Lived: l.Lived, AtOnce: errBroke},
			[]one{broke, {2 * time.Minute, true, errBroke}, broke}, seconds(1, 2),
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := waits(t, tc.loop, tc.all)
			if err != nil || len(got) != len(tc.want) {
				t.Fatalf("waited %v, %v; want about %v", got, err, tc.want)
			}
			for i, want := range tc.want {
				if got[i] < want/2 || got[i] > want {
					t.Errorf("wait %d is %v, want %v to %v", i, got[i], want/2, want)
				}
			}
		})
	}
}

func seconds(n ...int) (out []time.Duration) {
	for _, s := range n {
		out = append(out, time.Duration(s)*time.Second)
	}
	return out
}

// TestFinal: a credential that is refused, and what the client names, end the loop.
func TestFinal(t *testing.T) {
	l := reconnect.Loop{Least: time.Second, Most: time.Minute, Lived: time.Minute}
	for _, end := range []error{channel.ErrAuth, channel.ErrRefused} {
		got, err := waits(t, l, []one{{0, false, errBroke}, {0, false, fmt.Errorf("%w: no", end)}}, channel.ErrRefused)
		if !errors.Is(err, end) || len(got) != 1 {
			t.Errorf("%v: waited %v, ended with %v", end, got, err)
		}
	}
}
