package server

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/pairing/compare"
)

// maxIntroductions is how many machines without anything are talked to at a time.
const maxIntroductions = 32

// introduce serves the socket on which a machine that has nothing yet asks to be
// let in.
func (s *Server) introduce(w http.ResponseWriter, r *http.Request) {
	if s.remote.Introduce == nil {
		http.NotFound(w, r)
		return
	}
	select {
	case s.introductions <- struct{}{}:
		defer func() { <-s.introductions }()
	default:
		http.Error(w, "Too many machines ask to be let in. Try again in a minute.", http.StatusServiceUnavailable)
		return
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		http.Error(w, "no address", http.StatusBadRequest)
		return
	}
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it has answered
	}
	defer ws.CloseNow() //nolint:errcheck // it is over
	ws.SetReadLimit(compare.MaxMessage)
	if err := s.remote.Introduce(r.Context(), wsLine{ws}, peer.Addr(), r.TLS); err != nil {
		s.log.Info("an introduction came to nothing", "from", peer.Addr().String(), "err", err)
		_ = ws.Close(websocket.StatusPolicyViolation, "not let in")
		return
	}
	_ = ws.Close(websocket.StatusNormalClosure, "")
}

// wsLine is a socket as pairing sees it.
type wsLine struct{ ws *websocket.Conn }

func (l wsLine) Read(ctx context.Context) ([]byte, error) {
	_, b, err := l.ws.Read(ctx)
	return b, err
}

func (l wsLine) Write(ctx context.Context, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return l.ws.Write(ctx, websocket.MessageText, b)
}
