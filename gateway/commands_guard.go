package gateway

import (
	"context"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval"
)

// cmdApprove decides about a request. Typing it is not enough: it counts from a
// client with the right to approve, and from the owner's own account on a
// network (A-EXEC-19).
func (g *Gateway) cmdApprove(ctx context.Context, _, args string) (string, error) {
	by, ok := approval.DeciderIn(ctx)
	if !ok {
		return "You cannot approve from here: this client has no right to. Use the page on this machine, or `hearth approvals`.", nil
	}
	pending := g.approvals.Pending()
	words := strings.Fields(args)
	if len(words) == 0 {
		return listAsks(pending), nil
	}
	scope := approval.ScopeOnce
	if len(words) > 1 {
		if scope, ok = approval.ParseScope(strings.ToLower(words[1])); !ok || len(words) > 2 {
			return "A decision is once, session, here, program, deny or never.", nil
		}
	}
	rec, found := findAsk(pending, words[0])
	if !found {
		return "Nothing waits under this id; it may have been decided, or its time is over. `/approve` lists what waits.", nil
	}
	if _, fits := askBody(rec); !fits && by.Message && scope.Allows() {
		return "Not allowed from here: nobody saw all of it. " + tooLong, nil
	}
	_, err := g.approvals.Resolve(ctx, rec.ID, scope, by)
	switch {
	case isAny(err, approval.ErrNotFound, approval.ErrResolved, approval.ErrNotYours, approval.ErrScope):
		return "Not done: " + err.Error() + ".", nil
	case err != nil:
		return "", err
	case scope.Allows():
		return "Allowed (" + scopeWords(scope) + "): " + rec.Ask.Title, nil
	}
	return "Not allowed: " + rec.Ask.Title, nil
}

// minPrefix is the least of an id that names a request.
const minPrefix = 6

// findAsk finds a request by the beginning of its id.
func findAsk(pending []approval.Record, id string) (found approval.Record, ok bool) {
	id = strings.ToLower(strings.Trim(id, "`<>"))
	for _, r := range pending {
		if len(id) < minPrefix || !strings.HasPrefix(r.ID, id) {
			continue
		}
		if ok {
			return found, false // two of them
		}
		found, ok = r, true
	}
	return found, ok
}

func listAsks(pending []approval.Record) string {
	if len(pending) == 0 {
		return "Nothing waits for your yes."
	}
	var b strings.Builder
	for _, r := range pending {
		body, fits := askBody(r)
		if !fits {
			title := strings.ToValidUTF8(r.Ask.Title[:min(len(r.Ask.Title), 80)], "")
			body = title + " … " + tooLong + "\n"
		}
		fmt.Fprintf(&b, "`%s` %s\n", approval.ShortID(r.ID), body)
	}
	return b.String() + "\nDecide with `/approve ID once|session|here|program|deny|never`."
}
