package provider

import (
	"slices"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Sees reports whether a model is shown pictures.
func (r *Registry) Sees(ref model.Ref) bool {
	for _, e := range r.Models() {
		if e.Ref == ref {
			return slices.Contains(e.Input, "image")
		}
	}
	return false
}
