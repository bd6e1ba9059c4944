//go:build goolm

package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/crypto/olm"
	"maunium.net/go/mautrix/id"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// keys is the store of a device's keys. What a ratchet moved is in the gateway's
// store before it is used: the account, the sessions with other devices, the keys of
// rooms that others gave, which message has which number, and which devices were
// verified. Our own keys of rooms are in memory: each start makes new ones, so that none
// is used twice. Who has which devices is asked anew. It implements crypto.Store.
type keys struct {
	*crypto.MemoryStore
	durable channel.Durable
	prefix  string // of the device
	pickle  []byte

	tell func(format string, args ...any) // a person

	mu      sync.Mutex
	loaded  map[string]bool
	broken  map[string]error // what could not be kept
	trusts  map[id.UserID]trust
	told    map[id.Ed25519]bool // which keys a person was told of
	pending []roomKey           // not in the server's backup; nil: not read yet

	signing sync.Mutex // of who signs whom; the library's store changes that without a lock
}

func newKeys(c *Client, device id.DeviceID) *keys {
	sum := sha256.Sum256([]byte(device))
	return &keys{
		MemoryStore: crypto.NewMemoryStore(nil), durable: c.durable, prefix: "keys." + hex.EncodeToString(sum[:6]) + ".",
		pickle: []byte(device), tell: c.trouble, loaded: map[string]bool{}, broken: map[string]error{}, trusts: map[id.UserID]trust{},
		told: map[id.Ed25519]bool{},
	}
}

// trouble is why the keys cannot be kept; nil: they can.
func (k *keys) trouble() error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, err := range k.broken {
		return err
	}
	return nil
}

// name is where something is kept.
func (k *keys) name(parts ...string) string {
	h := sha256.New()
	for _, p := range parts[1:] {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return k.prefix + parts[0] + "." + hex.EncodeToString(h.Sum(nil)[:16])
}

// put keeps a value.
func (k *keys) put(ctx context.Context, name string, v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		err = k.durable.Put(ctx, name, b)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.broken[name] = fmt.Errorf("keep keys of encrypted rooms: %w", err)
		return k.broken[name]
	}
	delete(k.broken, name)
	return nil
}

