package admission_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pairing/admission"
	"github.com/hearth-assistant/hearth/gateway/store"
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
		"no token":          {&admission.TokenError{Need: pairing.ClientChat, None: true}, http.StatusUnauthorized, ""},
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
			if r.Status != tc.status || h.Get("Retry-After") != tc.after ||
				(h.Get("WWW-Authenticate") != "") != (tc.status == http.StatusUnauthorized) {
				t.Errorf("%d with %v", r.Status, h)
			}
		})
	}
}

// Whoever sent no token is told that one is needed and how it is sent, and whoever
// sent a wrong one that it is wrong; both how a token for this is made.
func TestNoTokenIsNoWrongToken(t *testing.T) {
	clients, err := pairing.NewClients(t.Context(), pairing.ClientOptions{Store: none{}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	db, err := store.Open(filepath.Join(dir, "db"), store.Options{NoSync: true, ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(t.Context(), audit.Options{Path: filepath.Join(dir, "audit.jsonl"), DB: db, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_, _ = log.Close(ctx), db.Close(ctx)
	})
	door := admission.NewDoor(clients, log)
	const needed, wrong = "a token is needed here, and none came; ", "this token is not one that Hearth knows, "
	for _, tc := range []struct {
		header      string
		need        pairing.ClientScope
		begin, make string
	}{
		{"", pairing.ClientChat, needed, "`hearth tokens create NAME`"},
		{"Bearer ", pairing.ClientModels, needed, "`hearth tokens create NAME`"},
		{"Basic YTpi", pairing.ClientMCP, needed, "`hearth tokens create NAME --scope mcp`"},
		{"Bearer x", pairing.ClientMCP, wrong, "`hearth tokens create NAME --scope mcp`"},
		{"Bearer hearth_x_y", pairing.ClientChat, wrong, "`hearth tokens create NAME`"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/models", nil)
		if tc.header != "" {
			r.Header.Set("Authorization", tc.header)
		}
		_, err := door.Admit(r, tc.need)
		if known, ok := admission.Refused(err); !ok || known.Status != http.StatusUnauthorized || !strings.HasPrefix(known.Text, tc.begin) ||
			strings.Count(known.Text, tc.make) != 1 || strings.Contains(known.Text, "Authorization: Bearer") != (tc.begin == needed) {
			t.Errorf("%q: %v", tc.header, err)
		}
	}
}

type none struct{}

func (none) Load(context.Context) ([]pairing.Client, error) { return nil, nil }
func (none) Save(context.Context, pairing.Client) error     { return nil }
func (none) Forget(context.Context, string) error           { return nil }
