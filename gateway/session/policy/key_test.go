package policy

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestSessionKeys(t *testing.T) {
	links := map[string][]string{"alice": {"telegram:123456789", "discord:987654321012345678"}}
	dm := Source{Channel: "telegram", Account: "work", Chat: ChatDirect, Peer: "42", Group: "42"}
	alice := Source{Channel: "telegram", Account: "work", Chat: ChatDirect, Peer: "123456789"}
	aliceD := Source{Channel: "discord", Chat: ChatDirect, Peer: "987654321012345678"}
	noAccount := Source{Channel: "telegram", Chat: ChatDirect, Peer: "42"}
	tests := []struct {
		name string
		keys Keys
		src  Source
		want string
	}{
		{"main is the default", Keys{}, dm, "agent:main:main"},
		{"main", Keys{DMScope: ScopeMain}, dm, "agent:main:main"},
		{"main ignores identity links", Keys{IdentityLinks: links}, alice, "agent:main:main"},
		{"mainKey", Keys{MainKey: "home"}, dm, "agent:main:home"},
		{"agent", Keys{}, Source{AgentID: "bob", Channel: "telegram", Chat: ChatDirect, Peer: "1"}, "agent:bob:main"},
		{"per-peer", Keys{DMScope: ScopePeer}, dm, "agent:main:dm:42"},
		{"per-channel-peer", Keys{DMScope: ScopeChannelPeer}, dm, "agent:main:telegram:dm:42"},
		{"per-account-channel-peer", Keys{DMScope: ScopeAccountChannelPeer}, dm, "agent:main:telegram:work:dm:42"},
		{"accountId defaults to default", Keys{DMScope: ScopeAccountChannelPeer}, noAccount, "agent:main:telegram:default:dm:42"},
		{"identity link per-peer", Keys{DMScope: ScopePeer, IdentityLinks: links}, alice, "agent:main:dm:alice"},
		{"identity link per-channel-peer", Keys{DMScope: ScopeChannelPeer, IdentityLinks: links}, alice, "agent:main:dm:alice"},
		{"the same person on another channel", Keys{DMScope: ScopeChannelPeer, IdentityLinks: links}, aliceD, "agent:main:dm:alice"},
		{"identity link per-account", Keys{DMScope: ScopeAccountChannelPeer, IdentityLinks: links}, aliceD, "agent:main:dm:alice"},
		{"somebody else is not linked", Keys{DMScope: ScopeChannelPeer, IdentityLinks: links}, dm, "agent:main:telegram:dm:42"},
		{"the id on another channel is not linked", Keys{DMScope: ScopePeer, IdentityLinks: links},
			Source{Channel: "discord", Chat: ChatDirect, Peer: "123456789"}, "agent:main:dm:123456789"},
		{"group", Keys{DMScope: ScopePeer}, Source{Channel: "telegram", Chat: ChatGroup, Group: "-100", Peer: "42"},
			"agent:main:telegram:group:-100"},
		{"channel or room", Keys{}, Source{Channel: "discord", Chat: ChatRoom, Group: "77"}, "agent:main:discord:channel:77"},
		{"forum topic", Keys{Threads: map[string]string{"telegram": "topic"}}, Source{Channel: "telegram", Chat: ChatGroup, Group: "-100",
			Thread: "7"}, "agent:main:telegram:group:-100:topic:7"},
		{"thread", Keys{}, Source{Channel: "slack", Chat: ChatRoom, Group: "C1", Thread: "17.2"}, "agent:main:slack:channel:C1:thread:17.2"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := tc.keys.Of(tc.src)
			if err != nil || got != tc.want {
				t.Fatalf("%q, %v; want %q", got, err, tc.want)
			}
		})
	}
	for name, src := range map[string]Source{
		"dm without a sender":        {Channel: "telegram", Chat: ChatDirect},
		"dm without a channel":       {Chat: ChatDirect, Peer: "1"},
		"group without conversation": {Channel: "telegram", Chat: ChatGroup, Peer: "1"},
	} {
		if key, err := (Keys{DMScope: ScopePeer}).Of(src); err == nil {
			t.Errorf("%s got %q", name, key)
		}
	}
	if key, err := (Keys{DMScope: "per-moon"}).Of(dm); err == nil {
		t.Errorf("an unknown dmScope got %q", key)
	}
}

func TestLegacyGroupKeys(t *testing.T) {
	if n := (Keys{}).Parse("group:-100"); n.Kind != KindGroup || n.ID != "-100" {
		t.Errorf("group:-100 reads as %+v", n)
	}
}

