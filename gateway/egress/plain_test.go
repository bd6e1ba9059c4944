package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"syscall"
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
	_, refused := Operator().RoundTrip(req)
	if refused == nil {
		t.Fatal("a service answers that is not there")
	}
	for want, err := range map[string]error{
		"nothing listens at its address": refused,
		"the address of chat.example was not found; is this computer connected to the network?": fmt.Errorf("ask: %w",
			&net.DNSError{Err: "no such host", Name: "chat.example", IsNotFound: true}),
		"no way leads to its address; is this computer connected to the network?": &net.OpError{Op: "dial", Err: syscall.ENETUNREACH},
		"the other side closed the connection":                                    &net.OpError{Op: "read", Err: syscall.Errno(10054)},
		"it did not answer in time":                                               fmt.Errorf("ask: %w", context.DeadlineExceeded),
		"a certificate of another time": &url.Error{Op: "Get", URL: address,
			Err: errors.New("a certificate of another time")},
		"a word of its own": errors.New("a word of its own"),
	} {
		if got := Plain(err).Error(); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
