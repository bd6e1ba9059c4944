package approval

import "context"

type deciderKey struct{}

// WithDecider notes who may decide about approvals with the words of a message.
func WithDecider(ctx context.Context, d Decider) context.Context {
	return context.WithValue(ctx, deciderKey{}, d)
}

// DeciderIn is who WithDecider noted; ok is false when nobody may decide.
func DeciderIn(ctx context.Context) (d Decider, ok bool) {
	d, ok = ctx.Value(deciderKey{}).(Decider)
	return d, ok
}

// ShortID is enough of an id to tell it from the few that wait.
func ShortID(id string) string { return id[:min(8, len(id))] }