func TestParse(t *testing.T) {
	for key, want := range map[string]Named{
		"agent:main:main":                          {"main", KindMain, "", "", "", ""},
		"agent:bob:home":                           {"bob", KindMain, "", "", "", ""},
		"agent:main:dm:42":                         {"main", KindDirect, "", "", "42", ""},
		"agent:main:telegram:dm:42":                {"main", KindDirect, "telegram", "", "42", ""},
		"agent:main:telegram:work:dm:42":           {"main", KindDirect, "telegram", "work", "42", ""},
		"agent:main:telegram:group:-100":           {"main", KindGroup, "telegram", "", "-100", ""},
		"agent:main:telegram:group:-100:topic:7":   {"main", KindThread, "telegram", "", "-100", "7"},
		"agent:main:discord:channel:9":             {"main", KindChannel, "discord", "", "9", ""},
		"agent:main:cron:x":                        {"main", KindCron, "", "", "x", ""},
		"agent:main:hook:x":                        {"main", KindHook, "", "", "x", ""},
		"agent:main:node-x":                        {"main", KindNode, "", "", "x", ""},
		"agent:main:my chat":                       {"main", KindOther, "", "", "", ""},
		"":                                         {"main", KindOther, "", "", "", ""},
		"agent:main:telegram:group:-100:topic:7:8": {"main", KindOther, "", "", "", ""},
	} {
		if got := (Keys{MainKey: "home"}).Parse(key); got != want {
			t.Errorf("%q reads as %+v, want %+v", key, got, want)
		}
	}
}

// Two senders or groups never get one session, whatever their ids look like.
func TestSec_A_PAIR_17_KeysNeverCollide(t *testing.T) {
	ids := []string{"1", "1:topic:2", "1%3Atopic%3A2", "dm:1", "default:dm:1", "alice", "%61lice", "a b", "a\u00a0b", "a\tb", "ab",
		"a\u200bb", "\xff", "\xfe", "main", "Ａ", "A", "a", strings.Repeat("x", 500), strings.Repeat("x", 499), "👩‍👧", "\u202e1", "1\n"}
	links := map[string][]string{"alice": {"telegram:99"}}
	for _, scope := range []Scope{ScopePeer, ScopeChannelPeer, ScopeAccountChannelPeer} {
		keys := Keys{DMScope: scope, IdentityLinks: links}
		seen := map[string]Source{}
		var all []Source
		for _, id := range append(ids, "99") {
			all = append(all, Source{Channel: "telegram", Chat: ChatDirect, Peer: id})
		}
		for _, id := range ids {
			all = append(all, Source{Channel: "telegram", Chat: ChatGroup, Group: id}, Source{Channel: "telegram", Chat: ChatRoom, Group: id})
			all = append(all, Source{Channel: "telegram", Chat: ChatGroup, Group: "1", Thread: id})
			if scope == ScopeAccountChannelPeer {
				all = append(all, Source{Channel: "telegram", Account: "group", Chat: ChatDirect, Peer: id})
			}
		}
		for _, src := range all {
			key, err := keys.Of(src)
			if err != nil {
				t.Fatal(err)
			}
			if old, ok := seen[key]; ok {
				t.Errorf("%s: %+v and %+v share %q", scope, old, src, key)
			}
			seen[key] = src
			if len(key) > 512 || !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl) {
				t.Errorf("%q is no good key", key)
			}
			if got := keys.Parse(key); got.Kind == KindOther || got.Channel != "" && got.Channel != "telegram" {
				t.Errorf("%q reads as %+v", key, got)
			}
		}
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("telegram", "work", "42", "7")
	f.Add("x:y", "%", "\xff", "\u2028")
	f.Fuzz(func(t *testing.T, channel, account, id, thread string) {
		for _, chat := range []Chat{ChatDirect, ChatGroup, ChatRoom} {
			keys := Keys{DMScope: ScopeAccountChannelPeer}
			key, err := keys.Of(Source{Channel: channel, Account: account, Chat: chat, Peer: id, Group: id, Thread: thread})
			if err != nil {
				continue
			}
			if len(key) > 512 || !utf8.ValidString(key) {
				t.Fatalf("bad key %q", key)
			}
			if k := keys.Parse(key).Kind; k == KindOther || k == KindMain {
				t.Fatalf("%q reads as %s", key, k)
			}
		}
	})
}
