package accounts

import (
	"context"
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// vault keeps credentials among the secrets.
type vault struct{ keys secret.Store }

func (v vault) Get(ctx context.Context, name string) (string, error) {
	s, err := v.keys.Get(ctx, name)
	if errors.Is(err, secret.ErrNotFound) {
		return "", fmt.Errorf("%w: %w", profile.ErrNoCredential, err)
	}
	return s.Reveal(), err
}

func (v vault) Set(ctx context.Context, name, value string) error {
	return v.keys.Set(ctx, name, secret.New(value))
}

func (v vault) Delete(ctx context.Context, name string) error {
	err := v.keys.Delete(ctx, name)
	if errors.Is(err, secret.ErrNotFound) {
		return fmt.Errorf("%w: %w", profile.ErrNoCredential, err)
	}
	return err
}

// state keeps what the book remembers in the store.
type state struct {
	db   *store.DB
	rows store.Bucket[profile.Record]
}

func newState(db *store.DB) state {
	return state{db, store.NewBucket[profile.Record]("model-accounts")}
}

func (s state) Load(context.Context) (all []profile.Record, err error) {
	err = s.db.View(func(tx *store.Tx) error {
		for row, err := range s.rows.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			all = append(all, row.Value)
		}
		return nil
	})
	return all, err
}

func (s state) put(r profile.Record) store.Write {
	return store.Write{Do: func(tx *store.Tx) error { return s.rows.Put(tx, []byte(r.ID), r) }}
}

func (s state) Save(ctx context.Context, r profile.Record) error {
	return s.db.Update(ctx, s.put(r))
}

func (s state) Touch(ctx context.Context, r profile.Record) error {
	return s.db.Post(ctx, s.put(r))
}

func (s state) Delete(ctx context.Context, id string) error {
	return s.db.Update(ctx, store.Write{Do: func(tx *store.Tx) error { return s.rows.Delete(tx, []byte(id)) }})
}
