package webcall

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What keeps a service from being reached is said without names of system calls.
func TestPlain(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	address := gone.URL
	gone.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, refused := Do(t.Context(), Client(), req, 1<<10)
	for want, err := range map[string]error{
		"nothing listens at its address": refused,
		"the address of chat.example was not found; is this computer connected to the network?": fmt.Errorf("ask: %w",
			&net.DNSError{Err: "no such host", Name: "chat.example", IsNotFound: true}),
		"it did not answer in time": fmt.Errorf("ask: %w", context.DeadlineExceeded),
		"a word of its own":         errors.New("a word of its own"),
	} {
		if got := Plain(err).Error(); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
	const whole = "Chat could not be reached for the list: nothing listens at its address"
	if refused == nil || !strings.HasSuffix(Again(refused, "Chat", "the list").Error(), whole) {
		t.Errorf("a service that is not there: %v", refused)
	}
}
