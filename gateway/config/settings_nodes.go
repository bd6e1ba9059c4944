package config

// Nodes says which commands of devices may be called beyond those that their
// kind allows, and which not. A name may end in *, but what sees, records or
// changes private things is allowed by its whole name only.
type Nodes struct {
	Allow []string `json:"allow,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}
