package httpbody

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// What comes is taken, what is too large, too slow or cut is told apart, and the connection
// of what did not come ends with the answer.
func TestRead(t *testing.T) {
	said := make(chan error, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := Read(w, r, 8, 100*time.Millisecond)
		said <- err
		_, _ = w.Write(body)
	}))
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, c := range []struct {
		name, framing string
		half          bool // the sender goes in the middle
		want          error
	}{
		{"whole", "Content-Length: 8\r\nConnection: close\r\n\r\n12345678", false, nil},
		{"too large", "Content-Length: 9\r\n\r\n123456789", false, ErrLarge},
		{"too large, of a length that is not said", "Transfer-Encoding: chunked\r\n\r\n9\r\n123456789\r\n0\r\n\r\n", false, ErrLarge},
		{"too slow", "Content-Length: 8\r\n\r\n1234", false, ErrLate},
		{"too slow, of a length that is not said", "Transfer-Encoding: chunked\r\n\r\n4\r\n1234\r\n", false, ErrLate},
		{"cut", "Content-Length: 8\r\n\r\n1234", true, ErrCut},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d net.Dialer
			conn, err := d.DialContext(ctx, "tcp", s.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
			_, _ = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\n%s", c.framing)
			if c.half {
				_ = conn.(*net.TCPConn).CloseWrite()
			}
			raw, err := io.ReadAll(conn) // ends with the connection
			if err := <-said; !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if err != nil || !strings.HasPrefix(string(raw), "HTTP/1.1 200") || c.want == nil && !strings.HasSuffix(string(raw), "12345678") {
				t.Errorf("%v %q", err, raw)
			}
		})
	}
}
