package provider

import "github.com/hearth-assistant/hearth/gateway/model"

// Nearby reports whether asking a model sends nothing away from this machine.
// The address counts, and what the server there says: a service that is known as a
// local one may be set up elsewhere, or hand its questions on. What is not known is not nearby.
func (r *Registry) Nearby(ref model.Ref) bool {
	if ref.Provider == r.guideChoice().Ref.Provider {
		return true
	}
	x, ok := r.view().reach(ref.Provider)
	return ok && onThisComputer(x.baseURL) && !x.isAway(ref.Model)
}
