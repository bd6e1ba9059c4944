package protocol

// Challenge is the first event on a socket.
type Challenge struct {
	Nonce string `json:"nonce"`
	TS    int64  `json:"ts"`
}

// ConnectParams is the first request of a client.
type ConnectParams struct {
	MinProtocol int        `json:"minProtocol"`
	MaxProtocol int        `json:"maxProtocol"`
	Client      ClientInfo `json:"client"`
	Role        Role       `json:"role,omitempty"`
	Scopes      []Scope    `json:"scopes,omitempty"`
	Caps        []string   `json:"caps,omitempty"`
	// Commands, Permissions and PathEnv are what a node says that it can do.
	Commands    []string        `json:"commands,omitempty"`
	Permissions map[string]bool `json:"permissions,omitempty"`
	PathEnv     string          `json:"pathEnv,omitempty"`
	Device      *DeviceAuth     `json:"device,omitempty"`
	Auth        *Auth           `json:"auth,omitempty"`
	Locale      string          `json:"locale,omitempty"`
	UserAgent   string          `json:"userAgent,omitempty"`
}

// ClientInfo says what a client is; it is a claim, never an authority.
type ClientInfo struct {
	ID              string `json:"id"`
	Mode            string `json:"mode"`
	Version         string `json:"version"`
	Platform        string `json:"platform"`
	DisplayName     string `json:"displayName,omitempty"`
	DeviceFamily    string `json:"deviceFamily,omitempty"`
	ModelIdentifier string `json:"modelIdentifier,omitempty"`
	InstanceID      string `json:"instanceId,omitempty"`
	TimeZone        string `json:"timeZone,omitempty"`
}

// DeviceAuth proves possession of a device key for one challenge.
type DeviceAuth struct {
	ID        string `json:"id"`
	PublicKey string `json:"publicKey"`
	Signature string `json:"signature"`
	SignedAt  int64  `json:"signedAt"`
	Nonce     string `json:"nonce"`
}

// Auth holds the credentials that a client presents; they are alternatives.
type Auth struct {
	Token          string `json:"token,omitempty"`
	Password       string `json:"password,omitempty"`
	DeviceToken    string `json:"deviceToken,omitempty"`
	BootstrapToken string `json:"bootstrapToken,omitempty"`
}

// HelloOK is the answer to connect. Apple clients decode it strictly: every
// field without omitempty is required and integers must be integers.
type HelloOK struct {
	Type     string      `json:"type"` // "hello-ok"
	Protocol int         `json:"protocol"`
	Server   ServerInfo  `json:"server"`
	Features Features    `json:"features"`
	Snapshot Snapshot    `json:"snapshot"`
	Auth     HelloAuth   `json:"auth"`
	Policy   HelloPolicy `json:"policy"`
}

// ServerInfo names this gateway process. BootID changes with every start, so a
// client knows that nothing it remembers of the socket is left.
type ServerInfo struct {
	Version              string `json:"version"`
	ConnID               string `json:"connId"`
	BootID               string `json:"bootId,omitempty"`
	ControlUIBuildSource string `json:"controlUiBuildSource,omitempty"`
}

// Features lists only what is implemented.
type Features struct {
	Methods      []string `json:"methods"`
	Events       []string `json:"events"`
	Capabilities []string `json:"capabilities"`
}

// Snapshot is the state at hello.
type Snapshot struct {
	Presence        []PresenceEntry  `json:"presence"`
	Health          Health           `json:"health"`
	StateVersion    StateVersion     `json:"stateVersion"`
	UptimeMs        int64            `json:"uptimeMs"`
	ConfigPath      string           `json:"configPath,omitempty"`
	StateDir        string           `json:"stateDir,omitempty"`
	AuthMode        string           `json:"authMode,omitempty"`
	SessionDefaults *SessionDefaults `json:"sessionDefaults,omitempty"`
}

// SessionDefaults decides which session a client opens.
type SessionDefaults struct {
	DefaultAgentID  string `json:"defaultAgentId"`
	MainKey         string `json:"mainKey"`
	MainSessionKey  string `json:"mainSessionKey"`
	Scope           string `json:"scope,omitempty"`
	ModelConfigured bool   `json:"modelConfigured"`
}

// HelloAuth is what this connection may do.
type HelloAuth struct {
	Role        Role    `json:"role"`
	Scopes      []Scope `json:"scopes"`
	Method      string  `json:"method,omitempty"`
	DeviceToken string  `json:"deviceToken,omitempty"`
	IssuedAtMs  int64   `json:"issuedAtMs,omitempty"`
	// DeviceTokens are those of further roles that a setup code gave.
	DeviceTokens []RoleToken `json:"deviceTokens,omitempty"`
	// Pins is ours, for devices of other machines: the gateway's key and, while it is
	// being changed, the next one.
	Pins []string `json:"hearthPins,omitempty"`
}

// RoleToken is the token of a device for one role.
type RoleToken struct {
	DeviceToken string  `json:"deviceToken"`
	Role        Role    `json:"role"`
	Scopes      []Scope `json:"scopes"`
	IssuedAtMs  int64   `json:"issuedAtMs"`
}

// HelloPolicy tells the limits.
type HelloPolicy struct {
	MaxPayload       int `json:"maxPayload"`
	MaxBufferedBytes int `json:"maxBufferedBytes"`
	TickIntervalMs   int `json:"tickIntervalMs"`
}

// PresenceEntry is one connected party; the gateway itself comes first.
type PresenceEntry struct {
	Host         string  `json:"host,omitempty"`
	IP           string  `json:"ip,omitempty"`
	Version      string  `json:"version,omitempty"`
	Platform     string  `json:"platform,omitempty"`
	DeviceFamily string  `json:"deviceFamily,omitempty"`
	Mode         string  `json:"mode,omitempty"`
	Reason       string  `json:"reason,omitempty"`
	Text         string  `json:"text,omitempty"`
	DeviceID     string  `json:"deviceId,omitempty"`
	InstanceID   string  `json:"instanceId,omitempty"`
	ClientID     string  `json:"clientId,omitempty"`
	Roles        []Role  `json:"roles,omitempty"`
	Scopes       []Scope `json:"scopes,omitempty"`
	TS           int64   `json:"ts"`
	// HearthView is ours: the chat that somebody looks at there.
	HearthView string `json:"hearthView,omitempty"`
}
