package window

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/hearth-assistant/hearth/app/beside"
	"github.com/hearth-assistant/hearth/app/dial"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// boot answers the loader page: where to go, or why not yet.
func (w *window) boot(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/boot":
			link, err := w.link(r.Context(), w.where)
			answer := map[string]string{"link": link}
			if err != nil {
				answer = map[string]string{"why": err.Error()}
				if errors.Is(err, statedir.ErrNotRunning) {
					answer["absent"] = "yes"
				}
			}
			rw.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(rw).Encode(answer)
		case "/start":
			if err := start(); err != nil {
				http.Error(rw, err.Error(), http.StatusInternalServerError)
				return
			}
			_, _ = rw.Write([]byte("started"))
		default:
			next.ServeHTTP(rw, r)
		}
	})
}

// link lets the page in, once, at a place.
func (w *window) link(ctx context.Context, where string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c, err := dial.Open(ctx, w.dir, os.Getenv, client.Options{
		Client: protocol.ClientInfo{ID: "hearth-tray", Mode: "ui", Version: w.version, DisplayName: "Hearth window"},
		Scopes: []protocol.Scope{protocol.ScopeAdmin},
	})
	if err != nil {
		return "", err
	}
	defer c.Close()
	var l protocol.LaunchLink
	if err := c.Call(ctx, protocol.MethodLaunchLink, protocol.LaunchLinkParams{}, &l); err != nil {
		return "", err
	}
	return dial.At(l.URL, where), nil
}

// start starts what keeps a gateway: the icon in the menu bar or, where it was
// not installed, the gateway itself. Both outlive this window.
func start() error {
	err := beside.Start("hearth-tray")
	if errors.Is(err, beside.ErrMissing) {
		err = beside.Start("hearth", "gateway", "--quiet")
	}
	if errors.Is(err, beside.ErrMissing) {
		return errors.New("neither hearth-tray nor hearth is beside this program; install Hearth again")
	}
	return err
}

// id tells the windows of two state folders apart.
func id(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:6])
}
