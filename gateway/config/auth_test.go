package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAuth(t *testing.T) {
	f := open(t, place(t, `{ auth: {
  profiles: { "anthropic:me@example.com": { provider: "anthropic", mode: "oauth", email: "me@example.com" }, "openai:backup": { mode: "api_key" } },
  order: { openai: ["openai-codex:user@example.com", "openai:backup"] },
  cooldowns: { billingBackoffHours: 2.5, billingBackoffHoursByProvider: { openai: 1 }, billingMaxHours: 48, failureWindowHours: 12,
    overloadedProfileRotations: 0, overloadedBackoffMs: 250, rateLimitedProfileRotations: 3 },
} }`), Options{})
	s := f.Snapshot()
	if len(s.Issues)+len(s.Warnings) > 0 {
		t.Fatal(s.Issues, s.Warnings)
	}
	want := Accounts{
		Profiles: map[string]Account{"anthropic:me@example.com": {"anthropic", "oauth", "me@example.com"},
			"openai:backup": {"openai", "api_key", ""}},
		Order: map[string][]string{"openai": {"openai-codex:user@example.com", "openai:backup"}},
		Cooldowns: Cooldowns{2.5, map[string]float64{"openai": 1}, 48, 12,
			0, 250, 3},
	}
	if diff := cmp.Diff(want, s.Config.Auth); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Default().Auth.Cooldowns, Cooldowns{BillingBackoffHours: 5, BillingMaxHours: 24, FailureWindowHours: 24,
		OverloadedProfileRotations: 1, RateLimitedProfileRotations: 1}); diff != "" {
		t.Error(diff)
	}
}

func TestAuth_wrong(t *testing.T) {
	for _, src := range []string{
		`{auth:{profiles:{anthropic:{mode:"oauth"}}}}`,
		`{auth:{profiles:{"a:b c":{mode:"oauth"}}}}`,
		`{auth:{profiles:{"a:b":{}}}}`,
		`{auth:{profiles:{"a:b":{mode:"password"}}}}`,
		`{auth:{profiles:{"a:b":{provider:"c",mode:"oauth"}}}}`,
		`{auth:{order:{a:["b"]}}}`,
		`{auth:{order:{a:"a:b"}}}`,
		`{auth:{cooldowns:{billingBackoffHours:0}}}`,
		`{auth:{cooldowns:{billingMaxHours:"5"}}}`,
		`{auth:{cooldowns:{overloadedProfileRotations:-1}}}`,
	} {
		if s := open(t, place(t, src), Options{}).Snapshot(); len(s.Issues) == 0 {
			t.Errorf("%s is taken", src)
		}
	}
}
