package contact

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/store"
)

type clock struct{ at time.Time }

func (c *clock) now() time.Time          { return c.at }
func (c *clock) advance(d time.Duration) { c.at = c.at.Add(d) }

func book(t *testing.T, random io.Reader) (*Book, *clock) {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "h.db"), store.Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.WithoutCancel(t.Context())) })
	c := &clock{at: time.Date(2026, 1, 18, 12, 0, 0, 0, time.UTC)}
	return New(db, c.now, random), c
}

func person(id string) Person {
	return Person{Channel: "telegram", Account: "default", ID: id, Name: "Ann"}
}

func ask(t *testing.T, b *Book, p Person) (Request, bool, bool) {
	t.Helper()
	r, fresh, ok, err := b.Ask(t.Context(), p, "in "+p.ID)
	if err != nil {
		t.Fatal(err)
	}
	return r, fresh, ok
}

func TestApprove(t *testing.T) {
	b, _ := book(t, rand.Reader)
	r, fresh, ok := ask(t, b, person("42"))
	if !fresh || !ok || len(r.Code) != 8 || strings.Trim(r.Code, codeLetters) != "" {
		t.Fatalf("%+v %v %v", r, fresh, ok)
	}
	if _, ok, _ := b.Lookup("telegram", "default", "42"); ok {
		t.Error("let in before the owner said so")
	}
	typed := strings.ToLower(r.Code[:4] + "-" + r.Code[4:])
	c, err := b.Approve(t.Context(), "telegram", typed, Rights{})
	if err != nil || c.Person != person("42") || c.Owner {
		t.Fatalf("%+v %v", c, err)
	}
	if got, ok, err := b.Lookup("telegram", "default", "42"); !ok || err != nil || got != c {
		t.Errorf("%+v %v %v", got, ok, err)
	}
	for _, p := range [][3]string{{"telegram", "work", "42"}, {"discord", "default", "42"}, {"telegram", "default", "4"},
		{"telegram", "default", ""}} {
		if _, ok, _ := b.Lookup(p[0], p[1], p[2]); ok {
			t.Errorf("%q was let in as well", p)
		}
	}
	if _, err := b.Approve(t.Context(), "telegram", r.Code, Rights{}); !errors.Is(err, ErrNoCode) {
		t.Errorf("the code worked twice: %v", err)
	}
	if list, err := b.Contacts(); err != nil || len(list) != 1 {
		t.Errorf("%+v %v", list, err)
	}
	if was, err := b.Remove(t.Context(), "telegram", "default", "42"); !was || err != nil {
		t.Error(was, err)
	}
	if _, ok, _ := b.Lookup("telegram", "default", "42"); ok {
		t.Error("still let in after Remove")
	}
}

func TestRejectedMayNotAskForADay(t *testing.T) {
	b, c := book(t, rand.Reader)
	r, _, _ := ask(t, b, person("42"))
	if p, err := b.Reject(t.Context(), "telegram", r.Code); err != nil || p.ID != "42" {
		t.Fatal(p, err)
	}
	c.advance(23 * time.Hour)
	if _, _, ok := ask(t, b, person("42")); ok {
		t.Error("asked again within a day")
	}
	c.advance(2 * time.Hour)
	if _, fresh, ok := ask(t, b, person("42")); !ok || !fresh {
		t.Error("cannot ask a day later")
	}
}

func TestCodesExpire(t *testing.T) {
	b, c := book(t, rand.Reader)
	r, _, _ := ask(t, b, person("42"))
	c.advance(59 * time.Minute)
	if again, fresh, ok := ask(t, b, person("42")); fresh || !ok || again.Code != r.Code {
		t.Errorf("%+v %v %v", again, fresh, ok)
	}
	c.advance(time.Minute)
	if _, err := b.Approve(t.Context(), "telegram", r.Code, Rights{}); !errors.Is(err, ErrNoCode) {
		t.Errorf("an expired code: %v", err)
	}
	if again, fresh, _ := ask(t, b, person("42")); !fresh || again.Code == r.Code {
		t.Error("no new code after an hour")
	}
	c.advance(-48 * time.Hour)
	if list, _ := b.Requests(); len(list) > 1 {
		t.Errorf("%+v", list)
	}
	if _, fresh, _ := ask(t, b, person("42")); !fresh {
		t.Error("a clock set back keeps a code alive")
	}
}

// Guessing: five wrong codes void every request of the channel and close it
// for ten minutes, for the right code too.
func TestSec_A_PAIR_06_GuessingCodes(t *testing.T) {
	b, c := book(t, rand.Reader)
	r, _, _ := ask(t, b, person("42"))
	other, _, _ := ask(t, b, Person{Channel: "discord", Account: "default", ID: "1"})
	for i := range maxGuesses {
		_, err := b.Approve(t.Context(), "telegram", fmt.Sprintf("AAAAAAA%d", i+2), Rights{})
		want := ErrNoCode
		if i == maxGuesses-1 {
			want = ErrThrottled
		}
		if !errors.Is(err, want) {
			t.Fatalf("guess %d: %v", i, err)
		}
	}
	if _, err := b.Approve(t.Context(), "telegram", r.Code, Rights{}); !errors.Is(err, ErrThrottled) {
		t.Errorf("the right code after too many wrong ones: %v", err)
	}
	if r, _, _ = ask(t, b, person("43")); r.ID != "43" {
		t.Fatal(r)
	}
	if _, err := b.Approve(t.Context(), "telegram", r.Code, Rights{}); !errors.Is(err, ErrThrottled) {
		t.Errorf("a right code within the ten minutes: %v", err)
	}
	c.advance(11 * time.Minute)
	if list, err := b.Requests(); err != nil || len(list) != 2 {
		t.Errorf("the guessed request is not void: %+v, %v", list, err)
	}
	if _, err := b.Approve(t.Context(), "discord", other.Code, Rights{}); err != nil {
		t.Errorf("another channel was closed too: %v", err)
	}
	if r, fresh, _ := ask(t, b, person("42")); !fresh {
		t.Errorf("%+v", r)
	} else if _, err := b.Approve(t.Context(), "telegram", r.Code, Rights{}); err != nil {
		t.Errorf("a new code: %v", err)
	}
}

