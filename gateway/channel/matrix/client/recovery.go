//go:build goolm

package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"maunium.net/go/mautrix/crypto/ssss"
	"maunium.net/go/mautrix/id"
)

// sign signs our device with the keys of the account, which the recovery key opens, so
// that it does not show as unverified. Where that cannot be, it says why, and all else
// goes on. Its error is one that passes.
func (c *Client) sign(ctx context.Context, s *session) error {
	c.saysUnsigned("")
	if c.recoveryKey() == "" {
		return nil
	}
	err := c.signs(ctx, s)
	if err == nil {
		return nil
	}
	words := "Its device is not signed, so it shows as unverified: "
	switch err = failure(err, false); {
	case errors.Is(err, ssss.ErrNoDefaultKeyAccountDataEvent), errors.Is(err, ssss.ErrNoKeyFieldInAccountDataEvent):
		words += "the account has no recovery key. Make one in a Matrix program that is logged in as it, and set " +
			"channels.matrix.recoveryKey anew."
	case errors.Is(err, ssss.ErrInvalidRecoveryKey), errors.Is(err, ssss.ErrIncorrectSSSSKey), errors.Is(err, ssss.ErrKeyDataMACMismatch),
		errors.Is(err, errOldKeys):
		words += "the recovery key is not that of the account. Copy it anew from the program that made it: hearth config set " +
			"channels.matrix.recoveryKey asks for it."
	case refusedOnly(err), errors.Is(err, ssss.ErrNotEncryptedForKey), errors.Is(err, ssss.ErrCorruptedKeyMetadata):
		words += line(err.Error(), 300) + ". Make a new recovery key in a Matrix program that is logged in as the account."
	default:
		return fmt.Errorf("sign the device with the recovery key: %w", err)
	}
	c.log.Warn("matrix", "problem", words)
	c.saysUnsigned(words)
	return nil
}

var errOldKeys = errors.New("the recovery key opens other keys than those of the account")

func (c *Client) recoveryKey() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.recovery
}

// unlock is the recovery key as what it opens.
func (c *Client) unlock(ctx context.Context, s *session) (*ssss.Key, error) {
	name, about, err := s.mach.SSSS.GetDefaultKeyData(ctx)
	if err != nil {
		return nil, err
	}
	key, err := about.VerifyRecoveryKey(name, c.recoveryKey())
	if err != nil && !(errors.Is(err, ssss.ErrUnverifiableKey) && key != nil) {
		return nil, err
	}
	return key, nil
}

// signs does it. The keys are in memory only, to vouch for people who verify us.
func (c *Client) signs(ctx context.Context, s *session) error {
	key, err := c.unlock(ctx, s)
	if err != nil {
		return err
	}
	if err := s.mach.FetchCrossSigningKeysFromSSSS(ctx, key); err != nil {
		return err
	}
	own := s.mach.CrossSigningKeys.PublicKeys()
	if _, err := s.mach.FetchKeys(ctx, []id.UserID{c.user}, true); err != nil {
		s.mach.CrossSigningKeys = nil
		return err
	}
	theirs, err := s.mach.CryptoStore.GetCrossSigningKeys(ctx, c.user)
	if err != nil || theirs[id.XSUsageMaster].Key != own.MasterKey || theirs[id.XSUsageSelfSigning].Key != own.SelfSigningKey {
		s.mach.CrossSigningKeys = nil
		if err == nil {
			err = errOldKeys
		}
		return err
	}
	sum := sha256.Sum256([]byte(string(s.api.DeviceID) + " " + string(own.SelfSigningKey)))
	signed := hex.EncodeToString(sum[:])
	c.mu.Lock()
	before := c.kept.SignedFor
	c.mu.Unlock()
	if signed == before {
		return nil
	}
	if err := s.mach.SignOwnDevice(ctx, s.mach.OwnIdentity()); err != nil {
		return err
	}
	if err := s.mach.SignOwnMasterKey(ctx); err != nil {
		return err
	}
	return c.keep(ctx, func(k *kept) { k.SignedFor = signed })
}

func (c *Client) saysUnsigned(words string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unsigned = words
}
