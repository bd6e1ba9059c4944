package client

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Remote is a gateway on another machine that this one is paired with. It is
// known by its key: addresses are only where to look for it.
type Remote struct {
	ID          string           `json:"id"` // of the gateway; pins belong to it, not to a name or an address
	Name        string           `json:"name"`
	URLs        []string         `json:"urls"` // the last good one first
	Pins        []string         `json:"pins"`
	DeviceToken string           `json:"deviceToken"`
	Scopes      []protocol.Scope `json:"scopes"`
	PairedAtMs  int64            `json:"pairedAtMs"`
}

// NoRemoteError: no paired gateway has that name.
type NoRemoteError struct {
	Name  string
	Known []string
}

func (e *NoRemoteError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("this machine is not paired with a gateway named %q, nor with any other", e.Name)
	}
	return fmt.Sprintf("this machine is not paired with a gateway named %q; it knows %s", e.Name, strings.Join(e.Known, ", "))
}

// Remotes reads the paired gateways of a state folder.
func Remotes(dir statedir.Dir) ([]Remote, error) {
	b, err := os.ReadFile(dir.Remotes())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the paired gateways: %w", err)
	}
	var all []Remote
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("the list of paired gateways %s is damaged: %w; remove it and pair again", dir.Remotes(), err)
	}
	return all, nil
}

// FindRemote looks one up by its name, or the beginning of its id.
func FindRemote(dir statedir.Dir, name string) (Remote, error) {
	all, err := Remotes(dir)
	if err != nil {
		return Remote{}, err
	}
	none := &NoRemoteError{Name: name}
	for _, r := range all {
		if strings.EqualFold(r.Name, name) || len(name) >= 4 && strings.HasPrefix(r.ID, strings.ToLower(name)) {
			return r, nil
		}
		none.Known = append(none.Known, r.Name)
	}
	return Remote{}, none
}

// SaveRemote keeps a gateway in place of what was known of the same one.
func SaveRemote(ctx context.Context, dir statedir.Dir, r Remote) error {
	return changeRemotes(ctx, dir, func(all []Remote) []Remote {
		at := slices.IndexFunc(all, func(o Remote) bool { return o.ID == r.ID })
		if at < 0 {
			return append(all, r)
		}
		all[at] = r
		return all
	})
}

// ForgetRemote drops a gateway.
func ForgetRemote(ctx context.Context, dir statedir.Dir, id string) error {
	return changeRemotes(ctx, dir, func(all []Remote) []Remote {
		return slices.DeleteFunc(all, func(o Remote) bool { return o.ID == id })
	})
}

func changeRemotes(ctx context.Context, dir statedir.Dir, change func([]Remote) []Remote) error {
	if err := dir.Ensure(); err != nil {
		return err
	}
	unlock, err := dir.Lock(ctx, "remotes")
	if err != nil {
		return err
	}
	defer unlock()
	all, err := Remotes(dir)
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(change(all), "", "  ")
	if err != nil {
		return err
	}
	return statedir.WriteFile(dir.Remotes(), append(b, '\n'))
}

// RemoteIdentity is the key by which other gateways know this machine. It is
// made on first use.
func RemoteIdentity(ctx context.Context, dir statedir.Dir) (*Identity, error) {
	if err := dir.Ensure(); err != nil {
		return nil, err
	}
	unlock, err := dir.Lock(ctx, "remotes")
	if err != nil {
		return nil, err
	}
	defer unlock()
	b, err := os.ReadFile(dir.RemoteKey())
	if errors.Is(err, fs.ErrNotExist) {
		seed := make([]byte, ed25519.SeedSize)
		_, _ = rand.Read(seed) // never fails (crypto/rand)
		b = []byte(hex.EncodeToString(seed) + "\n")
		err = statedir.WriteFile(dir.RemoteKey(), b)
	}
	if err != nil {
		return nil, fmt.Errorf("this machine's key for other gateways: %w", err)
	}
	seed, err := hex.DecodeString(strings.TrimSpace(string(b)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("this machine's key for other gateways, %s, is damaged; remove it and pair again", dir.RemoteKey())
	}
	return &Identity{Key: ed25519.NewKeyFromSeed(seed)}, nil
}

// perAddress is how long one address may take, unless Options say otherwise: a
// dead one must not use up the patience for the next.
const perAddress = 4 * time.Second

// DialPinned connects to the first of the addresses behind which the key is
// that is pinned, and tells which it was. Nothing is sent to anybody else. When
// some machine answered with another key and none with the right one, the error
// is an *identity.MismatchError.
func DialPinned(ctx context.Context, urls, pins, fingerprints []string, o Options) (*Client, string, error) {
	conf, err := identity.Client(pins, fingerprints)
	if err != nil {
		return nil, "", err
	}
	o.TLS = conf
	var last error
	for _, u := range urls {
		if !strings.HasPrefix(u, "wss://") {
			last = fmt.Errorf("%q: %w", u, ErrPlaintext)
			continue
		}
		o.URL = u
		c, err := dialOne(ctx, o)
		if err == nil {
			return c, u, nil
		}
		var refusal *protocol.Error
		if errors.As(err, &refusal) || ctx.Err() != nil {
			return nil, "", err // it is the right one, and says no
		}
		var wrong, before *identity.MismatchError
		if errors.As(err, &wrong) {
			last = wrong
		} else if !errors.As(last, &before) {
			last = err
		}
	}
	if last == nil {
		last = errors.New("no address of the gateway is known")
	}
	return nil, "", last
}

func dialOne(ctx context.Context, o Options) (*Client, error) {
	// The time-out is for the handshake; Dial does not tie the connection to it.
	dctx, cancel := context.WithTimeout(ctx, cmp.Or(o.PerAddress, perAddress))
	defer cancel()
	c, err := Dial(dctx, o)
	if err != nil && ctx.Err() == nil && dctx.Err() != nil {
		return nil, fmt.Errorf("%w at %s: it does not answer", ErrUnreachable, o.URL)
	}
	return c, err
}
