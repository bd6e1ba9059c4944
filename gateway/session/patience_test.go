package session

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// The time in which a person is waited for is not the run's.
func TestWaitingDoesNotCount(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(ctx context.Context)
		want time.Duration
	}{
		{"nothing", func(context.Context) {}, time.Minute},
		{"one", func(ctx context.Context) {
			<-time.After(30 * time.Second)
			resume := Waiting(ctx)
			<-time.After(time.Hour)
			resume()
			resume() // once is enough
		}, time.Hour + time.Minute},
		{"two at a time", func(ctx context.Context) {
			a := Waiting(ctx)
			<-time.After(time.Minute)
			b := Waiting(ctx)
			<-time.After(time.Minute)
			a()
			<-time.After(time.Minute)
			b()
		}, 4 * time.Minute},
		{"one after the other", func(ctx context.Context) {
			for range 3 {
				resume := Waiting(ctx)
				<-time.After(time.Minute)
				resume()
				<-time.After(10 * time.Second)
			}
		}, 4 * time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ctx, stop := withPatience(t.Context(), time.Minute)
				defer stop()
				tc.do(ctx)
				<-ctx.Done()
				if took := time.Since(began); took != tc.want || !errors.Is(context.Cause(ctx), errTimeout) {
					t.Errorf("ended after %s by %v, want %s", took, context.Cause(ctx), tc.want)
				}
			})
		})
	}
	Waiting(t.Context())() // of no run: nothing happens
}
