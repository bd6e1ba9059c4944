package hooks

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A-DOS-03: a body that does not come is answered, also when the time that the server
// gives an answer is over by then, and its connection ends.
func TestSec_A_DOS_03_SlowHook(t *testing.T) {
	f := &feature{}
	f.o.Log = slog.New(slog.DiscardHandler)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := readBody(w, r, 100*time.Millisecond)
		f.refuse(w, "agent", err)
	}))
	s.Config.ReadTimeout, s.Config.WriteTimeout = 50*time.Millisecond, 50*time.Millisecond
	s.Start()
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, framing := range []string{"Content-Length: 200\r\n\r\n{\"mess", "Transfer-Encoding: chunked\r\n\r\n6\r\n{\"mess\r\n"} {
		var d net.Dialer
		c, err := d.DialContext(ctx, "tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		stop := context.AfterFunc(ctx, func() { _ = c.Close() })
		_, _ = fmt.Fprintf(c, "POST /hooks/agent HTTP/1.1\r\nHost: x\r\n%s", framing)
		raw, err := io.ReadAll(c) // ends with the connection
		if err != nil || !strings.HasPrefix(string(raw), "HTTP/1.1 408") || !strings.Contains(string(raw), `"ok":false`) {
			t.Errorf("%.30q: %v %q", framing, err, raw)
		}
		stop()
		_ = c.Close()
	}
}
