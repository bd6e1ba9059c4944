package push

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

// keyName is the name of our private key among the secrets.
const keyName = "hearth/push-vapid"

// pair is the key by which push services know us (VAPID), in base64url.
type pair struct{ private, public string }

// keys makes our key when it is first needed and keeps it where secrets are kept.
type keys struct {
	store secret.Store

	mu sync.Mutex
}

// get returns the key. There is no other one while the place that keeps it is
// locked: browsers are bound to a key.
func (k *keys) get(ctx context.Context) (pair, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, err := k.store.Get(ctx, keyName)
	if err == nil {
		return pairOf(v)
	}
	if !errors.Is(err, secret.ErrNotFound) {
		return pair{}, fmt.Errorf("the key for notifications cannot be read: %w", err)
	}
	fresh, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return pair{}, fmt.Errorf("make a key for notifications: %w", err)
	}
	v = secret.New(base64.RawURLEncoding.EncodeToString(fresh.Bytes()))
	if err := k.store.Set(ctx, keyName, v); err != nil {
		return pair{}, fmt.Errorf("the key for notifications cannot be kept: %w", err)
	}
	return pairOf(v)
}

func pairOf(v secret.Secret) (pair, error) {
	raw, err := base64.RawURLEncoding.DecodeString(v.Reveal())
	if err != nil {
		return pair{}, errDamagedKey
	}
	private, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return pair{}, errDamagedKey
	}
	return pair{v.Reveal(), base64.RawURLEncoding.EncodeToString(private.PublicKey().Bytes())}, nil
}

var errDamagedKey = errors.New("the secret " + keyName + " is not a key; `hearth secrets remove " + keyName + "` has a new one made, and " +
	"each browser switches notifications on again when it is opened")
