package protocol

// The methods of secrets are ours. A value goes in and never comes out.

// SecretsList names what is kept.
type SecretsList struct {
	Secrets []SecretEntry `json:"secrets"`
	// Elsewhere says in sentences what is kept in places that are not in use.
	Elsewhere []string `json:"elsewhere,omitempty"`
}

// SecretEntry is what is told of a secret.
type SecretEntry struct {
	Name      string   `json:"name"`
	UpdatedAt int64    `json:"updatedAt"`
	UsedBy    []string `json:"usedBy"` // settings that refer to it
}

// SecretSetParams keeps a value under a name.
type SecretSetParams struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SecretNameParams names a secret.
type SecretNameParams struct {
	Name string `json:"name"`
}

// SecretsStatus is where secrets are kept and how that place is. Message is for
// people: empty when all is well.
type SecretsStatus struct {
	Backend   string   `json:"backend"`         // secrets.backend
	Place     string   `json:"place,omitempty"` // keychain, vault, plain; absent: nowhere
	State     string   `json:"state"`
	Ready     bool     `json:"ready"`
	Message   string   `json:"message,omitempty"`
	InTheOpen []string `json:"inTheOpen"` // settings that hold a key itself
	// InLists are further ones, which secrets.migrate cannot move: parts of a list.
	InLists  []string `json:"inLists,omitempty"`
	Problems []string `json:"problems"` // keys that the settings refer to and that could not be had
}

// SecretsUnlockParams: Create makes the vault when there is none. A keychain
// asks by itself and needs no passphrase.
type SecretsUnlockParams struct {
	Passphrase string `json:"passphrase,omitempty"`
	Create     bool   `json:"create,omitempty"`
}

// SecretsMigrated says which settings now refer to a key that they held.
type SecretsMigrated struct {
	Moved   []string `json:"moved"`
	InLists []string `json:"inLists,omitempty"` // as in SecretsStatus
	// Gathered are the names of secrets that were moved out of a place which is not
	// in use.
	Gathered []string `json:"gathered,omitempty"`
}

// SecretsReload is the answer of secrets.reload.
type SecretsReload struct {
	OK           bool `json:"ok"`
	WarningCount int  `json:"warningCount"`
}
