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

// ReadFilesIn begins the words of a yes for a folder; its path follows.
const ReadFilesIn = "Read files in "

// Observer hears of requests. Its methods must not block and must not call the
// broker.
type Observer interface {
	// Reachable reports whether somebody who may decide about the ask would hear
	// of it now.
	Reachable(a Ask) bool
	// Requested tells of a request that waits, Resolved of one that is over.
	Requested(r Record)
	Resolved(r Record)
	// Used tells of what a rule allowed or forbade without a question.
	Used(a Ask, r Rule)
}

// Observe has an observer hear of all requests, instead of who was named in the
// Options. It is called once, before anything is asked.
func (b *Broker) Observe(o Observer) {
	b.Reachable, b.Requested, b.Resolved, b.Used = o.Reachable, o.Requested, o.Resolved, o.Used
}
