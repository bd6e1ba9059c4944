package server

import (
	"net/http"
)

// fronted: the request came by the proxy on this machine that Options.Front
// knows. Whatever it says of who sent it, it is never taken for this machine's
// own: a name that is not of the loopback address keeps it from that.
func (s *Server) fronted(r *http.Request) bool {
	return s.front != nil && !s.gate.hosts[r.Host] && peerOf(r).IsLoopback() && r.Header.Get("X-Forwarded-For") != "" &&
		s.front(r.Context(), r.Host)
}

// frontHandler is what browsers find behind that proxy: the page for phones, and
// the socket for it.
func (s *Server) frontHandler() http.Handler {
	mux := http.NewServeMux()
	live := constant(`{"ok":true,"status":"live"}`)
	mux.Handle("/health", live)
	mux.Handle("/healthz", live)
	mux.Handle(phonePath, s.phone())
	mux.Handle(phonePath+"/", s.phone())
	mux.Handle("/{$}", http.RedirectHandler(phonePath+"/", http.StatusFound))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if v := judgeFront(r); v.status != 0 {
			refuse(w, r, v)
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

// judgeFront is the gate for them. Only browsers come that way, from our own page;
// others have addresses of ours, where they can check our key.
func judgeFront(r *http.Request) verdict {
	origins := r.Header.Values("Origin")
	own := len(origins) == 1 && origins[0] == "https://"+r.Host
	switch {
	case !plainTarget(r):
		return verdict{status: http.StatusBadRequest, text: "This address has more than one reading, so Hearth does not serve it."}
	case r.Header.Get("Tailscale-Funnel-Request") != "":
		return verdict{status: http.StatusForbidden, text: "This address is open to the whole internet, and Hearth is not served there. Use " +
			"`tailscale serve` without Funnel."}
	case r.Header.Get("X-Forwarded-Proto") != "https":
		return verdict{status: http.StatusForbidden, text: "Hearth speaks only https with other machines."}
	case isUpgrade(r) && !own, len(origins) > 0 && !own:
		return verdict{status: http.StatusForbidden, text: "Another page or program tried to use Hearth, which is not allowed here. Open " +
			"Hearth's own page instead."}
	}
	return verdict{}
}
