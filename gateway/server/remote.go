package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Remote is how other machines reach the gateway: by TLS 1.3 and nothing else.
type Remote struct {
	Listener net.Listener // of raw connections
	TLS      *tls.Config  // with the gateway's certificate
	// Introduce talks to a machine that has nothing yet and asks to be let in.
	// nil: nobody is.
	Introduce func(ctx context.Context, l pairing.Line, source netip.Addr, tls *tls.ConnectionState) error
}

// listener speaks TLS whatever the given config allows: there is no way to
// serve plaintext to another machine.
func (r *Remote) listener() net.Listener {
	c := r.TLS.Clone()
	c.MinVersion = tls.VersionTLS13
	c.NextProtos = []string{"http/1.1"}
	return tls.NewListener(r.Listener, c)
}

func (s *Server) httpServer(base context.Context, h http.Handler, raw *rawConns) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, rawConnKey{}, c) },
		ConnState:         raw.track,
	}
}

// serveRemote answers other machines until ctx ends. It shares nothing with
// this machine's port but the sockets: the page, the paths of programs and the
// details of readiness stay here. Trouble there is no reason to stop here.
func (s *Server) serveRemote(ctx context.Context) {
	if s.remote == nil {
		return
	}
	srv := s.httpServer(ctx, s.remoteHandler(), newRawConns(max(1, s.limits.RawConns/4)))
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(s.remote.listener()); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		s.log.Error("other machines are not served any more", "err", err)
	}
}

// remoteHandler is everything that other machines find: whether the gateway
// lives, and its socket.
func (s *Server) remoteHandler() http.Handler {
	mux := http.NewServeMux()
	live := constant(`{"ok":true,"status":"live"}`)
	mux.Handle("/health", live)
	mux.Handle("/healthz", live)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Hearth answers here, but it shows its page only on its own machine in this version. Connect with `hearth connect` or an app that speaks its protocol.", http.StatusNotFound)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header(), r.Host)
		if v := judgeRemote(r); v.status != 0 {
			refuse(w, v)
			return
		}
		if isUpgrade(r) && r.URL.Path == protocol.PairPath {
			s.introduce(w, r)
			return
		}
		if isUpgrade(r) && !s.reserved(r.URL.Path) {
			s.socket(w, r)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
		mux.ServeHTTP(w, r)
	})
}

// judgeRemote is the gate for other machines. No page of ours is served to
// them, so a browser that comes was sent by somebody else's.
func judgeRemote(r *http.Request) verdict {
	switch {
	case r.TLS == nil:
		return verdict{status: http.StatusUpgradeRequired, text: "Hearth speaks only TLS with other machines."}
	case !plainTarget(r):
		return verdict{status: http.StatusBadRequest, text: "This address has more than one reading, so Hearth does not serve it."}
	case forwarded(r):
		return verdict{status: http.StatusForbidden, text: "This request came through a proxy that Hearth does not know. Connect directly."}
	case len(r.Header.Values("Origin")) > 0:
		return verdict{status: http.StatusForbidden, text: "A page in a browser tried to use Hearth over the network, which is not possible in this version."}
	}
	return verdict{}
}
