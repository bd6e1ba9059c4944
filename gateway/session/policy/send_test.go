package policy

import "testing"

func TestSendPolicy(t *testing.T) {
	page := SendPolicy{
		Rules: []SendRule{
			{Deny, Match{Channel: "discord", ChatType: ChatGroup}},
			{Deny, Match{KeyPrefix: "cron:"}},
		},
		Default: Allow,
	}
	closed := SendPolicy{Default: Deny, Rules: []SendRule{{Allow, Match{Channel: "telegram"}},
		{Deny, Match{KeyPrefix: "agent:main:telegram:group:-5"}}}}
	tests := []struct {
		name string
		p    SendPolicy
		d    Delivery
		want Action
		rule int
	}{
		{"no policy", SendPolicy{}, Delivery{Key: "agent:main:main"}, Allow, -1},
		{"channel and chatType", page, Delivery{Key: "agent:main:discord:group:1"}, Deny, 0},
		{"the channel alone does not match", page, Delivery{Key: "agent:main:discord:dm:1"}, Allow, -1},
		{"the chatType alone does not match", page, Delivery{Key: "agent:main:telegram:group:1"}, Allow, -1},
		{"keyPrefix without the agent", page, Delivery{Key: "agent:main:cron:x"}, Deny, 1},
		{"a prefix is no substring", page, Delivery{Key: "agent:main:my-cron:x"}, Allow, -1},
		{"default deny", closed, Delivery{Key: "agent:main:main"}, Deny, -1},
		{"rule allows", closed, Delivery{Key: "agent:main:telegram:group:1"}, Allow, 0},
		{"what is given goes before the key", closed, Delivery{Key: "agent:main:main", Channel: "telegram"}, Allow, 0},
		{"deny outweighs allow", closed, Delivery{Key: "agent:main:telegram:group:-5"}, Deny, 1},
		{"/send on", page, Delivery{Key: "agent:main:cron:x", Override: SendOn}, Allow, -1},
		{"/send off", page, Delivery{Key: "agent:main:main", Override: SendOff}, Deny, -1},
		{"/send inherit", page, Delivery{Key: "agent:main:cron:x", Override: SendInherit}, Deny, 1},
	}
	for _, tc := range tests {
		if v := tc.p.Decide(Keys{}, tc.d); v.Action != tc.want || v.Rule != tc.rule || v.By == "" {
			t.Errorf("%s: %+v, want %s by rule %d", tc.name, v, tc.want, tc.rule)
		}
	}
}
