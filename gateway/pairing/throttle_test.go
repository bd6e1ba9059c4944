package pairing

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestSec_A_NET_04_BruteForceFromLoopback(t *testing.T) {
	for _, origin := range []string{"", "http://127.0.0.1:18789"} {
		t.Run("origin "+origin, func(t *testing.T) {
			c, known := newClock(), newKey(t)
			r := newRegistry(t, c, &memoryStore{})
			r.grant(t, try{key: known, auth: shared(), scopes: scopes(protocol.ScopeRead)})
			answered := 0
			for range 200 {
				_, err := r.attempt(t, try{auth: wrong(), origin: origin})
				switch code(err) {
				case "AUTH_TOKEN_MISMATCH":
					answered++
				case "AUTH_RATE_LIMITED":
					if err.RetryAfterMs <= 0 {
						t.Fatal("no retryAfterMs")
					}
				default:
					t.Fatal(err)
				}
			}
			if answered != maxFailures {
				t.Errorf("%d guesses were answered, want %d", answered, maxFailures)
			}
			r.grant(t, try{key: known, auth: shared(), origin: origin, scopes: scopes(protocol.ScopeRead)}) // a paired device is not shut out
			c.forward(lockFor)
			r.grant(t, try{auth: shared()})
		})
	}
}

// TestSec_A_NET_04_OthersLockNobodyOut: neither machines of the network nor other
// people of this one keep the owner out, who holds the right token here.
func TestSec_A_NET_04_OthersLockNobodyOut(t *testing.T) {
	c := newClock()
	r := newRegistry(t, c, &memoryStore{})
	const weak = "hunter2hunter2"
	flood := func() {
		for i := range 200 {
			_, _ = r.attempt(t, try{auth: wrong(), from: fmt.Sprintf("10.0.0.%d", i), remote: true})
			_, _ = r.attempt(t, try{auth: wrong(), key: newKey(t), from: fmt.Sprintf("10.0.0.%d", i), remote: true})
		}
	}
	flood()
	r.grant(t, try{auth: shared()})
	if err := r.SetSharedToken(weak); err != nil {
		t.Fatal(err)
	}
	if _, err := r.attempt(t, try{auth: protocol.Auth{Token: weak}}); err != nil {
		t.Errorf("machines of the network lock this one out: %v", err)
	}
	for range maxFailures {
		_, _ = r.attempt(t, try{auth: wrong()})
	}
	// What can be guessed is still not told to who guesses here.
	if _, err := r.attempt(t, try{auth: protocol.Auth{Token: weak}}); code(err) != "AUTH_RATE_LIMITED" {
		t.Errorf("a token that can be guessed is told to a guesser: %v", err)
	}
	if err := r.SetSharedToken(testToken); err != nil {
		t.Fatal(err)
	}
	r.grant(t, try{auth: shared()})
	if _, err := r.attempt(t, try{auth: wrong()}); code(err) != "AUTH_RATE_LIMITED" {
		t.Errorf("who guesses is told more than %d times: %v", maxFailures, err)
	}
}

// Many origins, one attacker: the bucket of all fills too.
func TestSec_A_NET_04_GlobalLimit(t *testing.T) {
	r := newRegistry(t, newClock(), &memoryStore{})
	answered := 0
	for i := range 500 {
		if _, err := r.attempt(t, try{auth: wrong(), from: fmt.Sprintf("10.0.%d.%d", i/250, i%250)}); code(err) == "AUTH_TOKEN_MISMATCH" {
			answered++
		}
	}
	if answered != maxFailuresAll {
		t.Errorf("%d guesses were answered, want %d", answered, maxFailuresAll)
	}
}

