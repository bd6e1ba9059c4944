package gateway

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/apart"
	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/web"
)

// ReaderArg is the one argument with which this program starts itself again, to
// read what strangers made.
const ReaderArg = "__reader"

// Reader is that process: it does one job within limits, see package apart.
func Reader() int { return apart.Main(map[string]apart.Job{web.Job: web.Convert}) }

// webTools are the tools that read the web.
func (g *Gateway) webTools() []tool.Tool {
	o := web.Options{Fetcher: publicWeb{g}, Now: g.opts.Now, Secret: g.redactor.Has}
	if n := len(g.opts.Guardian); n > 1 {
		reader := apart.New(append(slices.Clone(g.opts.Guardian[:n-1]), ReaderArg))
		o.Apart = func(ctx context.Context, job string, in []byte) ([]byte, error) {
			return reader.Do(ctx, job, in, apart.Limits{})
		}
	}
	return []tool.Tool{
		&web.Fetch{Options: o, MaxBytes: func() int64 { return int64(g.config.Snapshot().Config.Tools.Web.Fetch.MaxBytes) }},
		&web.Search{Options: o, Engine: g.searchEngine},
	}
}

// searchEngine is the search service of the settings now.
func (g *Gateway) searchEngine() web.Engine {
	s := g.config.Snapshot().Config.Tools.Web.Search
	e := web.Engine{Name: s.Provider, BaseURL: s.BaseURL, Key: func() string {
		key, _ := g.secrets.Known(s.APIKey)
		return strings.TrimSpace(key.Reveal())
	}}
	if e.BaseURL != "" {
		if c, err := egress.Only(e.BaseURL); err == nil { // the settings' own check has refused what is no address
			e.Fetcher = c
		}
	}
	return e
}

// webRule refuses the web tools that the settings switch off.
func (g *Gateway) webRule(name string, _ tool.Scope) string {
	w := g.config.Snapshot().Config.Tools.Web
	if name == "web_fetch" && !w.Fetch.Enabled || name == "web_search" && !w.Search.Enabled {
		return name + " is switched off in tools.web"
	}
	return ""
}

// publicWeb fetches with the client of the settings now.
type publicWeb struct{ g *Gateway }

func (p publicWeb) Fetch(ctx context.Context, req egress.Request) (egress.Page, error) {
	return p.g.web.Load().Fetch(ctx, req)
}

// openWeb makes the client for addresses that models choose, anew whenever the
// trusted proxy changes.
func (g *Gateway) openWeb(proxy string) {
	var o egress.Options
	if u, err := url.Parse(proxy); err == nil && proxy != "" {
		o.Proxy = u
	}
	g.web.Store(egress.Public(o))
}