// get reads a value once; found is false when there is none, or it was read before.
func (k *keys) get(ctx context.Context, name string, v any) (found bool, err error) {
	k.mu.Lock()
	before := k.loaded[name]
	k.mu.Unlock()
	if before {
		return false, nil
	}
	b, err := k.durable.Get(ctx, name)
	if err != nil {
		return false, fmt.Errorf("read keys of encrypted rooms: %w", err)
	}
	if len(b) > 0 {
		if err := json.Unmarshal(b, v); err != nil {
			return false, fmt.Errorf("read keys of encrypted rooms: %w", err)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.loaded[name] = true
	return len(b) > 0, nil
}

type keptAccount struct {
	Pickle []byte `json:"pickle"`
	Shared bool   `json:"shared"`
}

// PutAccount implements crypto.Store.
func (k *keys) PutAccount(ctx context.Context, a *crypto.OlmAccount) error {
	b, err := a.Internal.Pickle(k.pickle)
	if err != nil {
		return err
	}
	if err := k.put(ctx, k.name("account"), keptAccount{b, a.Shared}); err != nil {
		return err
	}
	return k.MemoryStore.PutAccount(ctx, a)
}

// GetAccount implements crypto.Store.
func (k *keys) GetAccount(ctx context.Context) (*crypto.OlmAccount, error) {
	var v keptAccount
	found, err := k.get(ctx, k.name("account"), &v)
	if err != nil {
		return nil, err
	}
	if found {
		inner, err := olm.AccountFromPickled(v.Pickle, k.pickle)
		if err != nil {
			return nil, fmt.Errorf("read the keys of the device: %w", err)
		}
		return k.Account, k.MemoryStore.PutAccount(ctx, &crypto.OlmAccount{Internal: inner, Shared: v.Shared})
	}
	return k.MemoryStore.GetAccount(ctx)
}

type keptSession struct {
	Pickle                        []byte `json:"pickle"`
	Created, Encrypted, Decrypted time.Time
}

// sessions loads those with a device.
func (k *keys) sessions(ctx context.Context, of id.SenderKey) (crypto.OlmSessionList, error) {
	var list []keptSession
	found, err := k.get(ctx, k.name("olm", string(of)), &list)
	if err != nil {
		return nil, err
	}
	if found {
		for _, v := range list {
			inner, err := olm.SessionFromPickled(v.Pickle, k.pickle)
			if err != nil {
				return nil, fmt.Errorf("read keys of encrypted rooms: %w", err)
			}
			s := &crypto.OlmSession{Internal: inner}
			s.CreationTime, s.LastEncryptedTime, s.LastDecryptedTime = v.Created, v.Encrypted, v.Decrypted
			if err := k.MemoryStore.AddSession(ctx, of, s); err != nil {
				return nil, err
			}
		}
	}
	return k.MemoryStore.GetSessions(ctx, of)
}

// keepSessions keeps those with a device.
func (k *keys) keepSessions(ctx context.Context, of id.SenderKey) error {
	list, err := k.MemoryStore.GetSessions(ctx, of)
	if err != nil {
		return err
	}
	var out []keptSession
	for _, s := range list {
		b, err := s.Internal.Pickle(k.pickle)
		if err != nil {
			return err
		}
		out = append(out, keptSession{b, s.CreationTime, s.LastEncryptedTime, s.LastDecryptedTime})
	}
	return k.put(ctx, k.name("olm", string(of)), out)
}

// AddSession implements crypto.Store.
func (k *keys) AddSession(ctx context.Context, of id.SenderKey, s *crypto.OlmSession) error {
	if _, err := k.sessions(ctx, of); err != nil {
		return err
	}
	if err := k.MemoryStore.AddSession(ctx, of, s); err != nil {
		return err
	}
	return k.keepSessions(ctx, of)
}

// UpdateSession implements crypto.Store.
func (k *keys) UpdateSession(ctx context.Context, of id.SenderKey, _ *crypto.OlmSession) error {
	return k.keepSessions(ctx, of)
}

// DeleteSession implements crypto.Store.
func (k *keys) DeleteSession(ctx context.Context, of id.SenderKey, s *crypto.OlmSession) error {
	if _, err := k.sessions(ctx, of); err != nil {
		return err
	}
	if err := k.MemoryStore.DeleteSession(ctx, of, s); err != nil {
		return err
	}
	return k.keepSessions(ctx, of)
}

// HasSession implements crypto.Store.
func (k *keys) HasSession(ctx context.Context, of id.SenderKey) bool {
	list, err := k.sessions(ctx, of)
	return err == nil && len(list) > 0
}

// GetSessions implements crypto.Store.
func (k *keys) GetSessions(ctx context.Context, of id.SenderKey) (crypto.OlmSessionList, error) {
	return k.sessions(ctx, of)
}

// GetLatestSession implements crypto.Store.
func (k *keys) GetLatestSession(ctx context.Context, of id.SenderKey) (*crypto.OlmSession, error) {
	if _, err := k.sessions(ctx, of); err != nil {
		return nil, err
	}
	return k.MemoryStore.GetLatestSession(ctx, of)
}

// GetNewestSessionCreationTS implements crypto.Store.
func (k *keys) GetNewestSessionCreationTS(ctx context.Context, of id.SenderKey) (time.Time, error) {
	if _, err := k.sessions(ctx, of); err != nil {
		return time.Time{}, err
	}
	return k.MemoryStore.GetNewestSessionCreationTS(ctx, of)
}

type keptRoomKey struct {
	Pickle     []byte               `json:"pickle"`
	SigningKey id.Ed25519           `json:"signingKey"`
	SenderKey  id.Curve25519        `json:"senderKey"`
	RoomID     id.RoomID            `json:"roomId"`
	Forwarded  []string             `json:"forwarded,omitempty"`
	Safety     crypto.RatchetSafety `json:"safety"`
	ReceivedAt time.Time            `json:"receivedAt"`
	MaxAge     int64                `json:"maxAge,omitempty"`
	MaxNumber  int                  `json:"maxNumber,omitempty"`
	History    *bool                `json:"history,omitempty"`
	Source     id.KeySource         `json:"source,omitempty"`
	SourceUser id.UserID            `json:"sourceUser,omitempty"`
	Backup     id.KeyBackupVersion  `json:"backup,omitempty"` // in which it is
}

// PutGroupSession implements crypto.Store.
func (k *keys) PutGroupSession(ctx context.Context, g *crypto.InboundGroupSession) error {
	b, err := g.Internal.Pickle(k.pickle)
	if err != nil {
		return err
	}
	name := k.name("room", string(g.RoomID), string(g.ID()))
	if err := k.put(ctx, name, keptRoomKey{
		b, g.SigningKey, g.SenderKey, g.RoomID, g.ForwardingChains, g.RatchetSafety, g.ReceivedAt, g.MaxAge, g.MaxMessages, g.SharedHistory,
		g.KeySource, g.SourceUser, g.KeyBackupVersion,
	}); err != nil {
		return err
	}
	k.mu.Lock()
	k.loaded[name] = true
	k.mu.Unlock()
	if g.KeyBackupVersion == "" {
		if err := k.unsaved(ctx, roomKey{g.RoomID, g.ID()}); err != nil {
			return err
		}
	}
	return k.MemoryStore.PutGroupSession(ctx, g)
}

// GetGroupSession implements crypto.Store.
func (k *keys) GetGroupSession(ctx context.Context, room id.RoomID, session id.SessionID) (*crypto.InboundGroupSession, error) {
	var v keptRoomKey
	found, err := k.get(ctx, k.name("room", string(room), string(session)), &v)
	if err != nil {
		return nil, err
	}
	if found && len(v.Pickle) > 0 {
		inner, err := olm.InboundGroupSessionFromPickled(v.Pickle, k.pickle)
		if err != nil {
			return nil, fmt.Errorf("read keys of encrypted rooms: %w", err)
		}
		if inner.ID() != session || v.RoomID != room {
			return nil, errors.New("a key of an encrypted room is another one than it says")
		}
		if err := k.MemoryStore.PutGroupSession(ctx, &crypto.InboundGroupSession{
			Internal: inner, SigningKey: v.SigningKey, SenderKey: v.SenderKey, RoomID: v.RoomID, ForwardingChains: v.Forwarded,
			RatchetSafety: v.Safety, ReceivedAt: v.ReceivedAt, MaxAge: v.MaxAge, MaxMessages: v.MaxNumber, SharedHistory: v.History,
			KeySource: v.Source, SourceUser: v.SourceUser, KeyBackupVersion: v.Backup,
		}); err != nil {
			return nil, err
		}
	}
	return k.MemoryStore.GetGroupSession(ctx, room, session)
}

// RedactGroupSession implements crypto.Store.
func (k *keys) RedactGroupSession(ctx context.Context, room id.RoomID, session id.SessionID, why string) error {
	if err := k.put(ctx, k.name("room", string(room), string(session)), keptRoomKey{}); err != nil {
		return err
	}
	return k.MemoryStore.RedactGroupSession(ctx, room, session, why)
}

// numbered is which message has a number of a room's key.
type numbered struct {
	Event id.EventID `json:"event"`
	At    int64      `json:"at"`
}

// ValidateMessageIndex implements crypto.Store: an old message that the server gives
// again as a new one is refused, also after a restart.
func (k *keys) ValidateMessageIndex(ctx context.Context, session id.SessionID, event id.EventID, index uint, at int64) (bool, error) {
	name := k.name("number", string(session), strconv.FormatUint(uint64(index), 10))
	var had numbered
	found, err := k.get(ctx, name, &had)
	if err != nil {
		return false, err
	}
	if found {
		if ok, err := k.MemoryStore.ValidateMessageIndex(ctx, session, had.Event, index, had.At); err != nil || !ok {
			return false, err
		}
		return k.MemoryStore.ValidateMessageIndex(ctx, session, event, index, at)
	}
	ok, err := k.MemoryStore.ValidateMessageIndex(ctx, session, event, index, at)
	if err != nil || !ok {
		return ok, err
	}
	return true, k.put(ctx, name, numbered{event, at})
}
