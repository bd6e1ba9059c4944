package wire

import "net/http"

// Bearer puts the key where most services want it; it is a Dialect's Header.
// Without a key nothing is sent: local servers need none.
func Bearer(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}
