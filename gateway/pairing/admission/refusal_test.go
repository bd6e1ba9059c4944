package admission_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pairing/admission"
)

func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		err    error
		status int
		after  string
	}{
		"too many failures": {&pairing.ClientWaitError{Wait: 1500 * time.Millisecond}, http.StatusTooManyRequests, "2"},
		"another right":     {&pairing.ClientScopeError{}, http.StatusForbidden, ""},
		"nobody known":      {fmt.Errorf("come in: %w", pairing.ErrClientUnknown), http.StatusUnauthorized, ""},
		"a page":            {admission.ErrPage, http.StatusForbidden, ""},
		"one of ours":       {&admission.Refusal{Status: http.StatusNotFound, Wait: time.Minute}, http.StatusNotFound, "60"},
		"a broken disk":     {errors.New("read /var/lib/hearth: no"), 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, ok := admission.Refused(tc.err)
			if ok != (tc.status != 0) {
				t.Fatalf("%v is a refusal: %v", tc.err, ok)
			}
			if !ok {
				return
			}
			h := http.Header{}
			r.Mark(h)
			if r.Status != tc.status || h.Get("Retry-After") != tc.after || (h.Get("WWW-Authenticate") != "") != (tc.status == http.StatusUnauthorized) {
				t.Errorf("%d with %v", r.Status, h)
			}
		})
	}
}
