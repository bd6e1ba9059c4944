package protocol

import "encoding/json"

// Patch is a field of a patch request: absent (zero), null (Set, no Value) or
// a value.
type Patch[T any] struct {
	Set   bool
	Value *T
}

// IsZero lets encoding/json's omitzero leave absent fields out.
func (p Patch[T]) IsZero() bool { return !p.Set }

func (p Patch[T]) MarshalJSON() ([]byte, error) { return json.Marshal(p.Value) }

func (p *Patch[T]) UnmarshalJSON(b []byte) error {
	p.Set = true
	if string(b) == "null" {
		p.Value = nil
		return nil
	}
	p.Value = new(T)
	return json.Unmarshal(b, p.Value)
}

// PatchTo is a patch that sets v.
func PatchTo[T any](v T) Patch[T] { return Patch[T]{Set: true, Value: &v} }
