package server

import (
	"encoding/json"
	"net/http"
	"strings"
)

// handler is everything on the port: the gate around all of it, then sockets,
// probes, the API of other packages and the page.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	live := constant(`{"ok":true,"status":"live"}`)
	mux.Handle("/health", live)
	mux.Handle("/healthz", live)
	mux.HandleFunc("/ready", s.serveReady)
	mux.HandleFunc("/readyz", s.serveReady)
	if s.mounts["/api/"] == nil {
		mux.HandleFunc("/api/", http.NotFound)
	}
	for path, h := range s.mounts {
		mux.Handle(path, h)
	}
	mux.Handle("/", s.pages)
	mux.HandleFunc(framePath+"{name}", func(w http.ResponseWriter, r *http.Request) { s.serveFrame(w, r, r.PathValue("name")) })
	// A second guard beside our own rule on Origin: it also knows Sec-Fetch-Site.
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, verdict{status: http.StatusForbidden, text: otherPage})
	}))
	inner := cross.Handler(mux)
	front := s.frontHandler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header(), r.Host)
		if s.outward(r.URL.Path) {
			if v := judgeOutward(r); v.status != 0 {
				refuse(w, r, v)
				return
			}
			inner.ServeHTTP(w, r)
			return
		}
		if s.fronted(r) {
			front.ServeHTTP(w, r)
			return
		}
		if v := s.gate.judge(r); v.status != 0 {
			refuse(w, r, v)
			return
		}
		if isUpgrade(r) && !s.reserved(r.URL.Path) {
			s.socket(w, r)
			return
		}
		if !s.mounted(r.URL.Path) {
			r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
		}
		inner.ServeHTTP(w, r)
	})
}

// reserved paths are never sockets.
func (s *Server) reserved(path string) bool {
	switch path {
	case "/health", "/healthz", "/ready", "/readyz":
		return true
	}
	return strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/assets/") || s.mounted(path)
}

// mounted reports whether a path belongs to one of Options.Mounts.
func (s *Server) mounted(path string) bool {
	for m := range s.mounts {
		if path == m || strings.HasSuffix(m, "/") && strings.HasPrefix(path, m) {
			return true
		}
	}
	return false
}

// outward reports whether a path belongs to a mount that is Outward.
func (s *Server) outward(path string) bool {
	for m, h := range s.mounts {
		if _, ok := h.(Outward); ok && strings.HasSuffix(m, "/") && strings.HasPrefix(path, m) {
			return true
		}
	}
	return false
}

// judgeOutward is the gate for them: no browser calls there, whatever page it shows.
func judgeOutward(r *http.Request) verdict {
	switch {
	case !plainTarget(r):
		return verdict{status: http.StatusBadRequest, text: "This address has more than one reading, so Hearth does not serve it."}
	case isUpgrade(r), r.Header.Get("Origin") != "", r.Header.Get("Sec-Fetch-Site") != "":
		return verdict{status: http.StatusForbidden, text: "This address is for programs, not for pages."}
	}
	return verdict{}
}

// secure sets the headers that every answer carries, errors included.
func secure(h http.Header, host string) {
	h.Set("Content-Security-Policy", policy("ws", safeHost(host)))
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", permissions("camera=()", "geolocation=()"))
	h.Set("Cache-Control", "no-store")
}

// policy lets a page load from us only, and connect to our sockets. Browsers
// take a socket of the same host for 'self'; older ones want it named. An IPv6
// address cannot be named: no source has brackets, and browsers drop it.
func policy(scheme, host string) string {
	connect := ""
	if !strings.HasPrefix(host, "[") {
		connect = " " + scheme + "://" + host
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
		"font-src 'self'; frame-src 'self'; connect-src 'self'" + connect + "; manifest-src 'self'; base-uri 'none'; form-action 'none'; " +
		"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types dompurify hearth svelte-trusted-html"
}

func permissions(camera, place string) string {
	return camera + ", microphone=(), " + place + ", payment=(), usb=(), display-capture=()"
}

// safeHost keeps a Host that the gate will refuse from forming the policy.
func safeHost(host string) string {
	if host == "" || strings.ContainsAny(host, " ;,'\"\t") {
		return "127.0.0.1"
	}
	return host
}

func refuse(w http.ResponseWriter, r *http.Request, v verdict) {
	w.Header().Set("Connection", "close")
	if strings.HasPrefix(r.URL.Path, "/v1/") && !v.json {
		v.text, v.json = forPrograms(v), true
	}
	if v.json {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(v.status)
		_, _ = w.Write([]byte(v.text))
		return
	}
	http.Error(w, v.text, v.status)
}

// forPrograms is a refusal in the form of OpenAI's API, which is all that the programs
// below /v1/ read.
func forPrograms(v verdict) string {
	kind := "invalid_request_error"
	if v.status == http.StatusForbidden {
		kind = "permission_error"
	}
	raw, err := json.Marshal(map[string]any{"error": map[string]any{"message": v.text, "type": kind, "code": nil, "param": nil}})
	if err != nil { // strings always can be
		return "{}"
	}
	return string(raw)
}

// readOnly answers other verbs than GET and HEAD.
func readOnly(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	http.Error(w, "Only GET and HEAD are possible here.", http.StatusMethodNotAllowed)
	return false
}

// constant answers the same bytes to everybody: an open route must not tell
// anything about the machine.
func constant(body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !readOnly(w, r) {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	})
}

// serveReady tells what fails only to programs on this machine, not to pages.
func (s *Server) serveReady(w http.ResponseWriter, r *http.Request) {
	if !readOnly(w, r) {
		return
	}
	ok, failing := s.ready()
	answer := struct {
		Ready   bool     `json:"ready"`
		Failing []string `json:"failing,omitempty"`
	}{Ready: ok}
	if s.gate.isLocal(r) && r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == "" {
		answer.Failing = failing
	}
	body, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, "Hearth could not say whether it is ready. Try again.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = w.Write(body)
}
