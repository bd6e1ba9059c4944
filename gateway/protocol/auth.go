package protocol

import "encoding/json"

// ModelsAuthStatus says which accounts there are at model services.
type ModelsAuthStatus struct {
	TS           int64                `json:"ts"`
	Providers    []ModelsAuthProvider `json:"providers"`
	Capabilities []ModelsAuthAbility  `json:"providerCapabilities"`
}

// ModelsAuthProvider is one service. Status is ok (a login), static (a key),
// expired or missing.
type ModelsAuthProvider struct {
	Provider     string              `json:"provider"`
	AuthProvider string              `json:"authProvider"`
	DisplayName  string              `json:"displayName"`
	Status       string              `json:"status"`
	Profiles     []ModelsAuthProfile `json:"profiles"`
	APIKey       *ModelsAuthKey      `json:"apiKey,omitempty"`
	Order        []string            `json:"order,omitempty"` // auth.order
}

// ModelsAuthKey is a key that is no stored account.
type ModelsAuthKey struct {
	Source string `json:"source"` // config, env
}

// ModelsAuthProfile is one account; it holds no secret.
type ModelsAuthProfile struct {
	ProfileID  string          `json:"profileId"`
	Type       string          `json:"type"` // api_key, token, oauth
	Status     string          `json:"status"`
	Email      string          `json:"email,omitempty"`
	Source     string          `json:"source,omitempty"` // stored, config, env
	Hosts      []string        `json:"hosts,omitempty"`  // ours: where its key may go
	ExpiresAt  int64           `json:"expiresAt,omitempty"`
	UsageStats json.RawMessage `json:"usageStats,omitempty"`
}

// ModelsAuthAbility is how one can be known to a service.
type ModelsAuthAbility struct {
	Provider        string             `json:"provider"`
	APIKeySupported bool               `json:"apiKeySupported"`
	QuickAPIKey     bool               `json:"quickApiKeySetup"`
	LoginOptions    []ModelsAuthOption `json:"loginOptions,omitempty"`
}

// ModelsAuthOption is a way to log in.
type ModelsAuthOption struct {
	ID      string `json:"id"`
	BrandID string `json:"brandId"`
	Label   string `json:"label"`
	Hint    string `json:"hint"`
	Group   string `json:"groupLabel"`
	Kind    string `json:"kind"` // device-code, oauth
}

// ModelsAuthLogoutParams removes accounts of a service, all when none is named.
type ModelsAuthLogoutParams struct {
	Provider       string   `json:"provider"`
	ProfileIDs     []string `json:"profileIds,omitempty"`
	CredentialType string   `json:"credentialType,omitempty"` // "api_key": only keys
}

// ModelsAuthLogoutResult names what was removed.
type ModelsAuthLogoutResult struct {
	Provider string   `json:"provider"`
	Removed  []string `json:"removedProfiles"`
}

// ModelsAuthOrderParams sets auth.order of a service; no accounts: they take
// turns.
type ModelsAuthOrderParams struct {
	Provider   string   `json:"provider"`
	ProfileIDs []string `json:"profileIds,omitempty"`
}

// ModelsAuthSetKeyParams stores a key.
type ModelsAuthSetKeyParams struct {
	Provider string `json:"provider"` // empty: the key tells by how it begins
	APIKey   string `json:"apiKey"`
	Name     string `json:"name,omitempty"`  // ours: of the account, "default" when empty
	Token    bool   `json:"token,omitempty"` // ours: a bearer token, not a key
}

// ModelsAuthSetKeyResult names the account.
type ModelsAuthSetKeyResult struct {
	Provider  string `json:"provider"`
	ProfileID string `json:"profileId"`
	Warning   string `json:"warning,omitempty"`
	Stored    string `json:"stored,omitempty"` // ours: keychain, vault or plain
	// Imported is ours: all accounts, where one call made several.
	Imported []string `json:"imported,omitempty"`
}

// ModelsAuthLoginParams is ours: it begins a login.
type ModelsAuthLoginParams struct {
	Provider string `json:"provider"`
}

// ModelsAuthLogin is ours: what the person has to do.
type ModelsAuthLogin struct {
	LoginID   string `json:"loginId"`
	Kind      string `json:"kind"` // device-code, oauth
	URL       string `json:"url"`
	UserCode  string `json:"userCode,omitempty"`
	ExpiresAt int64  `json:"expiresAt"`
}

// ModelsAuthWaitParams is ours: LoginID of a login that is under way.
type ModelsAuthWaitParams struct {
	LoginID   string `json:"loginId"`
	TimeoutMs int    `json:"timeoutMs,omitempty"` // 25 s when nothing is said, 60 s at most
}

// ModelsAuthWait is ours: how the login stands.
type ModelsAuthWait struct {
	State     string `json:"state"` // pending, done, failed
	ProfileID string `json:"profileId,omitempty"`
	Error     string `json:"error,omitempty"`
}

// ForeignLogins is ours: logins of other programs on the gateway's computer.
type ForeignLogins struct {
	Logins []ForeignLogin `json:"logins"`
}

// ForeignLogin is one program.
type ForeignLogin struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Path     string `json:"path"`
	Provider string `json:"provider"`
	Present  bool   `json:"present"`
	Caution  string `json:"caution,omitempty"`
}

// ModelsAuthImportParams is ours: ID of a ForeignLogin.
type ModelsAuthImportParams struct {
	ID string `json:"id"`
}

// ModelsAuthAllowParams is ours: one more host for the key of an account.
type ModelsAuthAllowParams struct {
	ProfileID string `json:"profileId"`
	Host      string `json:"host"`
}

// AccountRest is what UsageStats says of times in which an account is not asked.
type AccountRest struct {
	CooldownUntil  int64  `json:"cooldownUntil"`
	CooldownReason string `json:"cooldownReason"`
	CooldownModel  string `json:"cooldownModel"`
	DisabledUntil  int64  `json:"disabledUntil"`
	DisabledReason string `json:"disabledReason"`
}

// Rest reads UsageStats.
func (p *ModelsAuthProfile) Rest() (r AccountRest, err error) {
	if len(p.UsageStats) == 0 {
		return r, nil
	}
	return r, json.Unmarshal(p.UsageStats, &r)
}
