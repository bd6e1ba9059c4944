package channeltest

import (
	"slices"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Kind tries what a network says of itself. right is an account that can be
// connected, groups and people are ids of conversations.
func Kind(t *testing.T, k channel.Kind, right channel.Account, groups, people []string) {
	t.Helper()
	if k.ID == "" || k.ID == channel.API || k.ID == channel.Webchat || strings.Trim(k.ID, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		t.Errorf("the id %q is part of session keys: small letters, digits and dashes", k.ID)
	}
	if k.Label == "" || k.New == nil || k.MaxFile <= 0 {
		t.Errorf("%+v lacks its Label, New or MaxFile", k)
	}
	if len(k.SetUp) > 0 && k.First == "" {
		t.Error("it says how it is set up (SetUp), and not how people write to it then (First)")
	}
	var keys []string
	for _, s := range k.Settings {
		keys = append(keys, s.Key)
		switch s.Form {
		case channel.SecretText:
			if s.Shared || s.Valid == nil || s.Help == "" {
				t.Errorf("the secret %s: it is one account's own, and needs Valid and Help", s.Key)
			}
		case channel.WebAddress, channel.PublicAddress, channel.Words, channel.WordList, channel.OnOff, channel.PortNumber:
		default:
			t.Errorf("%s has the unknown form %q", s.Key, s.Form)
		}
	}
	if !slices.Contains(keys, k.Connects) {
		t.Errorf("Connects is %q, which is none of %q", k.Connects, keys)
	}
	for _, key := range slices.Concat(k.Later, k.LaterAccount) {
		if slices.Contains(keys, key) {
			t.Errorf("%s is used, and said to be for later", key)
		}
	}
	kindMakes(t, k, right)
	for _, id := range groups {
		if !k.Group(id) {
			t.Errorf("%q is a group", id)
		}
	}
	for _, id := range people {
		if k.Group(id) {
			t.Errorf("%q is no group", id)
		}
	}
}

func kindMakes(t *testing.T, k channel.Kind, right channel.Account) {
	t.Helper()
	ch, err := k.New(right)
	if err != nil {
		t.Fatal(err)
	}
	if ch.ID() != k.ID || ch.Account() != right.ID {
		t.Errorf("the channel is %s (%s), not %s (%s)", ch.ID(), ch.Account(), k.ID, right.ID)
	}
	if _, err := k.New(channel.Account{ID: right.ID}); err == nil {
		t.Error("an account without a credential was made")
	}
	if !slices.Contains(k.Secrets(), k.Connects) {
		return
	}
	wrong := right
	wrong.Secrets = map[string]string{k.Connects: "canary-of-a-wrong-credential"}
	if _, err := k.New(wrong); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("a wrong credential: %v", err)
	}
}
