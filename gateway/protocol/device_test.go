package protocol

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The published test vector: seed 00 01 … 1f.
const (
	vectorKey   = "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"
	vectorID    = "56475aa75463474c0285df5dbf2bcab73da651358839e9b77481b2eab107708c"
	vectorV2    = "7doEq_MjLd2zNSW7yXCbJoMStJ4iloxqMNmmibKMCcDvL92yg3F1mvQZ0agJfiG_dCjJ22QofUP2wq7fU4gTCw"
	vectorV3    = "yr_4b_rnJMJ92ZhcwoRBAWZXAO9-VOIiqH8Vja8h62QR7Yb1CYeSE5sR9TorbfwO30qXDdptyWdu0Lqli9fCDw"
	vectorNonce = "11111111-2222-4333-8444-555555555555"
	vectorTime  = 1795215472398
)

func vectorSeed() ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = byte(i)
	}
	return ed25519.NewKeyFromSeed(seed)
}

func vectorConnect(sig string) *ConnectParams {
	return &ConnectParams{
		Client: ClientInfo{ID: "cli", Mode: "cli", Platform: "linux"},
		Role:   RoleOperator, Scopes: []Scope{ScopeRead, ScopeWrite},
		Auth:   &Auth{Token: "test-token"},
		Device: &DeviceAuth{ID: vectorID, PublicKey: vectorKey, Signature: sig, SignedAt: vectorTime, Nonce: vectorNonce},
	}
}

func TestDeviceSignatureVector(t *testing.T) {
	for _, sig := range []string{vectorV2, vectorV3} {
		if _, err := VerifyDevice(vectorConnect(sig), vectorNonce, vectorTime); err != nil {
			t.Errorf("%s…: %v", sig[:6], err)
		}
	}
	want := "v3|" + vectorID + "|cli|cli|operator|operator.read,operator.write|1795215472398|test-token|" + vectorNonce + "|linux|"
	if diff := cmp.Diff(want, string(signaturePayload(sigV3, vectorConnect(""), vectorTime, vectorNonce))); diff != "" {
		t.Error(diff)
	}
}

func TestDeviceKeyForms(t *testing.T) {
	pub := vectorSeed().Public().(ed25519.PublicKey)
	spki, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	forms := map[string]string{
		"base64url":        vectorKey,
		"base64url padded": base64.URLEncoding.EncodeToString(pub),
		"base64":           base64.StdEncoding.EncodeToString(pub),
		"PEM SPKI":         string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: spki})),
	}
	for name, form := range forms {
		p := vectorConnect(vectorV3)
		p.Device.PublicKey = form
		if _, err := VerifyDevice(p, vectorNonce, vectorTime); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := vectorConnect(vectorV3)
	p.Device.Signature = strings.NewReplacer("-", "+", "_", "/").Replace(vectorV3) + "=="
	if _, err := VerifyDevice(p, vectorNonce, vectorTime); err != nil {
		t.Errorf("base64 signature: %v", err)
	}
}

