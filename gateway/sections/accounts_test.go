package sections_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/provider/accounts"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
)

func TestAuth(t *testing.T) {
	f := open(t, place(t, `{ auth: {
  profiles: { "anthropic:me@example.com": { provider: "anthropic", mode: "oauth", email: "me@example.com" }, "openai:backup": { mode: "api_key" } },
  order: { openai: ["openai-codex:user@example.com", "openai:backup"] },
  cooldowns: { billingBackoffHours: 2.5, billingBackoffHoursByProvider: { openai: 1 }, billingMaxHours: 48, failureWindowHours: 12,
    overloadedProfileRotations: 0, overloadedBackoffMs: 250, rateLimitedProfileRotations: 3 },
} }`))
	s := f.Snapshot()
	if len(s.Issues)+len(s.Warnings) > 0 {
		t.Fatal(s.Issues, s.Warnings)
	}
	want := accounts.Rotation{
		Profiles: map[string]profile.Profile{
			"anthropic:me@example.com": {ID: "anthropic:me@example.com", Provider: "anthropic", Type: "oauth", Email: "me@example.com"},
			"openai:backup":            {ID: "openai:backup", Provider: "openai", Type: "api_key"},
		},
		Order:               map[string][]string{"openai": {"openai-codex:user@example.com", "openai:backup"}},
		BillingBackoffHours: 2.5, BillingBackoffHoursByProvider: map[string]float64{"openai": 1}, BillingMaxHours: 48, FailureWindowHours: 12,
		OverloadedRotations: 0, OverloadedBackoffMs: 250, RateLimitedRotations: 3,
	}
	if diff := cmp.Diff(want, accounts.Section.Of(s.Config)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(accounts.Section.Default, accounts.Rotation{BillingBackoffHours: 5, BillingMaxHours: 24, FailureWindowHours: 24,
		OverloadedRotations: 1, RateLimitedRotations: 1}); diff != "" {
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
		if s := open(t, place(t, src)).Snapshot(); len(s.Issues) == 0 {
			t.Errorf("%s is taken", src)
		}
	}
}
