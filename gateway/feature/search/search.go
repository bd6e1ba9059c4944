// Package search is the feature that finds words in everything that was said: the
// method sessions.search and the keeping of its index. The index itself is
// package gateway/search's.
package search

import (
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/search"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Index  *search.Index
	Agents *agents.Directory
}

type feature struct{ o Options }

// New makes the feature.
func New(o Options) host.Feature {
	f := feature{o}
	return host.Feature{
		Methods: []method.Method{method.Plain(protocol.MethodSessionsSearch, f.find)},
		Run: func(ctx context.Context) error {
			f.o.Index.Run(ctx)
			return nil
		},
	}
}

// maxQuery is the longest query, in bytes.
const maxQuery = 1000

// find finds words in everything that was said.
func (f feature) find(ctx context.Context, p protocol.SessionsSearchParams) (protocol.SessionsSearch, error) {
	if len(p.Query) > maxQuery {
		return protocol.SessionsSearch{}, protocol.InvalidParams(protocol.MethodSessionsSearch, "the query has %d bytes, at most %d are allowed",
			len(p.Query), maxQuery)
	}
	q := search.Params{Query: p.Query, Limit: p.Limit}
	if p.Key != "" {
		key, err := f.o.Agents.Canonical(p.Key, p.AgentID)
		if err != nil {
			return protocol.SessionsSearch{}, err
		}
		q.Key = key
	}
	res, err := f.o.Index.Find(ctx, q)
	if errors.Is(err, search.ErrNoWords) {
		return res, protocol.Invalid("There are no words in it; type one to look for.")
	}
	return res, err
}
