package protocol

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
)

// SetupCode is what a QR code or a pasted code tells another machine. It holds
// a secret that pairs one device.
type SetupCode struct {
	URL            string   `json:"url"`
	URLs           []string `json:"urls,omitempty"`
	BootstrapToken string   `json:"bootstrapToken"`
	ExpiresAtMs    int64    `json:"expiresAtMs,omitempty"`
	// TLSFingerprint is that of the whole certificate, which other clients pin.
	TLSFingerprint string `json:"tlsFingerprint,omitempty"`
	// Ours: the pin of the gateway's key, and its id.
	Pin string `json:"pin,omitempty"`
	ID  string `json:"id,omitempty"`
}

// SetupScheme may stand before a setup code.
const SetupScheme = "oc-pair://"

const (
	maxSetupCode = 4096
	maxSetupURLs = 8
)

// Encode makes the text of a code.
func (s *SetupCode) Encode() (string, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// Addresses are those to try, in order, without repetitions.
func (s *SetupCode) Addresses() []string {
	var out []string
	seen := map[string]bool{}
	for _, u := range append([]string{s.URL}, s.URLs...) {
		if u != "" && !seen[u] && len(out) <= maxSetupURLs {
			seen[u] = true
			out = append(out, u)
		}
	}
	return out
}

// ParseSetupCode reads a code as it was scanned or pasted. Only one that can be
// used safely is taken: every address by TLS, and something to know the gateway
// by.
func ParseSetupCode(text string) (SetupCode, error) {
	var s SetupCode
	text = strings.TrimPrefix(strings.TrimSpace(text), SetupScheme)
	text = strings.TrimRight(strings.Join(strings.Fields(text), ""), "=")
	if text == "" || len(text) > maxSetupCode {
		return s, errors.New("this is not a setup code; `hearth qr` on the gateway's machine makes one")
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(b, &s) != nil {
		return SetupCode{}, errors.New("this setup code is damaged or only a part of one; copy all of it")
	}
	if s.BootstrapToken == "" || len(s.Addresses()) == 0 {
		return SetupCode{}, errors.New("this setup code lacks its secret or its addresses")
	}
	for _, a := range s.Addresses() {
		u, err := url.Parse(a)
		if err != nil || u.Scheme != "wss" || u.Host == "" || u.User != nil {
			return SetupCode{}, errors.New("this setup code names an address without TLS, where anybody on the network could read along; it is " +
				"not used")
		}
	}
	if s.Pin == "" && s.TLSFingerprint == "" {
		return SetupCode{}, errors.New("this setup code does not say which key the gateway has, so nobody could tell it from another; it is " +
			"not used")
	}
	return s, nil
}

// PairPath is where a machine that has nothing yet asks to be let in, over TLS.
const PairPath = "/hearth/pair"

// ShownCode is a code of six digits as people read it: in threes.
func ShownCode(code string) string {
	if len(code) != 6 {
		return code
	}
	return code[:3] + " " + code[3:]
}

// PairSetupParams: Access is "node" (do what the gateway asks of it), "limited"
// (talk, read, decide approvals; the default) or "full" (settings and devices as
// well). IncludeQR asks for pictures of the code.
type PairSetupParams struct {
	Access    string `json:"access,omitempty"`
	IncludeQR bool   `json:"includeQr,omitempty"`
}

// PairSetup is a code that pairs one device, once.
type PairSetup struct {
	SetupCode   string   `json:"setupCode"`
	ExpiresAtMs int64    `json:"expiresAtMs"`
	GatewayURL  string   `json:"gatewayUrl"`
	URLs        []string `json:"urls"`
	Auth        string   `json:"auth"` // token
	Access      string   `json:"access"`
	Pin         string   `json:"pin"`
	// Ours: the fingerprint of the certificate, and links that a phone opens, the
	// best first.
	Fingerprint string   `json:"fingerprint,omitempty"`
	PhoneURLs   []string `json:"phoneUrls,omitempty"`
	// Pictures, when they were asked for: PNGs as data URLs, of the setup code and
	// of the best link for a phone.
	QRDataURL      string `json:"qrDataUrl,omitempty"`
	PhoneQRDataURL string `json:"phoneQrDataUrl,omitempty"`
}

// PairedDevices is the result of device.pair.list.
type PairedDevices struct {
	Pending []PairRequest  `json:"pending"`
	Paired  []PairedDevice `json:"paired"`
}

// PairRequest is a device that waits for a person, in device.pair.list and as
// the event device.pair.requested.
type PairRequest struct {
	RequestID    string  `json:"requestId"`
	DeviceID     string  `json:"deviceId"`
	PublicKey    string  `json:"publicKey"`
	DisplayName  string  `json:"displayName,omitempty"`
	Platform     string  `json:"platform,omitempty"`
	DeviceFamily string  `json:"deviceFamily,omitempty"`
	ClientID     string  `json:"clientId"`
	ClientMode   string  `json:"clientMode"`
	Role         Role    `json:"role"`
	Roles        []Role  `json:"roles"`
	Scopes       []Scope `json:"scopes"`
	RemoteIP     string  `json:"remoteIp,omitempty"`
	Silent       bool    `json:"silent"`   // never: a person decides
	IsRepair     bool    `json:"isRepair"` // it was removed before
	TS           int64   `json:"ts"`
	// Ours: why it waits (not-paired, revoked, role-upgrade, scope-upgrade), until
	// when, and the six digits that its own screen shows, if it shows any.
	Reason      string `json:"hearthReason"`
	ExpiresAtMs int64  `json:"hearthExpiresAtMs"`
	Code        string `json:"hearthCode,omitempty"`
}

// PairResolved is the event device.pair.resolved. Besides approved and rejected
// a request can end as expired, replaced or gone.
type PairResolved struct {
	RequestID string `json:"requestId"`
	DeviceID  string `json:"deviceId"`
	Decision  string `json:"decision"`
	TS        int64  `json:"ts"`
}

// PairDecisionParams: Code are the digits on the other screen, and are compared
// when they are given; a wrong one ends the request. Access, "limited" or
// "full", narrows what the device gets.
type PairDecisionParams struct {
	RequestID string `json:"requestId"`
	Code      string `json:"hearthCode,omitempty"`
	Access    string `json:"hearthAccess,omitempty"`
}

type PairApproved struct {
	RequestID string       `json:"requestId"`
	Device    PairedDevice `json:"device"`
}

type PairRejected struct {
	RequestID string `json:"requestId"`
	DeviceID  string `json:"deviceId"`
}

type PairRenameParams struct {
	DeviceID string `json:"deviceId"`
	Label    string `json:"label"`
}

type PairRenamed struct {
	DeviceID string `json:"deviceId"`
	Label    string `json:"label"`
}

// DeviceTokenParams: without Scopes a new token keeps those that it had.
type DeviceTokenParams struct {
	DeviceID string  `json:"deviceId"`
	Role     Role    `json:"role"`
	Scopes   []Scope `json:"scopes,omitzero"`
}

// DeviceTokenRotated tells the token to the device itself only.
type DeviceTokenRotated struct {
	DeviceID      string  `json:"deviceId"`
	Role          Role    `json:"role"`
	Scopes        []Scope `json:"scopes"`
	RotatedAtMs   int64   `json:"rotatedAtMs"`
	TokenDelivery string  `json:"tokenDelivery"` // inline, withheld-cross-device
	Token         string  `json:"token,omitempty"`
}

type DeviceTokenRevokeParams struct {
	DeviceID string `json:"deviceId"`
	Role     Role   `json:"role"`
}

type DeviceTokenRevoked struct {
	DeviceID    string `json:"deviceId"`
	Role        Role   `json:"role"`
	RevokedAtMs int64  `json:"revokedAtMs"`
}

// DeviceTokenInfo is a token as lists show it.
type DeviceTokenInfo struct {
	Role        Role    `json:"role"`
	Scopes      []Scope `json:"scopes"`
	CreatedAtMs int64   `json:"createdAtMs"`
	RotatedAtMs int64   `json:"rotatedAtMs,omitempty"`
	RevokedAtMs int64   `json:"revokedAtMs,omitempty"`
}

// PairedDevice is one that was let in.
type PairedDevice struct {
	DeviceID     string            `json:"deviceId"`
	PublicKey    string            `json:"publicKey"`
	DisplayName  string            `json:"displayName,omitempty"` // the owner's name for it, else its own words
	Platform     string            `json:"platform,omitempty"`
	DeviceFamily string            `json:"deviceFamily,omitempty"`
	ClientID     string            `json:"clientId"`
	ClientMode   string            `json:"clientMode"`
	Role         Role              `json:"role"`
	Roles        []Role            `json:"roles"`
	Scopes       []Scope           `json:"scopes"`
	ApprovedVia  string            `json:"approvedVia"`
	CreatedAtMs  int64             `json:"createdAtMs"`
	ApprovedAtMs int64             `json:"approvedAtMs"`
	LastSeenAtMs int64             `json:"lastSeenAtMs,omitempty"`
	Connected    bool              `json:"connected"`
	Tokens       []DeviceTokenInfo `json:"tokens"`
}

type PairRemoveParams struct {
	DeviceID string `json:"deviceId"`
}

type PairRemoveResult struct {
	DeviceID string `json:"deviceId"`
	Removed  bool   `json:"removed"`
}
