//go:build goolm

package client_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.mau.fi/util/jsontime"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/crypto/verificationhelper"
	mevent "maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix/client"
)

// sealing is the encryption of a person's program.
type sealing struct {
	mautrix.CryptoHelper
	p       *person
	members []id.UserID
}

func (s sealing) Encrypt(ctx context.Context, room id.RoomID, kind mevent.Type, content any) (*mevent.EncryptedEventContent, error) {
	closed, err := s.p.mach.EncryptMegolmEvent(ctx, room, kind, content)
	if !crypto.IsShareError(err) {
		return closed, err
	}
	if err := s.p.mach.ShareGroupSession(ctx, room, s.members); err != nil {
		return nil, err
	}
	return s.p.mach.EncryptMegolmEvent(ctx, room, kind, content)
}

// program is another Matrix program of somebody, logged in at a real homeserver and in an
// encrypted room.
func (d *dendrite) program(name, room string) *person {
	d.t.Helper()
	api, err := mautrix.NewClient(d.url(), "", "")
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := api.Login(d.t.Context(), &mautrix.ReqLogin{Type: mautrix.AuthTypePassword, Password: "secret word", StoreCredentials: true,
		Identifier: mautrix.UserIdentifier{Type: mautrix.IdentifierTypeUser, User: name}}); err != nil {
		d.t.Fatal(err)
	}
	store := mautrix.NewMemoryStateStore().(*mautrix.MemoryStateStore)
	members := []id.UserID{"@ada:test.local", "@hearth:test.local"}
	for _, who := range members {
		_ = store.SetMembership(d.t.Context(), id.RoomID(room), who, mevent.MembershipJoin)
	}
	_ = store.SetEncryptionEvent(d.t.Context(), id.RoomID(room), &mevent.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1})
	api.StateStore = store
	p := newPerson(d.t, api, store, func(p *person) { api.Crypto = sealing{p: p, members: members} })
	go p.follow(d.t.Context())
	return p
}

// follow reads what is new and hands it to the library.
func (p *person) follow(ctx context.Context) {
	since := ""
	for ctx.Err() == nil {
		got, err := p.api.FullSyncRequest(ctx, mautrix.ReqSync{Since: since, Timeout: 1000})
		if err != nil {
			continue
		}
		p.mach.ProcessSyncResponse(ctx, got, since)
		for _, e := range got.ToDevice.Events {
			e.Type.Class = mevent.ToDeviceEventType
			_ = e.Content.ParseRaw(e.Type)
			p.take(ctx, e)
		}
		for room, joined := range got.Rooms.Join {
			for _, e := range joined.Timeline.Events {
				e.RoomID, e.Type.Class = room, mevent.MessageEventType
				_ = e.Content.ParseRaw(e.Type)
				if e.Sender == p.api.UserID || e.Type.Type != mevent.EventEncrypted.Type || since == "" {
					continue
				}
				if plain, err := p.mach.DecryptMegolmEvent(ctx, e); err == nil {
					p.take(ctx, plain)
				}
			}
		}
		since = got.NextBatch
	}
}