func TestSec_A_NET_05_SecondCredentialBuysNothing(t *testing.T) {
	for name, auth := range map[string]func(i int) protocol.Auth{
		"random device token": func(i int) protocol.Auth { return protocol.Auth{Token: "bad", DeviceToken: fmt.Sprint("x", i)} },
		"empty device token":  func(int) protocol.Auth { return protocol.Auth{Token: "bad"} },
		"bootstrap":           func(i int) protocol.Auth { return protocol.Auth{Token: "bad", BootstrapToken: fmt.Sprint("y", i)} },
		"all of them": func(i int) protocol.Auth {
			return protocol.Auth{Token: "bad", Password: "p", DeviceToken: fmt.Sprint("x", i), BootstrapToken: fmt.Sprint("y", i)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t, newClock(), &memoryStore{})
			answered := 0
			for i := range 50 {
				if _, err := r.attempt(t, try{key: newKey(t), auth: auth(i)}); code(err) != "AUTH_RATE_LIMITED" {
					answered++
				}
			}
			if answered != maxFailures {
				t.Errorf("locked after %d, want %d", answered, maxFailures)
			}
		})
	}
}

// A slot is taken before the credential is looked at, so that attempts at the
// same time cannot share one.
func TestSec_A_NET_06_ParallelAttempts(t *testing.T) {
	th := newThrottle(newClock().now)
	key := bucketKey{class: classToken, source: "loopback"}
	var verified atomic.Int32
	var tried, over sync.WaitGroup
	tried.Add(500)
	gate := make(chan struct{})
	for range 500 {
		over.Go(func() {
			a, _ := th.take(key)
			if a != nil {
				verified.Add(1)
			}
			tried.Done()
			<-gate // all that got a slot are in the middle of verifying now
			if a != nil {
				a.wrong()
			}
		})
	}
	tried.Wait()
	close(gate)
	over.Wait()
	if n := verified.Load(); n != maxFailures {
		t.Errorf("%d attempts were verified, want %d", n, maxFailures)
	}
}

func TestSec_A_NET_07_OneSourceHasOneBucket(t *testing.T) {
	same := [][]string{
		{"1.2.3.4", "::ffff:1.2.3.4"},
		{"2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:2:0:0:0:1%eth0"},
		{"127.0.0.1", "::1", "127.9.9.9", "::ffff:127.0.0.1"},
	}
	for _, group := range same {
		for _, a := range group[1:] {
			if x, y := SourceKey(netip.MustParseAddr(group[0])), SourceKey(netip.MustParseAddr(a)); x != y {
				t.Errorf("%s is %s, %s is %s", group[0], x, a, y)
			}
		}
	}
	if SourceKey(netip.MustParseAddr("1.2.3.4")) == SourceKey(netip.MustParseAddr("1.2.3.5")) {
		t.Error("two addresses share a bucket")
	}
	th := newThrottle(newClock().now)
	for i := range 100_000 {
		if a, _ := th.take(bucketKey{class: classToken, source: fmt.Sprint(i)}); a != nil {
			a.right()
		}
	}
	if len(th.buckets) > maxBuckets || th.order.Len() != len(th.buckets) {
		t.Errorf("%d buckets, %d in order", len(th.buckets), th.order.Len())
	}
	if th.buckets[bucketKey{class: classToken, source: "*"}] == nil {
		t.Error("the bucket of all was thrown out")
	}
}

func TestThrottleWindowSlides(t *testing.T) {
	c := newClock()
	th := newThrottle(c.now)
	key := bucketKey{class: classToken, source: "a"}
	for range 3 * maxFailures {
		a, wait := th.take(key)
		if a == nil {
			t.Fatalf("locked for %v by slow failures", wait)
		}
		a.wrong()
		c.forward(failureWindow/(maxFailures-1) + time.Second)
	}
}

// Secrets are compared by their digests only.
func TestSec_A_NET_03_ConstantTimeCompare(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	compare := regexp.MustCompile(`(?i)(bytes\.Equal|strings\.EqualFold|(token|secret|code|credential|password|digest)\w*\s*(==|!=)\s*[^"\s])`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if m := compare.FindString(line); m != "" {
				t.Errorf("%s:%d compares a secret directly: %s", file, i+1, m)
			}
		}
	}
	d := digestOf("right")
	for _, presented := range []string{"", "r", "wrong", "right ", strings.Repeat("right", 1000)} {
		if d.matches(presented) {
			t.Errorf("%q matches", presented)
		}
	}
	if !d.matches("right") {
		t.Error("the right one does not match")
	}
}
