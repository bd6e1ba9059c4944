package config

// CatalogueModel is a model that may be chosen.
type CatalogueModel struct {
	Alias string `json:"alias,omitempty"` // a short name for /model
}
