//go:build goolm

package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/id"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// generationKey is where the server keeps how often we encrypted to other devices.
func generationKey(device string) string { return "io.hearth.generation." + device }

type generation struct {
	N int64 `json:"n"`
}

// enter logs in and loads the keys of the device.
func (c *Client) enter(ctx context.Context) (*session, error) {
	s := &session{fetched: map[id.UserID]time.Time{}}
	api, err := c.api(func() error { return s.keys.trouble() })
	if err != nil {
		return nil, err
	}
	s.api = api
	if err := c.login(ctx, api); err != nil {
		return nil, err
	}
	if err := c.sameGeneration(ctx, api); err != nil {
		return nil, err
	}
	s.keys = newKeys(c, api.DeviceID)
	s.mach = crypto.NewOlmMachine(api, nil, s.keys, &states{c: c, s: s})
	if err := s.mach.Load(ctx); err != nil {
		return nil, fmt.Errorf("load the keys of the device: %w", err)
	}
	if !s.mach.GetAccount().Shared {
		if err := s.mach.ShareKeys(ctx, -1); err != nil {
			return nil, failure(err, false)
		}
	}
	if err := c.sign(ctx, s); err != nil {
		return nil, err
	}
	return s, nil
}

// login takes the device that is kept, or makes one.
func (c *Client) login(ctx context.Context, api *mautrix.Client) error {
	c.mu.Lock()
	k := c.kept
	c.mu.Unlock()
	if c.token != "" && k.Token != c.token { // another one was configured
		k.Token, k.Device = c.token, ""
	}
	if k.Token != "" {
		api.AccessToken = k.Token
		who, err := api.Whoami(ctx)
		if err = failure(err, false); err != nil && (c.password == "" || !errors.Is(err, channel.ErrAuth)) {
			return err
		}
		if err == nil {
			if who.UserID != c.user {
				return fmt.Errorf("%w: the access token is that of %s, not of %s", channel.ErrAuth, who.UserID, c.user)
			}
			api.DeviceID = who.DeviceID
			if who.DeviceID == k.Device {
				return nil
			}
			return c.newDevice(ctx, api)
		}
		c.log.Warn("the device was logged out; a new one is made", "device", k.Device)
	}
	if c.password == "" {
		return fmt.Errorf("%w: the access token is not accepted; make a new one", channel.ErrAuth)
	}
	return c.makeDevice(ctx, api)
}

// makeDevice logs in with the password.
func (c *Client) makeDevice(ctx context.Context, api *mautrix.Client) error {
	api.AccessToken = ""
	_, err := api.Login(ctx, &mautrix.ReqLogin{
		Type: mautrix.AuthTypePassword, Identifier: mautrix.UserIdentifier{Type: mautrix.IdentifierTypeUser, User: string(c.user)},
		Password: c.password, InitialDeviceDisplayName: c.device, StoreCredentials: true,
	})
	if err != nil {
		if err = failure(err, false); errors.Is(err, channel.ErrRefused) {
			err = fmt.Errorf("%w: %s does not let %s in (%w). Check userId and password", channel.ErrAuth, c.server, c.user, err)
		}
		return err
	}
	if api.UserID != c.user {
		return fmt.Errorf("%w: the server calls the account %s, not %s; write that as userId", channel.ErrAuth, api.UserID, c.user)
	}
	return c.newDevice(ctx, api)
}

// errLoggedOut ends Run.
var errLoggedOut = fmt.Errorf("%w: the device was logged out here. `hearth channels start matrix` logs a new one in", channel.ErrAuth)

// LogOut implements channel.LogOuter: the server forgets the device and its token.
func (c *Client) LogOut(ctx context.Context) error {
	c.mu.Lock()
	s := c.live
	c.mu.Unlock()
	if s == nil {
		return errors.New("Matrix is not connected")
	}
	if _, err := s.api.Logout(ctx); err != nil {
		return fmt.Errorf("log the device out: %w", failure(err, true))
	}
	err := c.keep(ctx, func(k *kept) {
		k.Device, k.Token, k.Generation, k.Before, k.Later, k.Verifying, k.SignedFor = "", "", 0, 0, nil, nil, ""
	})
	s.end(errLoggedOut)
	return err
}

// newDevice begins with a device that has no keys yet.
func (c *Client) newDevice(ctx context.Context, api *mautrix.Client) error {
	return c.keep(ctx, func(k *kept) {
		k.Device, k.Token, k.Generation, k.Before, k.Later = api.DeviceID, api.AccessToken, 0, 0, nil
		c.confirmed = 0
	})
}

// sameGeneration makes a new device when what is kept is an old backup: whoever uses
// keys twice shows what they hide.
func (c *Client) sameGeneration(ctx context.Context, api *mautrix.Client) error {
	var theirs generation
	err := api.GetAccountData(ctx, generationKey(string(api.DeviceID)), &theirs)
	if err = failure(err, false); err != nil && !errors.Is(err, channel.ErrRefused) { // not found: zero
		return err
	}
	c.mu.Lock()
	ours, before := c.kept.Generation, c.kept.Before
	c.confirmed = theirs.N
	c.mu.Unlock()
	if theirs.N == ours || theirs.N == before {
		return c.nextGeneration(ctx, api)
	}
	if c.password == "" {
		return fmt.Errorf("%w: what Hearth has kept of the device %s is older than what that device has said since, as after restoring a "+
			"backup. Its keys must not be used again: make a new access token, or set a password", channel.ErrAuth, api.DeviceID)
	}
	old := api.DeviceID
	if err := c.makeDevice(ctx, api); err != nil {
		return err
	}
	c.trouble("What Hearth has kept is older than what its device %s has said since, as after restoring a backup. So that no key is used "+
		"twice it has a new device now, %s; messages from before that it has not read stay closed to it.", old, api.DeviceID)
	return c.nextGeneration(ctx, api)
}

// nextGeneration counts on, here first: when we end in between, the server still has
// the number before. One that the server may not have got is told again.
func (c *Client) nextGeneration(ctx context.Context, api *mautrix.Client) error {
	var next int64
	if err := c.keep(ctx, func(k *kept) {
		if k.Before = c.confirmed; k.Generation == c.confirmed {
			k.Generation++
		}
		next = k.Generation
	}); err != nil {
		return err
	}
	if err := api.SetAccountData(ctx, generationKey(string(api.DeviceID)), generation{next}); err != nil {
		return failure(err, false)
	}
	c.mu.Lock()
	c.confirmed = next
	c.mu.Unlock()
	return nil
}