// A code of one channel opens nothing on another, and nothing is a wildcard.
func TestSec_A_PAIR_17_CodesAreOfOneChannel(t *testing.T) {
	b, _ := book(t, rand.Reader)
	r, _, _ := ask(t, b, person("42"))
	for _, try := range [][2]string{{"discord", r.Code}, {"", r.Code}, {"telegram", ""}, {"telegram", r.Code[:7]}, {"telegram", "latest"}} {
		if _, err := b.Approve(t.Context(), try[0], try[1], Rights{Owner: true}); err == nil {
			t.Errorf("%q was accepted", try)
		}
	}
	if list, _ := b.Contacts(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestSec_A_PAIR_09_ThreeMayWait(t *testing.T) {
	b, c := book(t, rand.Reader)
	for i := range 10_000 / 50 {
		ask(t, b, person(fmt.Sprint(i)))
	}
	list, err := b.Requests()
	if err != nil || len(list) != MaxPending {
		t.Fatalf("%d wait, %v", len(list), err)
	}
	for i, r := range list {
		if r.ID != fmt.Sprint(i) {
			t.Errorf("request %d is of %s: an earlier one gave way", i, r.ID)
		}
	}
	if _, _, ok := ask(t, b, Person{Channel: "telegram", Account: "work", ID: "7"}); !ok {
		t.Error("another account is full too")
	}
	c.advance(CodeLife)
	if _, fresh, _ := ask(t, b, person("77")); !fresh {
		t.Error("still full after the codes expired")
	}
}

// What is approved is what was shown.
func TestSec_A_PAIR_10_ARequestDoesNotChange(t *testing.T) {
	b, _ := book(t, rand.Reader)
	shown, _, _ := ask(t, b, person("42"))
	p := person("42")
	p.Name, p.Handle = "Owner", "owner"
	if again, fresh, _ := ask(t, b, p); fresh || again != shown {
		t.Errorf("%+v became %+v", shown, again)
	}
	c, err := b.Approve(t.Context(), "telegram", shown.Code, Rights{})
	if err != nil || cmp.Diff(shown.Person, c.Person) != "" {
		t.Errorf("%+v %v", c, err)
	}
}

func TestNoRandomnessNoCode(t *testing.T) {
	b, _ := book(t, bytes.NewReader([]byte{1, 2, 3}))
	if _, _, ok, err := b.Ask(t.Context(), person("42"), ""); ok || err == nil {
		t.Error("a code without randomness")
	}
}

func FuzzCode(f *testing.F) {
	b, err := New(nil, nil, bytes.NewReader([]byte("abcdefgh"))).newCode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(" ab-cd\tEF ")
	f.Add("\xff")
	f.Fuzz(func(t *testing.T, s string) {
		if n := normal(s); strings.ContainsAny(n, " -\t") || normal(n) != n && len(n) < 64 {
			t.Fatalf("%q became %q", s, n)
		}
	})
}

// TestByRequestID: a request is decided by its name once, also by several at once; who was
// dismissed may ask again, and the first can become the owner.
func TestByRequestID(t *testing.T) {
	b, c := book(t, rand.Reader)
	r, _, _ := ask(t, b, person("42"))
	if r.Conversation != "in 42" || strings.Contains(r.RequestID(), r.Code) {
		t.Errorf("%+v %s", r, r.RequestID())
	}
	got, err := b.Named("telegram", "default", r.RequestID())
	if err != nil || got != r {
		t.Fatal(got, err)
	}
	for _, bad := range [][3]string{{"telegram", "work", r.RequestID()}, {"discord", "default", r.RequestID()}, {"telegram", "default", ""},
		{"telegram", "default", r.Code}} {
		if _, err := b.Named(bad[0], bad[1], bad[2]); !errors.Is(err, ErrNotWaiting) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := b.Dismiss(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Admit(t.Context(), r, func(bool) Rights { return Rights{} }); !errors.Is(err, ErrNotWaiting) {
		t.Errorf("let in after it was dismissed: %v", err)
	}
	again, fresh, _ := ask(t, b, person("42"))
	if !fresh || again.RequestID() == r.RequestID() {
		t.Errorf("%+v", again)
	}
	first := func(owned bool) Rights { return Rights{Owner: !owned} }
	if in, err := b.Admit(t.Context(), again, first); err != nil || !in.Owner || in.Person != person("42") {
		t.Errorf("%+v %v", in, err)
	}
	next, _, _ := ask(t, b, person("43"))
	if in, err := b.Admit(t.Context(), next, first); err != nil || in.Owner {
		t.Errorf("%+v %v", in, err)
	}
	late, _, _ := ask(t, b, person("44"))
	c.advance(CodeLife)
	if _, err := b.Admit(t.Context(), late, first); !errors.Is(err, ErrNotWaiting) {
		t.Errorf("after an hour: %v", err)
	}
}
