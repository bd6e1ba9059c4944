package gateway

import (
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/search"
)

// maxQuery is the longest query, in bytes.
const maxQuery = 1000

// sessionsSearch finds words in everything that was said.
func (g *Gateway) sessionsSearch(ctx context.Context, p protocol.SessionsSearchParams) (protocol.SessionsSearch, error) {
	if len(p.Query) > maxQuery {
		return protocol.SessionsSearch{}, protocol.InvalidParams(protocol.MethodSessionsSearch, "the query has %d bytes, at most %d are allowed", len(p.Query), maxQuery)
	}
	q := search.Params{Query: p.Query, Limit: p.Limit}
	if p.Key != "" {
		key, err := g.canonical(p.Key, p.AgentID)
		if err != nil {
			return protocol.SessionsSearch{}, err
		}
		q.Key = key
	}
	res, err := g.search.Find(ctx, q)
	if errors.Is(err, search.ErrNoWords) {
		return res, protocol.InvalidParams(protocol.MethodSessionsSearch, "%v; type a word to look for", err)
	}
	return res, err
}
