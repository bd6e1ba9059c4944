//go:build goolm

package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// trust is what of somebody's keys a person has compared. It is about their keys, so it
// outlives restarts and our own device.
type trust struct {
	Devices map[id.DeviceID]id.Ed25519 `json:"devices,omitempty"`
	Master  id.Ed25519                 `json:"master,omitempty"` // with which they sign their devices
}

// mostTrusted is how many devices of one person are remembered as verified.
const mostTrusted = 100

func trustKey(of id.UserID) string {
	sum := sha256.Sum256([]byte(of))
	return "trust." + hex.EncodeToString(sum[:16])
}

// trustIn is what was verified of somebody.
func (k *keys) trustIn(ctx context.Context, of id.UserID) (trust, error) {
	k.mu.Lock()
	t, known := k.trusts[of]
	k.mu.Unlock()
	if known {
		return t, nil
	}
	b, err := k.durable.Get(ctx, trustKey(of))
	if err == nil && len(b) > 0 {
		err = json.Unmarshal(b, &t)
	}
	if err != nil {
		return t, fmt.Errorf("read which devices were verified: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.trusts[of] = t
	return t, nil
}

// verified keeps that a device of somebody was verified, and with it their master key
// where that was proven too.
func (k *keys) verified(ctx context.Context, d *id.Device, master id.Ed25519) error {
	before, err := k.trustIn(ctx, d.UserID)
	if err != nil {
		return err
	}
	t := trust{Devices: map[id.DeviceID]id.Ed25519{}, Master: before.Master}
	for device, key := range before.Devices {
		if len(t.Devices) < mostTrusted-1 {
			t.Devices[device] = key
		}
	}
	t.Devices[d.DeviceID] = d.SigningKey
	if master != "" {
		t.Master = master
	}
	if err := k.put(ctx, trustKey(d.UserID), t); err != nil {
		return err
	}
	k.mu.Lock()
	k.trusts[d.UserID] = t
	k.mu.Unlock()
	sure := *d // others read the one of the store
	sure.Trust = id.TrustStateVerified
	return k.MemoryStore.PutDevice(ctx, d.UserID, &sure)
}

// recognize marks a device that was verified, and says when another one has its name.
func (k *keys) recognize(ctx context.Context, d *id.Device) error {
	t, err := k.trustIn(ctx, d.UserID)
	if err != nil {
		return err
	}
	switch key, had := t.Devices[d.DeviceID]; {
	case had && key == d.SigningKey:
		d.Trust = id.TrustStateVerified
	case had:
		d.Trust = id.TrustStateUnset
		k.changed(d.UserID, d.SigningKey, "the device "+line(string(d.DeviceID), 50)+" of "+line(string(d.UserID), 100))
	}
	return nil
}

// changed tells, once, that keys are others than those that a person has compared.
func (k *keys) changed(of id.UserID, key id.Ed25519, whose string) {
	k.mu.Lock()
	known := k.told[key]
	if len(k.told) < 1000 {
		k.told[key] = true
	}
	k.mu.Unlock()
	if !known {
		k.tell("The server names other keys for %s than those that you have verified. Either %s began anew, or somebody pretends to be them: "+
			"ask them, and verify again before you believe it.", whose, line(string(of), 100))
	}
}

// PutDevice implements crypto.Store.
func (k *keys) PutDevice(ctx context.Context, of id.UserID, d *id.Device) error {
	if err := k.recognize(ctx, d); err != nil {
		return err
	}
	return k.MemoryStore.PutDevice(ctx, of, d)
}

// PutDevices implements crypto.Store.
func (k *keys) PutDevices(ctx context.Context, of id.UserID, devices map[id.DeviceID]*id.Device) error {
	for _, d := range devices {
		if err := k.recognize(ctx, d); err != nil {
			return err
		}
	}
	return k.MemoryStore.PutDevices(ctx, of, devices)
}

// PutCrossSigningKey implements crypto.Store.
func (k *keys) PutCrossSigningKey(ctx context.Context, of id.UserID, usage id.CrossSigningUsage, key id.Ed25519) error {
	k.signing.Lock()
	defer k.signing.Unlock()
	if usage == id.XSUsageMaster {
		t, err := k.trustIn(ctx, of)
		if err != nil {
			return err
		}
		if t.Master != "" && t.Master != key {
			k.changed(of, key, line(string(of), 100))
		}
	}
	return k.MemoryStore.PutCrossSigningKey(ctx, of, usage, key)
}

// GetCrossSigningKeys implements crypto.Store.
func (k *keys) GetCrossSigningKeys(ctx context.Context, of id.UserID) (map[id.CrossSigningUsage]id.CrossSigningKey, error) {
	k.signing.Lock()
	defer k.signing.Unlock()
	got, err := k.MemoryStore.GetCrossSigningKeys(ctx, of)
	return maps.Clone(got), err
}

// PutSignature implements crypto.Store.
func (k *keys) PutSignature(ctx context.Context, of id.UserID, key id.Ed25519, by id.UserID, with id.Ed25519, signature string) error {
	k.signing.Lock()
	defer k.signing.Unlock()
	return k.MemoryStore.PutSignature(ctx, of, key, by, with, signature)
}

// GetSignaturesForKeyBy implements crypto.Store.
func (k *keys) GetSignaturesForKeyBy(ctx context.Context, of id.UserID, key id.Ed25519, by id.UserID) (map[id.Ed25519]string, error) {
	k.signing.Lock()
	defer k.signing.Unlock()
	got, err := k.MemoryStore.GetSignaturesForKeyBy(ctx, of, key, by)
	return maps.Clone(got), err
}

// IsKeySignedBy implements crypto.Store.
func (k *keys) IsKeySignedBy(ctx context.Context, of id.UserID, key id.Ed25519, by id.UserID, with id.Ed25519) (bool, error) {
	got, err := k.GetSignaturesForKeyBy(ctx, of, key, by)
	_, signed := got[with]
	return signed, err
}

// DropSignaturesByKey implements crypto.Store.
func (k *keys) DropSignaturesByKey(ctx context.Context, by id.UserID, with id.Ed25519) (int64, error) {
	k.signing.Lock()
	defer k.signing.Unlock()
	return k.MemoryStore.DropSignaturesByKey(ctx, by, with)
}

// refetchPace is how often the devices of one person are asked for because of a message.
const refetchPace = time.Minute

// written is errNotTheirs for an encrypted event that theirs does not hold to be theirs.
func (c *Client) written(ctx context.Context, s *session, sealed, plain *event.Event) error {
	if !plain.Mautrix.WasEncrypted {
		return nil
	}
	sure, err := c.theirs(ctx, s, sealed, plain)
	if err == nil && !sure {
		err = errNotTheirs
	}
	return err
}

// theirs reports whether an encrypted event was written with a device of who is said to
// have written it: the server adds that name. Of somebody whose master key was verified
// only devices that it has signed count, and those that were verified themselves.
func (c *Client) theirs(ctx context.Context, s *session, sealed, plain *event.Event) (bool, error) {
	sure, err := c.ofDevice(ctx, s, plain)
	if err != nil || sure {
		return sure, err
	}
	c.mu.Lock()
	recent := c.now().Sub(s.fetched[sealed.Sender]) < refetchPace
	if !recent && len(s.fetched) < mostDirects {
		s.fetched[sealed.Sender] = c.now()
	}
	c.mu.Unlock()
	if recent {
		return false, nil
	}
	if _, err := s.mach.FetchKeys(ctx, []id.UserID{sealed.Sender}, true); err != nil { // it may be a new device
		return false, failure(err, false)
	}
	if plain, err = s.open(ctx, sealed); err != nil || plain == nil {
		return false, err
	}
	return c.ofDevice(ctx, s, plain)
}

func (c *Client) ofDevice(ctx context.Context, s *session, plain *event.Event) (bool, error) {
	t, err := s.keys.trustIn(ctx, plain.Sender)
	if err != nil {
		return false, err
	}
	how := plain.Mautrix.TrustState
	if t.Master != "" {
		if how == id.TrustStateVerified {
			return true, nil
		}
		known, err := s.keys.GetCrossSigningKeys(ctx, plain.Sender)
		return how >= id.TrustStateCrossSignedUntrusted && known[id.XSUsageMaster].Key == t.Master, err
	}
	switch how { // what was handed on by somebody else, or is not known, is nobody's word
	case id.TrustStateUnset, id.TrustStateCrossSignedUntrusted, id.TrustStateCrossSignedTOFU, id.TrustStateCrossSignedVerified,
		id.TrustStateVerified:
		return true, nil
	}
	return false, nil
}
