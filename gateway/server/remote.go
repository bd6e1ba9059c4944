package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
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
	// Names are the hosts, with their port, by which a browser may come to the page
	// for phones; a page of any other name gets nothing. nil: none.
	Names func() []string
	// Pins are the keys that a device may meet from now on; each learns them when it
	// connects. nil: none.
	Pins func() []string
	// Authority is the certificate that a browser can be told to trust. nil: none.
	Authority func() (der []byte, err error)
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
	srv := s.httpServer(ctx, s.remoteHandler(), newRawConns(max(1, s.limits.RawConns/2)))
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(s.remote.listener()); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		s.log.Error("other machines are not served any more", "err", err)
	}
}

// remoteHandler is everything that other machines find: whether the gateway
// lives, its socket, and the page for phones.
func (s *Server) remoteHandler() http.Handler {
	mux := http.NewServeMux()
	live := constant(`{"ok":true,"status":"live"}`)
	mux.Handle("/health", live)
	mux.Handle("/healthz", live)
	mux.Handle(phonePath, s.phone())
	mux.Handle(phonePath+"/", s.phone())
	mux.HandleFunc(authorityPath, s.serveAuthority)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Hearth answers here, but not with a page: for a phone it is at "+phonePath+", and other computers connect with `hearth "+
			"connect`.", http.StatusNotFound)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header(), r.Host)
		if v := s.remote.judge(r); v.status != 0 {
			refuse(w, r, v)
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

// judge is the gate for other machines. A browser comes from our own page for
// phones, under a name of ours, or it was sent by somebody else's.
func (m *Remote) judge(r *http.Request) verdict {
	switch {
	case r.TLS == nil:
		return verdict{status: http.StatusUpgradeRequired, text: "Hearth speaks only TLS with other machines."}
	case !plainTarget(r):
		return verdict{status: http.StatusBadRequest, text: "This address has more than one reading, so Hearth does not serve it."}
	case forwarded(r):
		return verdict{status: http.StatusForbidden, text: "This request came through a proxy that Hearth does not know. Connect directly."}
	}
	origins := r.Header.Values("Origin")
	if len(origins) > 0 && (len(origins) > 1 || origins[0] != "https://"+r.Host || !m.named(r.Host)) {
		return verdict{status: http.StatusForbidden, text: otherPage}
	}
	if isPhone(r.URL.Path) && !m.named(r.Host) {
		return verdict{status: http.StatusMisdirectedRequest, text: "This request was sent to a name that is not Hearth's own. `hearth qr` " +
			"shows the address of its page for phones."}
	}
	return verdict{}
}

// named reports whether a browser may come by this host.
func (m *Remote) named(host string) bool {
	return m.Names != nil && slices.Contains(m.Names(), host)
}
