package hub

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A-DOS-03: a call whose body does not come is answered, and its connection ends.
func TestSec_A_DOS_03_SlowCall(t *testing.T) {
	c := &calls{reading: make(chan struct{}, 1)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, status := c.body(w, r, 100*time.Millisecond)
		refuseCall(w, status, "too slow", 0)
	}))
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, framing := range []string{"Content-Length: 200\r\n\r\n{\"mess", "Transfer-Encoding: chunked\r\n\r\n6\r\n{\"mess\r\n"} {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		_, _ = fmt.Fprintf(conn, "POST /calls/x/y HTTP/1.1\r\nHost: x\r\n%s", framing)
		raw, err := io.ReadAll(conn) // ends with the connection
		if err != nil || !strings.HasPrefix(string(raw), "HTTP/1.1 408") {
			t.Errorf("%.30q: %v %q", framing, err, raw)
		}
		stop()
		_ = conn.Close()
	}
}
