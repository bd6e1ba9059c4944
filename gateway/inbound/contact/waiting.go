package contact

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// ErrNotWaiting is the error of Admit and Dismiss.
var ErrNotWaiting = errors.New("this request is not waiting any more: it was decided, or it expired (requests live one hour)")

// requestIDLength is enough that nobody guesses one.
const requestIDLength = 32

// RequestID names the request without its code, which only who made it knows.
func (r Request) RequestID() string {
	sum := sha256.Sum256(key(r.Channel, r.Account, r.ID, strconv.FormatInt(r.AskedAt, 10), r.Code))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:requestIDLength]
}

// Named is the request of an account that waits and has this RequestID.
func (b *Book) Named(channel, account, id string) (r Request, err error) {
	all, err := b.Requests()
	if err != nil {
		return r, err
	}
	for _, r := range all {
		if r.Channel == channel && r.Account == account && same(r.RequestID(), id) {
			return r, nil
		}
	}
	return r, ErrNotWaiting
}

// Admit lets in who made a request, as Approve does by its code. may is asked in the
// transaction whether anybody is the owner yet, and says what they have.
func (b *Book) Admit(ctx context.Context, r Request, may func(owned bool) Rights) (c Contact, err error) {
	err = b.take(ctx, r, func(tx *store.Tx) error {
		owned := false
		for row, err := range b.contacts.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			owned = owned || row.Value.Owner
		}
		has := may(owned)
		c = Contact{Person: r.Person, Owner: has.Owner, Shared: has.Shared, ApprovedAt: b.now().UnixMilli()}
		return b.contacts.Put(tx, key(r.Channel, r.Account, r.ID), c)
	})
	if err == nil {
		err = b.back(ctx, c.Person)
	}
	return c, err
}

// Dismiss drops a request; who made it may ask again.
func (b *Book) Dismiss(ctx context.Context, r Request) error {
	return b.take(ctx, r, func(*store.Tx) error { return nil })
}

// take removes a request that still waits, and does something with it.
func (b *Book) take(ctx context.Context, r Request, do func(*store.Tx) error) error {
	return b.db.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		k := key(r.Channel, r.Account, r.ID)
		now, ok, err := b.requests.Get(tx, k)
		if err != nil {
			return err
		}
		if !ok || now != r || b.now().UnixMilli() >= r.ExpiresAt {
			return ErrNotWaiting
		}
		if err := b.requests.Delete(tx, k); err != nil {
			return err
		}
		return do(tx)
	}})
}
