//go:build goolm

package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/crypto/backup"
	"maunium.net/go/mautrix/crypto/olm"
	"maunium.net/go/mautrix/crypto/signatures"
	"maunium.net/go/mautrix/crypto/ssss"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// backedUp is the backup of the account's keys at the server. Everybody who knows its
// public key can put keys into it, the server above all. So what lies there opens only
// what was said before, on a machine of its own: nothing that comes in as new.
type backedUp struct {
	version id.KeyBackupVersion
	key     *backup.MegolmBackupKey
	mach    *crypto.OlmMachine
	absent  map[id.SessionID]bool // asked for, and not in it
}

// roomKey names a key of a room.
type roomKey struct {
	Room    id.RoomID    `json:"room"`
	Session id.SessionID `json:"session"`
}

// Limits of the backup.
const (
	mostPending = 2000 // keys that wait for it; the oldest are forgotten
	mostAtOnce  = 100
	mostAbsent  = 1000
	backupRest  = time.Minute // after it failed
)

// errNoBackup is why keys are not backed up, for a person.
var errNoBackup = errors.New("its keys are not backed up")

// waiting are the keys that are not in the backup.
func (k *keys) waiting(ctx context.Context) ([]roomKey, error) {
	k.mu.Lock()
	read := k.pending != nil
	k.mu.Unlock()
	var list []roomKey
	if !read {
		if _, err := k.get(ctx, k.name("unsaved"), &list); err != nil {
			return nil, err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pending == nil {
		k.pending = slices.Grow(list, 1)
	}
	return slices.Clone(k.pending), nil
}

// unsaved keeps that a key is not in the backup.
func (k *keys) unsaved(ctx context.Context, of roomKey) error {
	list, err := k.waiting(ctx)
	if err != nil || slices.Contains(list, of) {
		return err
	}
	if list = append(list, of); len(list) > mostPending {
		list = list[len(list)-mostPending:]
	}
	return k.waits(ctx, list)
}

// waits keeps which keys are not in the backup.
func (k *keys) waits(ctx context.Context, list []roomKey) error {
	if err := k.put(ctx, k.name("unsaved"), list); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pending = slices.Grow(list, 1)
	return nil
}

// openBackup opens the server's backup with the recovery key, or makes one where the
// account has none. Its error is errNoBackup when that will not change by itself.
func (c *Client) openBackup(ctx context.Context, s *session, recovery *ssss.Key) error {
	about, err := s.api.GetKeyBackupLatestVersion(ctx)
	if errors.Is(err, mautrix.MNotFound) {
		return c.makeBackup(ctx, s, recovery)
	}
	if err != nil {
		return failure(err, false)
	}
	if about.Algorithm != id.KeyBackupAlgorithmMegolmBackupV1 {
		return fmt.Errorf("%w: the account's backup is of a kind that is not known here (%s)", errNoBackup, line(string(about.Algorithm), 60))
	}
	secret, err := s.mach.SSSS.GetDecryptedAccountData(ctx, event.AccountDataMegolmBackupKey, recovery)
	switch {
	case errors.Is(err, mautrix.MNotFound), errors.Is(err, ssss.ErrNotEncryptedForKey), errors.Is(err, ssss.ErrKeyDataMACMismatch):
		return fmt.Errorf("%w: the recovery key does not open the backup that another program has made; make it anew there", errNoBackup)
	case err != nil:
		return failure(err, false)
	}
	key, err := backup.MegolmBackupKeyFromBytes(secret)
	if err != nil || publicOf(key) != about.AuthData.PublicKey {
		return fmt.Errorf("%w: the key of the account's backup is another one than the recovery key opens; make the backup anew in the "+
			"program that made it", errNoBackup)
	}
	return c.useBackup(ctx, s, about.Version, key)
}

func publicOf(key *backup.MegolmBackupKey) id.Ed25519 {
	return id.Ed25519(base64.RawStdEncoding.EncodeToString(key.PublicKey().Bytes()))
}

// makeBackup makes a backup. Its key is where the recovery key opens it before there is
// anything in it.
func (c *Client) makeBackup(ctx context.Context, s *session, recovery *ssss.Key) error {
	key, err := backup.NewMegolmBackupKey()
	if err != nil {
		return fmt.Errorf("make the key of a backup: %w", err)
	}
	auth := backup.MegolmAuthData{PublicKey: publicOf(key)}
	master := s.mach.CrossSigningKeys.MasterKey
	signature, err := master.SignJSON(auth)
	if err != nil {
		return fmt.Errorf("sign the backup: %w", err)
	}
	auth.Signatures = signatures.NewSingleSignature(c.user, id.KeyAlgorithmEd25519, string(master.PublicKey()), signature)
	if err := s.mach.SSSS.SetEncryptedAccountData(ctx, event.AccountDataMegolmBackupKey, key.Bytes(), recovery); err != nil {
		return failure(err, false)
	}
	made, err := s.api.CreateKeyBackupVersion(ctx, &mautrix.ReqRoomKeysVersionCreate[backup.MegolmAuthData]{
		Algorithm: id.KeyBackupAlgorithmMegolmBackupV1, AuthData: auth,
	})
	if err != nil {
		return failure(err, false)
	}
	c.log.Info("a backup of the account's keys was made", "version", string(made.Version))
	return c.useBackup(ctx, s, made.Version, key)
}

func (c *Client) useBackup(ctx context.Context, s *session, version id.KeyBackupVersion, key *backup.MegolmBackupKey) error {
	store := crypto.NewMemoryStore(nil)
	if err := store.PutAccount(ctx, s.mach.GetAccount()); err != nil {
		return err
	}
	mach := crypto.NewOlmMachine(s.api, nil, store, &states{c: c, s: s})
	b := &backedUp{version: version, key: key, absent: map[id.SessionID]bool{}, mach: mach}
	if err := b.mach.Load(ctx); err != nil {
		return fmt.Errorf("open the backup: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.backup = b
	return nil
}

// backup is the open one.
func (c *Client) backup(s *session) *backedUp {
	c.mu.Lock()
	defer c.mu.Unlock()
	return s.backup
}

// backUp puts new keys into the server's backup. It holds nothing up: what cannot be
// done now is done later.
func (c *Client) backUp(ctx context.Context, s *session) {
	if s.mach.CrossSigningKeys == nil || c.now().Before(s.resting) {
		return
	}
	err := c.saves(ctx, s)
	if err == nil {
		return
	}
	s.resting = c.now().Add(backupRest)
	if refusedOnly(failure(err, false)) {
		s.resting = c.now().Add(time.Hour)
	}
	if errors.Is(err, mautrix.MWrongRoomKeysVersion) { // another program made a new one
		c.mu.Lock()
		s.backup, s.resting = nil, time.Time{}
		c.mu.Unlock()
	}
	if errors.Is(err, errNoBackup) {
		s.resting = c.now().Add(24 * time.Hour)
		c.saysUnsigned("What is encrypted cannot be read back with another device: " + line(err.Error(), 300) + ".")
		return
	}
	c.log.Warn("keys could not be backed up; it is tried again", "err", failure(err, false))
}

// saves opens the backup where it is not open, and puts what waits into it.
func (c *Client) saves(ctx context.Context, s *session) error {
	if c.backup(s) == nil {
		recovery, err := c.unlock(ctx, s)
		if err != nil {
			return err
		}
		if err := c.openBackup(ctx, s, recovery); err != nil {
			return err
		}
	}
	b := c.backup(s)
	for {
		list, err := s.keys.waiting(ctx)
		if err != nil || len(list) == 0 {
			return err
		}
		part := list[:min(len(list), mostAtOnce)]
		ask := &mautrix.ReqKeyBackup{Rooms: map[id.RoomID]mautrix.ReqRoomKeyBackup{}}
		var saved []*crypto.InboundGroupSession
		for _, of := range part {
			g, err := s.keys.GetGroupSession(ctx, of.Room, of.Session)
			if err != nil || g == nil {
				continue // it was taken back
			}
			data, err := b.sealed(g)
			if err != nil {
				return err
			}
			if ask.Rooms[of.Room].Sessions == nil {
				ask.Rooms[of.Room] = mautrix.ReqRoomKeyBackup{Sessions: map[id.SessionID]mautrix.ReqKeyBackupData{}}
			}
			ask.Rooms[of.Room].Sessions[of.Session] = data
			saved = append(saved, g)
		}
		if len(saved) > 0 {
			if _, err := s.api.PutKeysInBackup(ctx, b.version, ask); err != nil {
				return err
			}
		}
		for _, g := range saved {
			g.KeyBackupVersion = b.version
			if err := s.keys.PutGroupSession(ctx, g); err != nil {
				return err
			}
		}
		if list, err = s.keys.waiting(ctx); err != nil { // some may have come
			return err
		}
		if err := s.keys.waits(ctx, slices.DeleteFunc(list, func(of roomKey) bool { return slices.Contains(part, of) })); err != nil {
			return err
		}
	}
}

// sealed is a key as it lies in the backup.
func (b *backedUp) sealed(g *crypto.InboundGroupSession) (out mautrix.ReqKeyBackupData, err error) {
	first := g.Internal.FirstKnownIndex()
	key, err := g.Internal.Export(first)
	if err != nil {
		return out, fmt.Errorf("write a key for the backup: %w", err)
	}
	closed, err := backup.EncryptSessionData(b.key, backup.MegolmSessionData{
		Algorithm: id.AlgorithmMegolmV1, ForwardingKeyChain: slices.Concat([]string{}, g.ForwardingChains), SenderKey: g.SenderKey,
		SenderClaimedKeys: backup.SenderClaimedKeys{Ed25519: g.SigningKey}, SessionKey: string(key), SharedHistory: g.SharedHistory,
	})
	if err != nil {
		return out, fmt.Errorf("close a key for the backup: %w", err)
	}
	data, err := json.Marshal(closed)
	return mautrix.ReqKeyBackupData{FirstMessageIndex: int(first), ForwardedCount: len(g.ForwardingChains), SessionData: data}, err
}

// recall opens what was said before: with the keys that people gave, and else with those
// of the backup.
func (c *Client) recall(ctx context.Context, s *session, e *event.Event) (*event.Event, error) {
	plain, err := s.open(ctx, e)
	b := c.backup(s)
	if b == nil || plain != nil || err != nil && !errors.Is(err, errNoKey) {
		return plain, err
	}
	content, ok := e.Content.Parsed.(*event.EncryptedEventContent)
	if !ok {
		return nil, nil
	}
	c.mu.Lock()
	absent := b.absent[content.SessionID]
	c.mu.Unlock()
	if absent {
		return nil, errNoKey
	}
	if had, err := b.mach.CryptoStore.GetGroupSession(ctx, e.RoomID, content.SessionID); err != nil || had == nil {
		if err := c.fromBackup(ctx, s, b, roomKey{e.RoomID, content.SessionID}); err != nil {
			return nil, err
		}
	}
	if plain, err = b.mach.DecryptMegolmEvent(ctx, e); err != nil {
		return nil, errNoKey
	}
	return plain, nil
}

// fromBackup takes one key out of the backup.
func (c *Client) fromBackup(ctx context.Context, s *session, b *backedUp, of roomKey) error {
	got, err := s.api.GetKeyBackupForRoomAndSession(ctx, b.version, of.Room, of.Session)
	if err == nil {
		var data *backup.MegolmSessionData
		if data, err = got.SessionData.Decrypt(b.key); err == nil {
			_, err = b.mach.ImportRoomKeyFromBackup(ctx, b.version, of.Room, of.Session, data)
		}
		if err == nil {
			return nil
		}
		err = fmt.Errorf("%w: %w", olm.ErrBadInput, err)
	}
	if err := failure(err, false); !refusedOnly(err) && !errors.Is(err, olm.ErrBadInput) {
		return err // it passes
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(b.absent) >= mostAbsent {
		clear(b.absent)
	}
	b.absent[of.Session] = true
	return errNoKey
}
