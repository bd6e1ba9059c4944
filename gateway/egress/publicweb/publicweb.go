// Package publicweb is the client for addresses that models choose, by the trusted
// proxy of the settings now. What it lets through is package egress's.
package publicweb

import (
	"context"
	"net/url"
	"sync/atomic"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/egress"
)

// Web is safe for concurrent use.
type Web struct {
	client  atomic.Pointer[egress.Client]
	options atomic.Pointer[egress.Options]
}

// New returns the client that follows the settings as long as these are open.
func New(settings *config.File) *Web {
	w := new(Web)
	w.use(Section.Of(settings.Snapshot().Config).Proxy)
	settings.Subscribe(nil, func(old, next config.Config) {
		if proxy := Section.Of(next).Proxy; proxy != Section.Of(old).Proxy {
			w.use(proxy)
		}
	})
	return w
}

// Fetch gets a page of the public web.
func (w *Web) Fetch(ctx context.Context, req egress.Request) (egress.Page, error) {
	return w.client.Load().Fetch(ctx, req)
}

// FetchBut is Fetch, with a policy of the owner.
func (w *Web) FetchBut(ctx context.Context, p egress.Policy, req egress.Request) (egress.Page, error) {
	return egress.PublicBut(*w.options.Load(), p).Fetch(ctx, req)
}

func (w *Web) use(proxy string) {
	var o egress.Options
	if u, err := url.Parse(proxy); err == nil && proxy != "" {
		o.Proxy = u
	}
	w.options.Store(&o)
	w.client.Store(egress.Public(o))
}
