package push

import (
	"cmp"
	"context"
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Limits of what devices can have kept.
const (
	maxPerDevice = 4  // the same browser subscribes anew from time to time
	maxAll       = 64 // of a household
	maxEndpoint  = 2048
)

// subscription is a browser that wants to be told.
type subscription struct {
	ID        string                         `json:"id"`
	DeviceID  string                         `json:"deviceId"`
	Endpoint  string                         `json:"endpoint"` // who knows it and the keys can write there
	Keys      protocol.PushKeys              `json:"keys"`
	Public    string                         `json:"public"` // our key, as the browser knows it
	CreatedMs int64                          `json:"createdMs"`
	Wants     protocol.PushDevicePreferences `json:"wants"`
}

func idOf(endpoint string) string {
	sum := sha256.Sum256([]byte(endpoint))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// checkEndpoint says whether an address can be a push service's: https, and nothing
// that leads into this network.
func checkEndpoint(raw string) error {
	if len(raw) > maxEndpoint || !strings.HasPrefix(raw, "https://") {
		return fmt.Errorf("the address of a push service begins with https:// and has at most %d characters", maxEndpoint)
	}
	u, err := egress.Parse(raw)
	if err != nil {
		return err
	}
	if p := u.Port(); p != "" && p != "443" {
		return fmt.Errorf("push services are reached on port 443 only")
	}
	return nil
}

// checkKeys says whether something can be encrypted for a browser.
func checkKeys(k protocol.PushKeys) error {
	point, err := decode(k.P256dh)
	if err != nil {
		return fmt.Errorf("p256dh is not base64url")
	}
	if _, err := ecdh.P256().NewPublicKey(point); err != nil {
		return fmt.Errorf("p256dh is not a point of the curve P-256")
	}
	if auth, err := decode(k.Auth); err != nil || len(auth) != 16 {
		return fmt.Errorf("auth is not 16 bytes in base64url")
	}
	return nil
}

// decode reads base64 of both alphabets, with and without its end.
func decode(s string) ([]byte, error) {
	s = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(s, "="))
	return base64.RawURLEncoding.DecodeString(s)
}

// subscriptions are all of them. Each is in the store before it counts.
type subscriptions struct {
	table store.SmallTable[subscription]

	mu  sync.Mutex
	all map[string]subscription
}

func openSubscriptions(ctx context.Context, db *store.DB) (*subscriptions, error) {
	s := &subscriptions{
		table: store.NewSmallTable(db, "push-subscriptions", func(s subscription) string { return s.ID }), all: map[string]subscription{},
	}
	list, err := s.table.Load(ctx)
	if err != nil {
		return nil, err
	}
	for _, one := range list {
		s.all[one.ID] = one
	}
	return s, nil
}

// list is all of them, the newest first.
func (s *subscriptions) list() []subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]subscription, 0, len(s.all))
	for _, one := range s.all {
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b subscription) int {
		return cmp.Or(cmp.Compare(b.CreatedMs, a.CreatedMs), cmp.Compare(a.ID, b.ID))
	})
	return out
}

func (s *subscriptions) get(id string) (subscription, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.all[id]
	return one, ok
}

// put keeps one, and of its device and of all no more than there may be.
func (s *subscriptions) put(ctx context.Context, one subscription) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.table.Save(ctx, one); err != nil {
		return err
	}
	s.all[one.ID] = one
	for _, limit := range []struct {
		most int
		of   func(subscription) bool
	}{
		{maxPerDevice, func(o subscription) bool { return o.DeviceID == one.DeviceID }},
		{maxAll, func(subscription) bool { return true }},
	} {
		if err := s.bound(ctx, one.ID, limit.most, limit.of); err != nil {
			return err
		}
	}
	return nil
}

// bound forgets the oldest of some; s.mu is held.
func (s *subscriptions) bound(ctx context.Context, keep string, most int, of func(subscription) bool) error {
	var some []subscription
	for _, o := range s.all {
		if of(o) && o.ID != keep {
			some = append(some, o)
		}
	}
	slices.SortFunc(some, func(a, b subscription) int {
		return cmp.Or(cmp.Compare(a.CreatedMs, b.CreatedMs), cmp.Compare(a.ID, b.ID))
	})
	for _, o := range some[:max(0, len(some)+1-most)] {
		if err := s.table.Forget(ctx, o.ID); err != nil {
			return err
		}
		delete(s.all, o.ID)
	}
	return nil
}

// forget takes away those that match: for good, also when the disk takes no change
// now, as long as we run.
func (s *subscriptions) forget(ctx context.Context, match func(subscription) bool) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, one := range s.all {
		if !match(one) {
			continue
		}
		delete(s.all, id)
		if ferr := s.table.Forget(ctx, id); ferr != nil {
			err = fmt.Errorf("forget a subscription: %w", ferr)
		}
	}
	return err
}

// subscribed implements recipients.
func (p *Push) subscribed(id string) (subscription, bool) { return p.subs.get(id) }
