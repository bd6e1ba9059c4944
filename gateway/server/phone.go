package server

import (
	"io/fs"
	"net/http"
	"strings"
)

// Where phones find what is for them.
const (
	phonePath     = "/phone"
	authorityPath = "/ca.crt"
	wordsPath     = "/words/" // what errors say in other languages
)

func isPhone(path string) bool {
	return path == phonePath || strings.HasPrefix(path, phonePath+"/") || path == authorityPath
}

// phone serves the page for phones: a page of its own, the only one that other
// machines get. It may ask its person for the camera and for where they are.
func (s *Server) phone() http.Handler {
	var files fs.FS
	if s.pages.files != nil {
		if sub, err := fs.Sub(s.pages.files, strings.TrimPrefix(phonePath, "/")); err == nil {
			files = sub
		}
	}
	own := http.StripPrefix(phonePath, newPages(files))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, ok := strings.CutPrefix(r.URL.Path, phonePath+framePath); ok {
			s.serveFrame(w, r, name) // the same ones: they are large
			return
		}
		if name, ok := strings.CutPrefix(r.URL.Path, phonePath+wordsPath); ok && strings.HasSuffix(name, ".json") {
			s.pages.serve(w, r, strings.TrimPrefix(wordsPath, "/")+name) // the same, too
			return
		}
		w.Header().Set("Content-Security-Policy", policy("wss", safeHost(r.Host)))
		w.Header().Set("Permissions-Policy", permissions("camera=(self)", "geolocation=(self)"))
		own.ServeHTTP(w, r)
	})
}

// serveAuthority hands out the certificate that a phone is told to trust. It is
// public: who has it can do nothing with it.
func (s *Server) serveAuthority(w http.ResponseWriter, r *http.Request) {
	if !readOnly(w, r) {
		return
	}
	if s.remote.Authority == nil {
		http.NotFound(w, r)
		return
	}
	der, err := s.remote.Authority()
	if err != nil {
		s.log.Error("the certificate for browsers cannot be handed out", "err", err)
		http.Error(w, "Hearth has no certificate to hand out now. `hearth logs` on its machine says why.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/x-x509-ca-cert")
	_, _ = w.Write(der)
}
