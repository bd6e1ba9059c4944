package sections_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// TestSec_A_CFG_06_NoKeyTurnsAGuardOff: the keys of OpenClaw that turn a guard off
// for good do nothing here and are named; there are none of ours.
func TestSec_A_CFG_06_NoKeyTurnsAGuardOff(t *testing.T) {
	none := open(t, place(t, "{}")).Snapshot().Config
	for _, text := range []string{
		"{ gateway: { controlUi: { dangerouslyDisableDeviceAuth: true } } }",
		"{ gateway: { controlUi: { dangerouslyAllowHostHeaderOriginFallback: true } } }",
		"{ gateway: { controlUi: { allowInsecureAuth: true } } }",
		"{ gateway: { controlUi: { allowExternalEmbedUrls: true } } }",
		"{ gateway: { auth: { mode: 'none' } } }",
		"{ gateway: { auth: { mode: 'trusted-proxy' } } }",
		"{ gateway: { auth: { allowTailscale: true } } }",
		"{ gateway: { trustedProxies: ['127.0.0.1'] } }",
		"{ browser: { ssrfPolicy: { dangerouslyAllowPrivateNetwork: true } } }",
		"{ hooks: { gmail: { allowUnsafeExternalContent: true } } }",
		"{ hooks: { allowRequestSessionKey: true } }",
	} {
		s := open(t, place(t, text)).Snapshot()
		if diff := cmp.Diff(shown(t, none), shown(t, s.Config)); diff != "" {
			t.Errorf("%s changes something: %s", text, diff)
		}
		if len(s.Problems()) == 0 {
			t.Errorf("%s is not named", text)
		}
	}
}

// shown are settings in use as a file would have them.
func shown(t *testing.T, c config.Config) string {
	t.Helper()
	b, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