// asksIn asks us for a verification in an encrypted room.
func (p *person) asksIn(room string) id.VerificationTransactionID {
	p.t.Helper()
	p.turn.Lock()
	defer p.turn.Unlock()
	sent, err := p.api.SendMessageEvent(p.t.Context(), id.RoomID(room), mevent.EventMessage, &mevent.MessageEventContent{
		MsgType: mevent.MsgVerificationRequest, Body: "x", To: "@hearth:test.local", FromDevice: p.api.DeviceID,
		Methods: []mevent.VerificationMethod{mevent.VerificationMethodSAS},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	txn := id.VerificationTransactionID(sent.EventID)
	_ = p.store.SaveVerificationTransaction(p.t.Context(), verificationhelper.VerificationTransaction{
		RoomID: id.RoomID(room), TransactionID: txn, TheirUserID: "@hearth:test.local", ExpirationTime: jsontime.UM(time.Now().Add(time.Minute)),
	})
	return txn
}

// both say that the emoji are the same.
func (p *person) agree(c *client.Client, txn id.VerificationTransactionID, here string) {
	p.t.Helper()
	if p.emoji != here {
		p.t.Fatalf("%q here, %q there", here, p.emoji)
	}
	if err := errors.Join(c.Confirm(p.t.Context(), c.Asking().Value, true), p.helper.ConfirmSAS(p.t.Context(), txn)); err != nil {
		p.t.Fatal(err)
	}
}

// TestRealServerVerifies: somebody verifies the assistant in an encrypted room and between
// devices of a real homeserver, and both still know it after a restart.
func TestRealServerVerifies(t *testing.T) {
	d := homeserver(t)
	room := d.create("ada", true, true, "@hearth:test.local")
	kept := &durable{kept: map[string][]byte{}}
	keeps := func(a *channel.Account) { a.Durable = kept }
	c := d.client("hearth", keeps)
	_, _, stop := running(t, c)
	until(t, "connecting", connected(c))
	until(t, "following the invitation", func() bool { return d.members(room) == 2 })
	for _, inRoom := range []bool{true, false} {
		p := d.program("ada", room)
		txn := id.VerificationTransactionID("")
		if inRoom {
			txn = p.asksIn(room)
		} else {
			var err error
			p.turn.Lock()
			txn, err = p.helper.StartVerification(t.Context(), "@hearth:test.local")
			p.turn.Unlock()
			if err != nil {
				t.Fatal(err)
			}
		}
		p.agree(c, txn, p.begins(c, txn))
		until(t, "being verified here", func() bool { return c.Trusts(t.Context(), p.api.UserID, p.api.DeviceID) })
		until(t, "being verified there", func() bool {
			p.turn.Lock()
			defer p.turn.Unlock()
			dev, err := p.mach.CryptoStore.GetDevice(t.Context(), "@hearth:test.local", c.Device())
			return err == nil && dev != nil && dev.Trust == id.TrustStateVerified
		})
		stop()
		c = d.client("hearth", keeps)
		_, _, stop = running(t, c)
		until(t, "connecting again", connected(c))
		if !c.Trusts(t.Context(), p.api.UserID, p.api.DeviceID) {
			t.Error("after a restart it is not verified any more")
		}
	}
	stop()
}

// TestRealServerOwnKeys: an account without keys of its own gets them when a person has
// the recovery key, and the recovery key opens them and the backup for another device,
// which then reads what was said before; what it could not read comes in for nobody.
func TestRealServerOwnKeys(t *testing.T) {
	d := homeserver(t)
	room := d.create("ada", true, true, "@hearth:test.local")
	ada := d.client("ada", nil)
	running(t, ada)
	until(t, "connecting", connected(ada))
	c := d.client("hearth", nil)
	got, _, stop := running(t, c)
	until(t, "connecting", connected(c))
	until(t, "following the invitation", func() bool { return d.members(room) == 2 })
	tell(t, ada, room, "what was said before")
	hear(t, got, "what was said before")
	tell(t, c, room, "and answered")
	if err := c.Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	offered := c.Asking()
	if offered.Kind != channel.AskDecide || offered.Check(time.Now()) != nil || !strings.Contains(offered.Words, "recovery key") {
		t.Fatalf("%+v: %v", offered, offered.Check(time.Now()))
	}
	if d.hasKeys("@hearth:test.local") {
		t.Fatal("keys were made before anybody said so")
	}
	if err := c.Confirm(t.Context(), offered.Value, false); err != nil || c.Asking().Kind != "" {
		t.Fatal(err, c.Asking())
	}
	if err := c.Confirm(t.Context(), offered.Value, true); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("after the no: %v", err)
	}
	if err := c.Login(t.Context()); err != nil || c.Asking().Value == offered.Value {
		t.Fatalf("the same recovery key is offered again, or none: %v", err)
	}
	recovery := c.Asking().Value
	if err := c.Confirm(t.Context(), recovery, true); err != nil {
		t.Fatal(err)
	}
	until(t, "being told what comes next", func() bool { return strings.Contains(c.Status().Problem, "matrix.recoveryKey") })
	until(t, "a signed device", func() bool { return d.signed("@hearth:test.local", string(c.Device())) })
	until(t, "a backup with both keys", func() bool { return d.backedUp("hearth") == 2 })
	if err := c.Login(t.Context()); err != nil || c.Asking().Kind != "" {
		t.Errorf("it offers them again: %+v %v", c.Asking(), err)
	}
	stop()
	other := d.client("hearth", func(a *channel.Account) { a.Secrets[matrix.KeyRecovery] = recovery })
	got, _, _ = running(t, other)
	until(t, "connecting", connected(other))
	if other.Device() == c.Device() || other.Status().Problem != "" {
		t.Fatalf("%s, %+v", other.Device(), other.Status())
	}
	to := channel.Target{Conversation: room}
	past, err := other.Read(t.Context(), to, "", 5)
	if err != nil || len(past) != 2 || past[0].Text != "what was said before" || past[1].Text != "and answered" ||
		past[0].SenderID != "@ada:test.local" {
		t.Fatalf("%+v: %v", past, err)
	}
	before, err := other.Read(t.Context(), to, past[1].MessageID, 5)
	if err != nil || len(before) != 1 || before[0].MessageID != past[0].MessageID {
		t.Errorf("%+v: %v", before, err)
	}
	for _, on := range []bool{true, false} {
		if err := ada.Pin(t.Context(), to, past[0].MessageID, on); err != nil {
			t.Error(err)
		}
		if pinned := d.pinned(room); on != (len(pinned) == 1 && pinned[0] == past[0].MessageID) {
			t.Errorf("pinned: %v, there are %v", on, pinned)
		}
	}
	select {
	case in := <-got:
		t.Errorf("what was said before comes in again: %+v", in)
	default:
	}
	without := d.client("hearth", nil)
	_, _, stop = running(t, without)
	until(t, "connecting", connected(without))
	past, err = without.Read(t.Context(), to, "", 5)
	if err != nil || len(past) != 2 || !strings.Contains(past[0].Text, "its key is not here") {
		t.Errorf("without the recovery key: %+v %v", past, err)
	}
	if err := without.Login(t.Context()); err != nil || without.Asking().Kind != "" {
		t.Errorf("an account that has keys is offered others: %+v %v", without.Asking(), err)
	}
	stop()
}

func (d *dendrite) members(room string) int {
	var got struct {
		Joined map[string]any `json:"joined"`
	}
	d.ask("ada", "GET", "/_matrix/client/v3/rooms/"+room+"/joined_members", nil, &got)
	return len(got.Joined)
}

type queried struct {
	Master  map[string]any `json:"master_keys"`
	Signing map[string]struct {
		Keys map[string]string `json:"keys"`
	} `json:"self_signing_keys"`
	Devices map[string]map[string]struct {
		Signatures map[string]map[string]string `json:"signatures"`
	} `json:"device_keys"`
}

func (d *dendrite) query(who string) (got queried) {
	d.ask("ada", "POST", "/_matrix/client/v3/keys/query", object{"device_keys": object{who: []string{}}}, &got)
	return got
}

func (d *dendrite) hasKeys(who string) bool { return d.query(who).Master[who] != nil }

// signed reports whether a device of somebody is signed with their keys.
func (d *dendrite) signed(who, device string) bool {
	got := d.query(who)
	for name := range got.Signing[who].Keys {
		if got.Devices[who][device].Signatures[who][name] != "" {
			return true
		}
	}
	return false
}

// backedUp is how many keys are in somebody's backup.
func (d *dendrite) backedUp(who string) int {
	req, _ := mautrix.NewClient(d.url(), id.UserID("@"+who+":test.local"), d.tokens[who])
	got, err := req.GetKeyBackupLatestVersion(d.t.Context())
	if err != nil {
		return 0
	}
	return got.Count
}

func (d *dendrite) pinned(room string) []string {
	var got struct {
		Pinned []string `json:"pinned"`
	}
	d.ask("ada", "GET", "/_matrix/client/v3/rooms/"+room+"/state/m.room.pinned_events", nil, &got)
	return got.Pinned
}
