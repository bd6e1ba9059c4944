// Package web is the feature of reading the web: web_fetch and web_search, by the
// settings tools.web.
package web

import (
	"context"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/egress/publicweb"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/isolate"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
	"github.com/hearth-assistant/hearth/gateway/tool/web"
)

// Options are the parts that the feature needs.
type Options struct {
	Settings *config.File
	Keys     *lookup.Secrets // of search services
	Web      *publicweb.Web
	Gate     *gate.Gate
	Secrets  *redact.Redactor
	// Reader is the command that reads pages in a process of its own, nil for none:
	// they are read in this one.
	Reader []string
	Now    func() time.Time
}

type feature struct {
	settings *config.File
	keys     *lookup.Secrets
}

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{settings: o.Settings, keys: o.Keys}
	o.Gate.AddRule(f.rule)
	shared := web.Options{Fetcher: o.Web, Now: o.Now, Secret: o.Secrets.Has}
	if len(o.Reader) > 0 {
		reader := isolate.New(o.Reader)
		shared.Apart = func(ctx context.Context, job string, in []byte) ([]byte, error) {
			return reader.Do(ctx, job, in, isolate.Limits{})
		}
	}
	return host.Feature{Tools: []tool.Tool{
		&web.Fetch{Options: shared, MaxBytes: func() int64 { return int64(f.fetching().MaxBytes) }},
		&web.Search{Options: shared, Engine: f.engine},
	}}
}

// of are the settings of the web now.
func (f *feature) fetching() Fetching { return FetchSection.Of(f.settings.Snapshot().Config) }

func (f *feature) searching() Searching { return SearchSection.Of(f.settings.Snapshot().Config) }

// engine is the search service of the settings now.
func (f *feature) engine() web.Engine {
	s := f.searching()
	e := web.Engine{Name: s.Provider, BaseURL: s.BaseURL, Key: func() string {
		key, _ := f.keys.Known(s.APIKey)
		return strings.TrimSpace(key.Reveal())
	}}
	if e.BaseURL != "" {
		if c, err := egress.Only(e.BaseURL); err == nil { // the settings' own check has refused what is no address
			e.Fetcher = c
		}
	}
	return e
}

// rule refuses the web tools that the settings switch off.
func (f *feature) rule(name string, _ tool.Scope) string {
	if name == "web_fetch" && !f.fetching().Enabled || name == "web_search" && !f.searching().Enabled {
		return name + " is switched off in tools.web"
	}
	return ""
}
