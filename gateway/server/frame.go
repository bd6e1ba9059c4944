package server

import (
	"net/http"
	"strings"
)

// Frames of the page in which foreign things are drawn: diagrams, charts,
// pictures from elsewhere, and pages that a model wrote.
const framePath = "/frame/"

// Nothing that runs in a frame has an origin (sandbox), so it reaches neither the
// page around it nor the gateway, and what is not named here it cannot load.
const (
	frameRules = "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts; webrtc 'block'"
	drawRules  = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; " +
		"font-src data:; media-src data: blob:; "
)

// framePolicies is the policy of each frame; a file that is not here is not served
// as one. A frame of a model's page with the network is for whoever allowed it.
var framePolicies = map[string]string{
	"diagram.html":  drawRules + frameRules,
	"chart.html":    drawRules + frameRules,
	"artifact.html": drawRules + frameRules + "; require-trusted-types-for 'script'; trusted-types default",
	"picture.html":  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src https:; " + frameRules,
	"online.html": "default-src 'none'; script-src https: 'unsafe-inline' 'unsafe-eval'; style-src https: 'unsafe-inline'; " +
		"img-src https: data: blob:; font-src https: data:; media-src https: data: blob:; connect-src https:; " + frameRules,
}

// serveFrame serves a frame by its name.
func (s *Server) serveFrame(w http.ResponseWriter, r *http.Request, name string) {
	if !readOnly(w, r) {
		return
	}
	policy, known := framePolicies[name]
	if !known {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("X-DNS-Prefetch-Control", "off")
	h.Set("Permissions-Policy", permissions("camera=()", "geolocation=()")+
		", clipboard-read=(), clipboard-write=(), fullscreen=(), autoplay=(), accelerometer=(), gyroscope=(), midi=(), serial=(), hid=()")
	if name == "online.html" {
		name = "artifact.html"
	}
	s.pages.serve(w, r, strings.TrimPrefix(framePath, "/")+name)
}
