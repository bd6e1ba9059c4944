package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	waLog "go.mau.fi/whatsmeow/util/log"
)

func opened(t *testing.T, m *memory) (*kept, *store.Device) {
	t.Helper()
	k, err := openKept(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	d, err := openDevice(k, waLog.Noop)
	if err != nil {
		t.Fatal(err)
	}
	return k, d
}

// TestDevice: a linked device is the same after a restart, and nothing of one that was
// removed is left.
func TestDevice(t *testing.T) {
	m := &memory{}
	_, d := opened(t, m)
	if d.ID != nil || d.NoiseKey == nil {
		t.Fatalf("a new device: %+v", d)
	}
	d.ID, d.LID, d.PushName = &types.JID{User: "49151", Server: types.DefaultUserServer, Device: 7}, ourL, "Hearth"
	d.Account = &waAdv.ADVSignedDeviceIdentity{Details: []byte("d"), DeviceSignature: []byte("s")}
	if err := d.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	sessions := map[string][]byte{"49170:0": []byte("one"), "49170:3": []byte("two"), "49171:0": []byte("x")}
	must(d.Sessions.PutManySessions(t.Context(), sessions))
	must(d.Identities.PutIdentity(t.Context(), "49170:0", [32]byte{1}))
	must(d.SenderKeys.PutSenderKey(t.Context(), "g@g.us", "49170:3", []byte("key")))
	keys, err := d.PreKeys.GetOrGenPreKeys(t.Context(), 3)
	must(err)
	must(d.PreKeys.MarkPreKeysAsUploaded(t.Context(), keys[1].KeyID))
	must(d.PreKeys.RemovePreKey(t.Context(), keys[2].KeyID))
	must(d.LIDs.PutLIDMapping(t.Context(), types.NewJID("77", types.HiddenUserServer), types.NewJID("49170", types.DefaultUserServer)))
	must(d.AppStateKeys.PutAppStateSyncKey(t.Context(), []byte{1}, store.AppStateSyncKey{Data: []byte("k"), Timestamp: 5}))
	must(d.AppState.PutAppStateVersion(t.Context(), "regular", 9, [128]byte{3}))
	mac := store.AppStateMutationMAC{IndexMAC: []byte("i"), ValueMAC: []byte("v")}
	must(d.AppState.PutAppStateMutationMACs(t.Context(), "regular", 9, []store.AppStateMutationMAC{mac}))
	must(d.EventBuffer.PutBufferedEvent(t.Context(), [32]byte{5}, []byte("words"), time.Now()))
	must(d.PrivacyTokens.PutPrivacyTokens(t.Context(), store.PrivacyToken{User: ada, Token: []byte("t"), Timestamp: time.Now()}))

	k, again := opened(t, m)
	if *again.ID != *d.ID || again.PushName != "Hearth" || !bytes.Equal(again.NoiseKey.Priv[:], d.NoiseKey.Priv[:]) ||
		*again.SignedPreKey.Signature != *d.SignedPreKey.Signature || string(again.Account.Details) != "d" {
		t.Errorf("after a restart the device is %+v", again)
	}
	more, err := again.PreKeys.GetOrGenPreKeys(t.Context(), 2)
	must(err)
	if n, _ := again.PreKeys.UploadedPreKeyCount(t.Context()); n != 2 || more[0].KeyID != 4 || more[1].KeyID != 5 {
		t.Errorf("%d keys are uploaded; new ones are %d and %d, and no number comes again", n, more[0].KeyID, more[1].KeyID)
	}
	pn, lid := types.NewJID("49170", types.DefaultUserServer), types.NewJID("77", types.HiddenUserServer)
	must(again.Sessions.MigratePNToLID(t.Context(), pn, lid))
	for name, want := range map[string]string{
		"session/77_1:3": "two", "session/49170:3": "", "session/49171:0": "x", "sender/g@g.us\x0077_1:3": "key",
	} {
		if got := string(k.get(name)); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	if ok, _ := again.Identities.IsTrustedIdentity(t.Context(), "77_1:0", [32]byte{2}); ok {
		t.Error("another key of an address that is known is trusted")
	}
	if e, err := again.EventBuffer.GetBufferedEvent(t.Context(), [32]byte{5}); err != nil || string(e.Plaintext) != "words" {
		t.Errorf("%+v %v", e, err)
	}
	if v, hash, _ := again.AppState.GetAppStateVersion(t.Context(), "regular"); v != 9 || hash[0] != 3 {
		t.Error(v, hash)
	}
	must(again.Delete(t.Context()))
	if _, gone := opened(t, m); gone.ID != nil || bytes.Equal(gone.IdentityKey.Priv[:], d.IdentityKey.Priv[:]) {
		t.Error("something of a removed device is left")
	}
}

// TestFault_F_CH_WhatsAppStore: what belongs together is kept together, wherever the
// disk fails.
func TestFault_F_CH_WhatsAppStore(t *testing.T) {
	for left := 1; left < 12; left++ {
		m := &memory{}
		k, _ := opened(t, m)
		if err := k.change(t.Context(), changes{"a": []byte("old"), "b": []byte("old"), "c": []byte("old")}); err != nil {
			t.Fatal(err)
		}
		m.left = left
		failed := k.group(t.Context(), func(ctx context.Context) error {
			for _, name := range []string{"a", "b", "c"} {
				if err := k.change(ctx, changes{name: []byte("new")}); err != nil {
					return err
				}
			}
			return nil
		})
		m.left = 0
		k, _ = opened(t, m)
		said := fmt.Sprintf("%s %s %s", k.get("a"), k.get("b"), k.get("c"))
		if said != "old old old" && said != "new new new" || failed == nil && said != "new new new" {
			t.Errorf("after %d writes it has %q, and said %v", left, said, failed)
		}
	}
	k, _ := opened(t, &memory{})
	wrong := errors.New("no")
	if err := k.group(t.Context(), func(ctx context.Context) error {
		_ = k.change(ctx, changes{"a": []byte("x")})
		return wrong
	}); !errors.Is(err, wrong) || k.get("a") != nil {
		t.Errorf("%v, and %q is left", err, k.get("a"))
	}
}
