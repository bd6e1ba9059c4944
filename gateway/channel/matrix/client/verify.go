//go:build goolm

package client

import (
	"cmp"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Limits of verifications.
const (
	verifyTime  = 10 * time.Minute // that one may take, and how old a request may be
	mostSkew    = 5 * time.Minute  // how far the clock of who asks may be ahead
	mostRefused = 5                // refusals that are told in one answer of the server
	mostTxn     = 255
)

// step is how far a verification is.
type step int

const (
	accepted step = iota // they may begin
	bound                // we are bound to our key
	shown                // the person compares
	agreed               // the person has said that it is the same
)

// verification is a comparison of emoji that somebody's program has begun with us. It
// lives in memory: after a restart it is over.
type verification struct {
	exchange
	room   id.RoomID // "" between devices
	step   step
	until  time.Time
	emoji  bool
	device *id.Device // theirs
	master id.Ed25519 // that of their person, "" where there is none
	proven map[id.KeyID]bool
	ask    channel.Ask
}

// started is what is kept of a verification, to end it after a restart.
type started struct {
	Txn    id.VerificationTransactionID `json:"txn"`
	Room   id.RoomID                    `json:"room,omitempty"`
	User   id.UserID                    `json:"user"`
	Device id.DeviceID                  `json:"device"`
}

// Asking implements channel.Asker: the emoji that a person compares.
func (c *Client) Asking() channel.Ask {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ask.At(c.now())
}

// asked sets what is asked, and what is told of verifications. The zero Ask is nothing.
func (c *Client) asked(a channel.Ask, verdict string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ask, c.verdict = a, verdict
	if c.status.State == channel.Receiving {
		c.status.Problem = cmp.Or(verdict, c.unsigned, c.kept.Trouble)
	}
}

// Confirm implements channel.Confirmer: the person says whether both devices show the
// same. value is what they saw here, so that nobody confirms something else.
func (c *Client) Confirm(ctx context.Context, value string, yes bool) error {
	s, err := c.current()
	if err != nil {
		return err
	}
	c.verifying.Lock()
	defer c.verifying.Unlock()
	c.lapse(ctx, s)
	if c.making != nil && value == c.making.RecoveryKey() {
		return c.decided(ctx, s, yes)
	}
	v := c.compare
	if v == nil || v.step != shown || v.ask.Value != value {
		return fmt.Errorf("%w: this comparison is over; begin the verification again in your Matrix program", channel.ErrRefused)
	}
	if !yes {
		c.endVerification(ctx, s, event.VerificationCancelCodeSASMismatch, "the person says that the emoji differ",
			"You said that the emoji differ, so nothing was verified. Somebody may be between your program and this assistant: begin again, "+
				"and ask who runs the server when they differ again.")
		return nil
	}
	keys := map[id.KeyID]string{id.NewKeyID(id.KeyAlgorithmEd25519, string(v.us.device)): string(s.mach.OwnIdentity().SigningKey)}
	if own := s.mach.CrossSigningKeys; own != nil { // what only the server says is ours we do not vouch for
		master := string(own.MasterKey.PublicKey())
		keys[id.NewKeyID(id.KeyAlgorithmEd25519, master)] = master
	}
	proof, err := v.proof(keys)
	if err == nil {
		err = c.tellVerification(ctx, s, v, event.InRoomVerificationMAC, proof)
	}
	if err != nil {
		return fmt.Errorf("tell the other device that the emoji are the same: %w; say it again", err)
	}
	v.step = agreed
	c.asked(channel.Ask{}, "")
	return c.settleVerification(ctx, s, v)
}

// verifications takes those of the events between devices that belong to verifications.
func (c *Client) verifications(ctx context.Context, s *session, events []*event.Event) {
	refused := 0
	for _, e := range events {
		if isVerification(e.Type.Type) && refused < mostRefused && c.verify(ctx, s, e) {
			refused++
		}
	}
	c.verifying.Lock()
	defer c.verifying.Unlock()
	c.lapse(ctx, s)
}

// verify takes an event of a verification, and reports whether it sent a refusal.
func (c *Client) verify(ctx context.Context, s *session, e *event.Event) (refused bool) {
	c.verifying.Lock()
	defer c.verifying.Unlock()
	c.lapse(ctx, s)
	if m, ok := e.Content.Parsed.(*event.MessageEventContent); ok {
		if m.To != c.user {
			return false
		}
		return c.requested(ctx, s, e, event.VerificationRequestEventContentFromMessage(e))
	}
	if r, ok := e.Content.Parsed.(*event.VerificationRequestEventContent); ok {
		return c.requested(ctx, s, e, r)
	}
	txn := transactionOf(e)
	v := c.compare
	if v == nil || v.txn != txn || v.them.user != e.Sender || v.room != e.RoomID {
		return c.unknownVerification(ctx, s, e, txn)
	}
	from, _ := e.Content.Raw["from_device"].(string)
	if from != "" && id.DeviceID(from) != v.them.device {
		return false
	}
	if err := c.goOn(ctx, s, v, e); err != nil {
		c.endVerification(ctx, s, event.VerificationCancelCodeUnexpectedMessage, err.Error(),
			fmt.Sprintf("The verification with %s failed: %s. Nothing was verified; begin it again in your Matrix program.",
				line(string(v.them.user), 100), line(err.Error(), 200)))
	}
	return false
}

// transactionOf is which verification an event belongs to.
func transactionOf(e *event.Event) id.VerificationTransactionID {
	if e.RoomID != "" {
		if r, ok := e.Content.Parsed.(event.Relatable); ok && r.OptionalGetRelatesTo() != nil {
			return id.VerificationTransactionID(r.OptionalGetRelatesTo().EventID)
		}
		return ""
	}
	if t, ok := e.Content.Parsed.(event.VerificationTransactionable); ok {
		return t.GetTransactionID()
	}
	return ""
}

// unknownVerification ends what is not known here any more, as after a restart, so that
// nobody waits for it. In rooms all is left that is not for us.
func (c *Client) unknownVerification(ctx context.Context, s *session, e *event.Event, txn id.VerificationTransactionID) bool {
	from, _ := e.Content.Raw["from_device"].(string)
	if e.RoomID != "" || e.Type.Type != event.ToDeviceVerificationStart.Type || from == "" || txn == "" || len(txn) > mostTxn ||
		!c.mayVerify(e.Sender) {
		return false
	}
	gone := &verification{exchange: exchange{txn: txn, them: party{e.Sender, id.DeviceID(from)}}}
	c.cancelVerification(ctx, s, gone, event.VerificationCancelCodeUnknownTransaction, "it is not known here any more")
	return true
}

// mayVerify: the account's own person, and those whose invitations are followed.
func (c *Client) mayVerify(who id.UserID) bool { return who == c.user || c.inviters[who] }

// requested takes somebody's wish to verify.
func (c *Client) requested(ctx context.Context, s *session, e *event.Event, r *event.VerificationRequestEventContent) (refused bool) {
	age := c.now().Sub(r.Timestamp.Time)
	if r.TransactionID == "" || len(r.TransactionID) > mostTxn || r.FromDevice == "" || len(r.FromDevice) > mostTxn || age > verifyTime ||
		age < -mostSkew || e.Sender == c.user && r.FromDevice == s.api.DeviceID {
		return false
	}
	v := &verification{room: e.RoomID, until: c.now().Add(verifyTime)}
	v.txn, v.them, v.us = r.TransactionID, party{e.Sender, r.FromDevice}, party{c.user, s.api.DeviceID}
	who := line(string(e.Sender), 100)
	switch other := c.compare; {
	case !c.mayVerify(e.Sender):
		c.cancelVerification(ctx, s, v, event.VerificationCancelCodeUser, "it verifies only with people whom its owner has named")
		c.trouble("%s wants to verify this assistant, and was refused. If that is somebody you know, add their id to "+
			"channels.matrix.inviters and restart Hearth.", who)
		return true
	case !slices.Contains(r.Methods, event.VerificationMethodSAS):
		c.cancelVerification(ctx, s, v, event.VerificationCancelCodeUnknownMethod, "it verifies by emoji alone")
		return true
	case other != nil && other.them != v.them:
		c.cancelVerification(ctx, s, v, event.VerificationCancelCodeUser, "it verifies somebody else just now; try again later")
		return true
	case other != nil: // their program has begun anew
		c.cancelVerification(ctx, s, other, event.VerificationCancelCodeUser, "another one was begun")
	}
	c.compare = v
	c.asked(channel.Ask{}, who+" verifies this assistant. Begin the comparison of emoji in your Matrix program.")
	err := c.keep(ctx, func(k *kept) { k.Verifying = &started{v.txn, v.room, v.them.user, v.them.device} })
	if err == nil {
		err = c.tellVerification(ctx, s, v, event.InRoomVerificationReady, &event.VerificationReadyEventContent{
			FromDevice: v.us.device, Methods: []event.VerificationMethod{event.VerificationMethodSAS},
		})
	}
	if err != nil {
		c.endVerification(ctx, s, event.VerificationCancelCodeUser, "it could not answer", fmt.Sprintf(
			"The verification with %s could not begin: %v. Begin it again in your Matrix program.", who, err))
	}
	return false
}

// goOn takes what comes next in the verification. Its error ends it.
func (c *Client) goOn(ctx context.Context, s *session, v *verification, e *event.Event) error {
	switch m := e.Content.Parsed.(type) {
	case *event.VerificationStartEventContent:
		if v.step != accepted || v.own != nil {
			return errors.New("it began twice")
		}
		return c.begun(ctx, s, v, e, m)
	case *event.VerificationKeyEventContent:
		if v.step != bound {
			return errors.New("its key came at the wrong time")
		}
		return c.show(ctx, s, v, m)
	case *event.VerificationMACEventContent:
		if v.step < shown || v.proven != nil {
			return errors.New("its proof came at the wrong time")
		}
		known := map[id.KeyID]string{id.NewKeyID(id.KeyAlgorithmEd25519, string(v.them.device)): string(v.device.SigningKey)}
		if v.master != "" {
			known[id.NewKeyID(id.KeyAlgorithmEd25519, string(v.master))] = string(v.master)
		}
		proven, err := v.exchange.proven(m, known)
		if err != nil {
			return err
		}
		v.proven = proven
		return c.settleVerification(ctx, s, v)
	case *event.VerificationCancelEventContent:
		c.log.Info("a verification was given up there", "code", line(string(m.Code), 50))
		c.forgetVerification(ctx, channel.Ask{}, fmt.Sprintf("The verification was ended on the device of %s: %s. Nothing was verified.",
			line(string(v.them.user), 100), line(cmp.Or(m.Reason, string(m.Code)), 200)))
	}
	return nil
}

// begun answers their wish to begin with what binds us to our key.
func (c *Client) begun(
	ctx context.Context, s *session, v *verification, e *event.Event, m *event.VerificationStartEventContent,
) (err error) {
	v.emoji = slices.Contains(m.ShortAuthenticationString, event.SASMethodEmoji)
	if m.Method != event.VerificationMethodSAS || !slices.Contains(m.Hashes, event.VerificationHashMethodSHA256) ||
		!slices.Contains(m.KeyAgreementProtocols, event.KeyAgreementProtocolCurve25519HKDFSHA256) ||
		!slices.Contains(m.MessageAuthenticationCodes, event.MACMethodHKDFHMACSHA256V2) ||
		!v.emoji && !slices.Contains(m.ShortAuthenticationString, event.SASMethodDecimal) {
		return errors.New("it knows no way that is known here; it may be too old")
	}
	devices, err := s.mach.FetchKeys(ctx, []id.UserID{v.them.user}, true)
	if err != nil {
		return fmt.Errorf("ask the server for its keys: %w", failure(err, false))
	}
	if v.device = devices[v.them.user][v.them.device]; v.device == nil {
		return errors.New("the server knows no keys of it")
	}
	signing, err := s.mach.CryptoStore.GetCrossSigningKeys(ctx, v.them.user)
	if err != nil {
		return fmt.Errorf("read its keys: %w", err)
	}
	v.master = signing[id.XSUsageMaster].Key
	if v.own, err = ecdh.X25519().GenerateKey(rand.Reader); err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	v.ours = unpadded(v.own.PublicKey().Bytes())
	start := maps.Clone(e.Content.Raw)
	if v.room != "" && start["m.relates_to"] == nil { // it stands outside of what is encrypted
		start["m.relates_to"] = map[string]any{"rel_type": string(event.RelReference), "event_id": string(v.txn)}
	}
	promise, err := v.commitment(start)
	if err != nil {
		return err
	}
	v.step = bound
	sas := []event.SASMethod{event.SASMethodDecimal}
	if v.emoji {
		sas = []event.SASMethod{event.SASMethodEmoji}
	}
	return c.tellVerification(ctx, s, v, event.InRoomVerificationAccept, &event.VerificationAcceptEventContent{
		Commitment: promise, Hash: event.VerificationHashMethodSHA256, ShortAuthenticationString: sas,
		KeyAgreementProtocol: event.KeyAgreementProtocolCurve25519HKDFSHA256, MessageAuthenticationCode: event.MACMethodHKDFHMACSHA256V2,
	})
}

// show takes their key and shows the person what to compare.
func (c *Client) show(ctx context.Context, s *session, v *verification, m *event.VerificationKeyEventContent) error {
	if err := v.agree(m.Key); err != nil {
		return err
	}
	if err := c.tellVerification(ctx, s, v, event.InRoomVerificationKey, &event.VerificationKeyEventContent{
		Key: v.own.PublicKey().Bytes(),
	}); err != nil {
		return err
	}
	value, err := v.compared(v.emoji)
	if err != nil {
		return err
	}
	v.step = shown
	v.ask = channel.Ask{Kind: channel.AskConfirm, Value: value, Until: v.until, Words: fmt.Sprintf(
		"%s verifies this assistant from the device %s. Does it show the same, in the same order?",
		line(string(v.them.user), 100), line(string(v.them.device), 50))}
	c.asked(v.ask, fmt.Sprintf("%s verifies this assistant. Compare with their device: %s. Answer with: hearth channels login matrix",
		line(string(v.them.user), 100), value))
	return nil
}

// settleVerification ends it well when the person has agreed and they have proven their
// keys.
func (c *Client) settleVerification(ctx context.Context, s *session, v *verification) error {
	if v.step != agreed || v.proven == nil {
		return nil
	}
	whole, master := v.master != "" && v.proven[id.NewKeyID(id.KeyAlgorithmEd25519, string(v.master))], id.Ed25519("")
	if whole {
		master = v.master
	}
	if err := s.keys.verified(ctx, v.device, master); err != nil {
		return fmt.Errorf("keep that the device is verified: %w", err)
	}
	var err error
	switch own := s.mach.CrossSigningKeys != nil; {
	case v.them.user == c.user && own:
		err = s.mach.SignOwnDevice(ctx, v.device)
	case v.them.user == c.user && whole:
		err = s.mach.SignOwnMasterKey(ctx)
	case own && whole:
		err = s.mach.SignUser(ctx, v.them.user, v.master)
	}
	if err != nil { // their device is verified all the same
		c.log.Warn("the server did not take what we signed", "err", failure(err, true))
	}
	if err := c.tellVerification(ctx, s, v, event.InRoomVerificationDone, &event.VerificationDoneEventContent{}); err != nil {
		c.log.Warn("their device was not told that it is verified", "err", err)
	}
	c.log.Info("a device is verified", "user", string(v.them.user), "device", string(v.them.device))
	c.forgetVerification(ctx, channel.Ask{}, "")
	return nil
}
