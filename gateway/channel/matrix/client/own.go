//go:build goolm

package client

import (
	"context"
	"errors"
	"fmt"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/crypto/ssss"
	"maunium.net/go/mautrix/id"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// errAnew ends a connection that has to begin again with the account's new keys.
var errAnew = errors.New("the account has new keys")

// Login implements channel.LoginAsker. Where the account has no keys with which to sign
// its devices, it offers to make them: it shows the recovery key that will open them, and
// makes nothing before the person says that they have it.
func (c *Client) Login(ctx context.Context) error {
	s, err := c.current()
	if err != nil {
		return err
	}
	c.verifying.Lock()
	defer c.verifying.Unlock()
	c.lapse(ctx, s)
	c.mu.Lock()
	nothing := c.recovery != "" || c.ask.At(c.now()).Kind != ""
	c.mu.Unlock()
	if nothing || c.compare != nil {
		return nil
	}
	if none, err := c.ownsNothing(ctx, s); err != nil || !none {
		return err
	}
	key, err := ssss.NewKey("")
	if err != nil {
		return fmt.Errorf("make a recovery key: %w", err)
	}
	c.making = key
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ask = channel.Ask{Kind: channel.AskDecide, Value: key.RecoveryKey(), Until: c.now().Add(channel.LongestAsk), Words: string(c.user) +
		" has no keys with which others can tell that this device is its own. With a yes Hearth makes them. This is the recovery key " +
		"that opens them, and all messages that are backed up: keep it where you keep passwords, it is shown this once. Then give it " +
		"to Hearth too: hearth config set channels.matrix.recoveryKey asks for it. Do you have it, and are the keys to be made?"}
	return nil
}

// ownsNothing reports whether the account has neither keys that sign its devices nor a
// recovery key.
func (c *Client) ownsNothing(ctx context.Context, s *session) (bool, error) {
	got, err := s.api.QueryKeys(ctx, &mautrix.ReqQueryKeys{DeviceKeys: mautrix.DeviceKeysRequest{c.user: mautrix.DeviceIDList{}}})
	if err != nil {
		return false, fmt.Errorf("ask the server for the keys of the account: %w", failure(err, false))
	}
	if _, has := got.MasterKeys[c.user]; has {
		return false, nil
	}
	switch _, err := s.mach.SSSS.GetDefaultKeyID(ctx); {
	case errors.Is(err, ssss.ErrNoDefaultKeyAccountDataEvent), errors.Is(err, ssss.ErrNoKeyFieldInAccountDataEvent):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("ask the server for the recovery key of the account: %w", failure(err, false))
	}
	return false, fmt.Errorf("%w: another program has made a recovery key for %s already. hearth config set channels.matrix.recoveryKey "+
		"asks for it", channel.ErrRefused, c.user)
}

// decided is what the person says to the recovery key that they were shown.
func (c *Client) decided(ctx context.Context, s *session, yes bool) error {
	key := c.making
	if !yes {
		c.making = nil
		c.asked(channel.Ask{}, "")
		return nil
	}
	if err := c.makeKeys(ctx, s, key); err != nil {
		return fmt.Errorf("the keys of the account were not made: %w", err)
	}
	c.making = nil
	c.asked(channel.Ask{}, "The account has keys now. So that Hearth can use them after its next start, give it the recovery key: "+
		"hearth config set channels.matrix.recoveryKey asks for it.")
	c.mu.Lock()
	c.recovery = key.RecoveryKey()
	c.mu.Unlock()
	s.end(errAnew)
	return nil
}

// makeKeys makes the account's keys: first what opens them lies at the server, then they
// are made known. It works on a machine of its own, since the other one is in use.
func (c *Client) makeKeys(ctx context.Context, s *session, key *ssss.Key) error {
	mach := crypto.NewOlmMachine(s.api, nil, s.keys, &states{c: c, s: s})
	defer mach.Destroy()
	if err := mach.Load(ctx); err != nil {
		return err
	}
	own, err := mach.GenerateCrossSigningKeys()
	if err != nil {
		return err
	}
	if err := errors.Join(mach.SSSS.SetKeyData(ctx, key.ID, key.Metadata), mach.UploadCrossSigningKeysToSSSS(ctx, key, own),
		mach.SSSS.SetDefaultKeyID(ctx, key.ID)); err != nil {
		return failure(err, false)
	}
	var prove mautrix.UIACallback
	if c.password != "" {
		prove = func(asked *mautrix.RespUserInteractive) any {
			return &mautrix.ReqUIAuthLogin{User: string(c.user), Password: c.password,
				BaseAuthData: mautrix.BaseAuthData{Type: mautrix.AuthTypePassword, Session: asked.Session}}
		}
	}
	if err := mach.PublishCrossSigningKeys(ctx, own, prove); err != nil {
		if e := mach.SSSS.SetDefaultKeyID(ctx, ""); e != nil { // it opens nothing
			c.log.Warn("the recovery key that is not used could not be taken back", "err", failure(e, false))
		}
		if err = failure(err, false); c.password == "" && refusedOnly(err) {
			err = fmt.Errorf("%w. The server may want the password: hearth config set channels.matrix.password asks for it", err)
		}
		return err
	}
	if _, err := mach.FetchKeys(ctx, []id.UserID{c.user}, true); err != nil {
		c.log.Debug("the account's new keys were not read back yet", "err", failure(err, false))
	}
	return nil
}
