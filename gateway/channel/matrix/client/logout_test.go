//go:build goolm

package client_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// TestLogOut: the server forgets the device, the account ends and keeps no token of it, and
// the next login is that of a new device. While the server cannot be told, nothing changes.
func TestLogOut(t *testing.T) {
	s := newServer(t)
	down, out := true, 0
	s.more = func(w http.ResponseWriter, r *http.Request, part []string, _ []byte) bool {
		if part[len(part)-1] != "logout" {
			return false
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if down {
			refuse(w, http.StatusServiceUnavailable, "M_UNKNOWN", nil)
			return true
		}
		out++
		_, _ = w.Write([]byte("{}"))
		return true
	}
	kept := &durable{kept: map[string][]byte{}}
	a := account(s.URL, func(a *channel.Account) { a.Durable = kept })
	c := open(t, a)
	_, ended, _ := running(t, c)
	until(t, "connecting", connected(c))
	if err := c.LogOut(t.Context()); err == nil || errors.Is(err, channel.ErrAuth) || !connected(c)() {
		t.Errorf("%v, %+v", err, c.Status())
	}
	s.with(func() { down = false })
	if err := c.LogOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, channel.ErrAuth) || !strings.Contains(err.Error(), "channels start matrix") {
		t.Errorf("it ended with %v", err)
	}
	was, err := kept.Get(t.Context(), "account")
	if err != nil || strings.Contains(string(was), `"token"`) || strings.Contains(string(was), `"device"`) {
		t.Errorf("%s %v", was, err)
	}
	if err := c.LogOut(t.Context()); err == nil {
		t.Error("it was logged out twice")
	}
	s.with(func() {
		if out != 1 {
			t.Errorf("the server was told %d times", out)
		}
	})
}
