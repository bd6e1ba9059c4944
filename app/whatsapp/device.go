package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
	waLog "go.mau.fi/whatsmeow/util/log"
	"google.golang.org/protobuf/proto"
)

const deviceName = "device"

// deviceKept is the device as it is kept.
type deviceKept struct {
	ID, LID            types.JID
	RegistrationID     uint32
	Noise, Identity    []byte
	PreKey             []byte
	PreKeyID           uint32
	PreKeySignature    []byte
	Secret             []byte
	Account            []byte
	Platform, Business string
	PushName           string
	Migrated           int64
	Nonce              string
}

// openDevice is the linked device that is kept, or a new one that is not linked yet.
func openDevice(k *kept, log waLog.Logger) (*store.Device, error) {
	d := &store.Device{Log: log}
	s := &stores{k: k}
	d.SetAllStores(s)
	d.LIDs, d.Container = s, s
	b := k.get(deviceName)
	if b == nil {
		fresh(d)
		return d, nil
	}
	var was deviceKept
	if err := json.Unmarshal(b, &was); err != nil {
		return nil, fmt.Errorf("read the linked device: %w", err)
	}
	if len(was.Noise) != 32 || len(was.Identity) != 32 || len(was.PreKey) != 32 || len(was.PreKeySignature) != 64 {
		return nil, errors.New("read the linked device: a key has another length")
	}
	d.ID, d.LID, d.RegistrationID = &was.ID, was.LID, was.RegistrationID
	d.NoiseKey = keys.NewKeyPairFromPrivateKey([32]byte(was.Noise))
	d.IdentityKey = keys.NewKeyPairFromPrivateKey([32]byte(was.Identity))
	signature := [64]byte(was.PreKeySignature)
	d.SignedPreKey = &keys.PreKey{KeyPair: *keys.NewKeyPairFromPrivateKey([32]byte(was.PreKey)), KeyID: was.PreKeyID, Signature: &signature}
	d.AdvSecretKey, d.Platform, d.BusinessName, d.PushName = was.Secret, was.Platform, was.Business, was.PushName
	d.LIDMigrationTimestamp, d.CompanionMetaNonce = was.Migrated, was.Nonce
	d.Account, d.Initialized = &waAdv.ADVSignedDeviceIdentity{}, true
	if err := proto.Unmarshal(was.Account, d.Account); err != nil {
		return nil, fmt.Errorf("read the linked device: %w", err)
	}
	return d, nil
}

// fresh gives a device keys of its own.
func fresh(d *store.Device) {
	chance := make([]byte, 36)
	_, _ = rand.Read(chance) // it does not fail
	d.NoiseKey, d.IdentityKey, d.AdvSecretKey = keys.NewKeyPair(), keys.NewKeyPair(), chance[:32]
	d.RegistrationID = binary.BigEndian.Uint32(chance[32:])
	d.SignedPreKey = d.IdentityKey.CreateSignedPreKey(1)
}

// PutDevice implements store.DeviceContainer.
func (s *stores) PutDevice(ctx context.Context, d *store.Device) error {
	if d.ID == nil {
		return errors.New("keep the device: it is not linked")
	}
	account, err := proto.Marshal(d.Account)
	if err != nil {
		return fmt.Errorf("keep the linked device: %w", err)
	}
	b, err := json.Marshal(deviceKept{ID: *d.ID, LID: d.LID, RegistrationID: d.RegistrationID, Noise: d.NoiseKey.Priv[:],
		Identity: d.IdentityKey.Priv[:], PreKey: d.SignedPreKey.Priv[:], PreKeyID: d.SignedPreKey.KeyID,
		PreKeySignature: d.SignedPreKey.Signature[:], Secret: d.AdvSecretKey, Account: account, Platform: d.Platform, Business: d.BusinessName,
		PushName: d.PushName, Migrated: d.LIDMigrationTimestamp, Nonce: d.CompanionMetaNonce})
	if err != nil {
		return fmt.Errorf("keep the linked device: %w", err)
	}
	d.Initialized = true
	return s.k.change(ctx, changes{deviceName: b})
}

// DeleteDevice implements store.DeviceContainer: nothing of a device that was removed
// is used again.
func (s *stores) DeleteDevice(ctx context.Context, _ *store.Device) error {
	gone := changes{}
	for name := range s.k.below("") {
		gone[name] = nil
	}
	return s.k.change(ctx, gone)
}
