// Package admission lets devices and programs in, or not, and writes both down in
// the audit log. Who may come in is package pairing's to know.
package admission

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Door is where other programs come in over HTTP with a token of their own.
type Door struct {
	clients *pairing.Clients
	audit   *audit.Log
}

// NewDoor returns the door of the programs that have tokens.
func NewDoor(clients *pairing.Clients, log *audit.Log) *Door { return &Door{clients, log} }

// bearer is the token of a request: from its header and from nowhere else, so
// that no page can send it without knowing it.
func bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	kind, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(kind, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// Admit lets a request in that needs a right, or not; Refused says what to answer.
// Both are in the audit log.
func (d *Door) Admit(r *http.Request, need pairing.ClientScope) (*pairing.Visit, error) {
	k := pairing.AccessRequest{Token: bearer(r), Origin: r.Header.Get("Origin"), Need: need}
	if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		k.Source = peer.Addr()
	}
	v, err := (*pairing.Visit)(nil), error(ErrPage)
	if ownPage(r) {
		if v, err = d.clients.Admit(r.Context(), k); errors.Is(err, pairing.ErrClientUnknown) {
			err = &TokenError{Need: need, None: k.Token == ""}
		}
	}
	facts := map[string]string{"from": k.Source.String(), "origin": k.Origin, "for": string(need), "path": r.URL.Path}
	var wait *pairing.ClientWaitError
	switch {
	case errors.As(err, &wait): // what led to it is in the log already
	case err != nil:
		d.audit.Add(audit.Entry{Kind: audit.KindAuth, What: "a program was turned away: " + err.Error(), Facts: facts})
	case v.Noted:
		facts["token"] = v.Client.ID
		d.audit.Add(audit.Entry{Kind: audit.KindAuth, What: "a program was let in", Who: "token " + v.Client.Name, Facts: facts})
	}
	return v, err
}

// Audited notes in the log who was let in, and who was not.
type Audited struct {
	Registry *pairing.Registry
	Log      *audit.Log
}

// Authenticate implements server.Authenticator.
func (a Audited) Authenticate(ctx context.Context, at pairing.Attempt) (*pairing.Grant, *protocol.Error) {
	grant, err := a.Registry.Authenticate(ctx, at)
	e := audit.Entry{Kind: audit.KindAuth, Facts: map[string]string{"from": at.Source.String(), "origin": at.Origin}}
	if at.Params != nil {
		e.Who = at.Params.Client.ID
	}
	if err != nil {
		e.What, e.Facts["code"] = "a client was turned away: "+err.Message, string(err.Code)
		a.Log.Add(e)
		return grant, err
	}
	e.What = "a client was let in"
	e.Facts["method"], e.Facts["device"], e.Facts["scopes"] = grant.Method, grant.DeviceID, Scopes(grant.Scopes)
	a.Log.Add(e)
	return grant, err
}

// Scopes are rights as the audit log has them.
func Scopes(scopes []protocol.Scope) string {
	list := make([]string, len(scopes))
	for i, s := range scopes {
		list[i] = string(s)
	}
	return strings.Join(list, " ")
}
