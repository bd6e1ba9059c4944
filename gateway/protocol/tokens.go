package protocol

// Tokens are those that other programs come in with.
type Tokens struct {
	Tokens []Token  `json:"tokens"`
	Scopes []string `json:"scopes"` // every right that there is
}

// Token is what is known of a token; not the token itself.
type Token struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Scopes    []string `json:"scopes"`
	State     string   `json:"state"` // active, expired, revoked
	CreatedAt int64    `json:"createdAt"`
	ExpiresAt int64    `json:"expiresAt,omitempty"`
	LastUsed  int64    `json:"lastUsed,omitempty"` // to the minute
	RevokedAt int64    `json:"revokedAt,omitempty"`
}

// TokenCreateParams ask for a token.
type TokenCreateParams struct {
	Name   string   `json:"name"`
	Scopes []string `json:"scopes,omitempty"` // none: chat, models and embeddings
	// LifeMs is how long it works; 0 is until it is revoked.
	LifeMs int64 `json:"lifeMs,omitempty"`
}

// TokenCreated holds a new token, which is told this once.
type TokenCreated struct {
	Token  Token  `json:"token"`
	Secret string `json:"secret"`
}

// TokenRevokeParams name a token by its id or name.
type TokenRevokeParams struct {
	Token string `json:"token"`
}

// TokenRevoked is the token that was ended.
type TokenRevoked struct {
	Token
	Before bool `json:"before,omitempty"` // it had been revoked before
}
