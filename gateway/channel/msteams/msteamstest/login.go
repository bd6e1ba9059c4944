package msteamstest

import (
	"crypto/rsa"
	"fmt"
	"net/http"

	"github.com/hearth-assistant/hearth/gateway/channel/bearer/bearertest"
)

// What a token can be for.
const (
	botScope   = "https://api.botframework.com/.default"
	graphScope = "https://graph.microsoft.com/.default"
)

// token gives one for the bot's secret, and says like Microsoft what is wrong.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	bad := func(status int, kind string, code int, words string) {
		answer(w, status, map[string]any{"error": kind, "error_codes": []int{code},
			"error_description": fmt.Sprintf("AADSTS%d: %s Trace ID: 1-2 Correlation ID: 3-4 Timestamp: 2026-01-01 00:00:00Z", code, words)})
	}
	tenant, scope := r.PathValue("tenant"), r.FormValue("scope")
	switch {
	case s.login != nil && s.login.CutBefore:
		cut(w)
	case s.login != nil:
		var code int
		_, _ = fmt.Sscan(s.login.Code, &code)
		bad(s.login.Status, "invalid_client", code, s.login.Words)
	case r.FormValue("grant_type") != "client_credentials":
		bad(400, "unsupported_grant_type", 70003, "The app requested an unsupported grant type.")
	case tenant != Tenant && tenant != "botframework.com":
		bad(400, "invalid_request", 90002, "Tenant '"+tenant+"' not found.")
	case r.FormValue("client_id") != App:
		bad(400, "unauthorized_client", 700016, "Application with identifier was not found in the directory.")
	case r.FormValue("client_secret") != s.secret:
		bad(401, "invalid_client", 7000215, "Invalid client secret provided.")
	case scope != botScope && scope != graphScope:
		bad(400, "invalid_scope", 70011, "The provided value for the input parameter 'scope' is not valid.")
	default:
		s.granted++
		t := fmt.Sprint("eyJ.token.", s.granted)
		s.tokens[t] = scope
		answer(w, 200, map[string]any{"token_type": "Bearer", "expires_in": 86399, "ext_expires_in": 86399, "access_token": t})
	}
}

func (s *Server) metadata(w http.ResponseWriter, _ *http.Request) {
	answer(w, 200, map[string]any{"issuer": "https://api.botframework.com", "authorization_endpoint": "https://invalid.botframework.com",
		"jwks_uri":                              "https://login.botframework.com/v1/.well-known/keys",
		"id_token_signing_alg_values_supported": []string{"RS256"}, "token_endpoint_auth_methods_supported": []string{"private_key_jwt"}})
}

func (s *Server) keys(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keysAsked++
	if s.keysAway {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	answer(w, 200, bearertest.Keys(s.own, keyID, map[string]any{"x5t": keyID, "endorsements": s.endorsed}))
}

// Forged signs claims with a key that is nobody's, under the name of the right one.
func (s *Server) Forged(claims map[string]any) string { return sign(s.evil, "RS256", claims) }

// As signs claims with the right key, and says that it was done in another way.
func (s *Server) As(algorithm string, claims map[string]any) string {
	return sign(s.own, algorithm, claims)
}

const keyID = "connector-key"

func sign(key *rsa.PrivateKey, algorithm string, claims any) string {
	return bearertest.Sign(key, map[string]string{"alg": algorithm, "kid": keyID, "x5t": keyID, "typ": "JWT"}, claims)
}