func TestDeviceSignatureRefused(t *testing.T) {
	tests := []struct {
		name   string
		spoil  func(*ConnectParams)
		now    int64
		reason string
	}{
		{"id of another key", func(p *ConnectParams) { p.Device.ID = strings.Repeat("a", 64) }, vectorTime, "device-id-mismatch"},
		{"upper-case id", func(p *ConnectParams) { p.Device.ID = strings.ToUpper(vectorID) }, vectorTime, "device-id-mismatch"},
		{"broken key", func(p *ConnectParams) { p.Device.PublicKey = "!!!" }, vectorTime, "device-id-mismatch"},
		{"short key", func(p *ConnectParams) { p.Device.PublicKey = "AAAA" }, vectorTime, "device-id-mismatch"},
		{"broken PEM", func(p *ConnectParams) { p.Device.PublicKey = "-----BEGIN PUBLIC KEY-----" }, vectorTime, "device-id-mismatch"},
		{"121 s old", nil, vectorTime + 121_000, "device-signature-stale"},
		{"121 s ahead", nil, vectorTime - 121_000, "device-signature-stale"},
		{"no time", func(p *ConnectParams) { p.Device.SignedAt = -1 << 63 }, vectorTime, "device-signature-stale"},
		{"no nonce", func(p *ConnectParams) { p.Device.Nonce = "" }, vectorTime, "device-nonce-missing"},
		{"other nonce", func(p *ConnectParams) { p.Device.Nonce = "x" }, vectorTime, "device-nonce-mismatch"},
		{"spoiled signature", func(p *ConnectParams) { p.Device.Signature = "AAAA" + vectorV3[4:] }, vectorTime, "device-signature"},
		{"no signature", func(p *ConnectParams) { p.Device.Signature = "" }, vectorTime, "device-signature"},
		{"other scopes", func(p *ConnectParams) { p.Scopes = []Scope{ScopeAdmin} }, vectorTime, "device-signature"},
		{"other platform", func(p *ConnectParams) { p.Client.Platform = "macos" }, vectorTime, "device-signature"},
		{"other role", func(p *ConnectParams) { p.Role = RoleNode }, vectorTime, "device-signature"},
		{"other token", func(p *ConnectParams) { p.Auth.Token = "other" }, vectorTime, "device-signature"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := vectorConnect(vectorV3)
			if tt.spoil != nil {
				tt.spoil(p)
			}
			_, err := VerifyDevice(p, vectorNonce, tt.now)
			if err == nil || err.Details["reason"] != tt.reason || err.Code != CodeInvalidRequest {
				t.Errorf("got %+v, want %s", err, tt.reason)
			}
		})
	}
}

// FuzzDeviceAuth: nothing but the signed values passes.
func FuzzDeviceAuth(f *testing.F) {
	f.Add(vectorKey, vectorID, vectorV3, int64(vectorTime), vectorNonce, "linux", "operator.read")
	f.Add("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "", "=", int64(0), "|", "|", "|")
	f.Fuzz(func(t *testing.T, key, id, sig string, at int64, nonce, platform, scope string) {
		p := vectorConnect(sig)
		p.Scopes = []Scope{Scope(scope)}
		p.Client.Platform = platform
		p.Device = &DeviceAuth{ID: id, PublicKey: key, Signature: sig, SignedAt: at, Nonce: nonce}
		pub, err := VerifyDevice(p, vectorNonce, vectorTime)
		if err == nil && (nonce != vectorNonce || DeviceID(pub) != id) {
			t.Fatalf("accepted %+v", p.Device)
		}
	})
}

// A signature of another time names the clocks, and which is where.
func TestFault_F_CLK_01_AWrongClockIsNamed(t *testing.T) {
	const hour = 3_600_000
	for now, want := range map[int64]string{
		vectorTime + 121_000:     "2 minutes behind the gateway's; set",
		vectorTime - 125_000:     "2 minutes ahead of the gateway's; set",
		vectorTime + 9*hour:      "9 hours behind the gateway's; set",
		vectorTime - 9*hour:      "9 hours ahead of the gateway's; set",
		vectorTime + 70*hour:     "2 days behind the gateway's; set",
		0:                        "years apart; set",
		vectorTime + 90_000*hour: "years apart; set",
	} {
		_, err := VerifyDevice(vectorConnect(vectorV3), vectorNonce, now)
		if err == nil || !strings.HasPrefix(err.Message, "device signature expired: ") || !strings.Contains(err.Message, want) {
			t.Errorf("at %d: %+v, want %s", now-vectorTime, err, want)
		}
	}
	p := vectorConnect(vectorV3)
	p.Device.SignedAt = -1 << 63
	if _, err := VerifyDevice(p, vectorNonce, vectorTime); err == nil || !strings.Contains(err.Message, "years apart") {
		t.Error(err)
	}
}
