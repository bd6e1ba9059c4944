package approvals

import (
	"context"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/words"
	"github.com/hearth-assistant/hearth/gateway/method"
)

// cmdApprove decides about a request. Typing it is not enough: it counts from a
// client with the right to approve, and from the owner's own account on a
// network (A-EXEC-19).
func (f *feature) cmdApprove(ctx context.Context, _, args string) (string, error) {
	by, ok := approval.DeciderIn(ctx)
	if !ok {
		return "You cannot approve from here: this client has no right to. Use the page on this machine, or `hearth approvals`.", nil
	}
	pending := f.o.Broker.Pending()
	fields := strings.Fields(args)
	if len(fields) == 0 {
		return words.List(pending), nil
	}
	scope := approval.ScopeOnce
	if len(fields) > 1 {
		if scope, ok = approval.ParseScope(strings.ToLower(fields[1])); !ok || len(fields) > 2 {
			return "A decision is once, session, here, program, deny or never.", nil
		}
	}
	rec, found := findAsk(pending, fields[0])
	if !found {
		return "Nothing waits under this id; it may have been decided, or its time is over. `/approve` lists what waits.", nil
	}
	if _, fits := words.Body(rec); !fits && by.Message && scope.Allows() {
		return "Not allowed from here: nobody saw all of it. " + words.TooLong, nil
	}
	_, err := f.o.Broker.Resolve(ctx, rec.ID, scope, by)
	switch {
	case method.ErrorIs(err, approval.ErrNotFound, approval.ErrResolved, approval.ErrNotYours, approval.ErrScope):
		return "Not done: " + err.Error() + ".", nil
	case err != nil:
		return "", err
	case scope.Allows():
		return "Allowed (" + words.Scope(scope) + "): " + rec.Ask.Title, nil
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
