package hub

import (
	"maps"
	"net/url"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/pairing/token"
)

type wrongAt = func(at config.Path, format string, args ...any)

// apart: a secret that serves two purposes protects neither, and two accounts
// cannot share what only one can have.
func apart(kinds channel.Kinds, all config.Config, wrong wrongAt) {
	paths := map[string]string{} // of all networks: they come in at one port
	for _, k := range kinds {
		n, taken := Section(k).Of(all), map[config.Secret]string{}
		accounts := n.Accounts()
		for _, id := range slices.Sorted(maps.Keys(accounts)) {
			if a := accounts[id]; a.Enabled {
				j := judged{kind: k, network: n, id: id, account: a, wrong: wrong}
				j.purposes(token.Section.Of(all).Token)
				j.alone(taken, paths)
			}
		}
	}
}

// judged is one account on its way through the checks.
type judged struct {
	kind    channel.Kind
	network Network
	id      string
	account Configured
	wrong   wrongAt
}

// where is what the account is called.
func (j judged) where() string { return "the " + j.kind.Label + " account \"" + j.id + "\"" }

// at is where a key of the account stands.
func (j judged) at(key string) config.Path {
	return KeyPath(j.kind, j.network, j.id, key)
}

// KeyPath is where a key of an account stands: below its name, or at the network.
func KeyPath(k channel.Kind, n Network, account, key string) config.Path {
	if _, named := n.Named[account]; named || account != "default" {
		return config.At("channels", k.ID, "accounts", account, key)
	}
	return config.At("channels", k.ID, key)
}

// purposes finds secrets that serve two of them, and addresses without one.
func (j judged) purposes(token config.Secret) {
	first := map[config.Secret]string{}
	for _, s := range j.kind.Settings {
		if s.Needs != "" && j.account.Text(s.Key) != "" && j.account.Secret(s.Needs).IsZero() {
			j.wrong(j.at(s.Key), "%s needs channels.%s.%s beside %s: %s", j.where(), j.kind.ID, s.Needs, s.Key, s.NeedsWhy)
			return
		}
		v := j.account.Secret(s.Key)
		if v.IsZero() {
			continue
		}
		if v == token {
			j.wrong(j.at(s.Key), "%s of %s is the same as gateway.auth.token: use a text of its own", s.Key, j.where())
			return
		}
		if other := first[v]; other != "" {
			j.wrong(j.at(s.Key), "%s of %s is the same as its %s: use a text of its own", s.Key, j.where(), other)
			return
		}
		first[v] = s.Key
	}
}

// alone finds what another account has too.
func (j judged) alone(taken map[config.Secret]string, paths map[string]string) {
	for _, s := range j.kind.Settings {
		if s.Alone == "" {
			continue
		}
		if v := j.account.Secret(s.Key); !v.IsZero() {
			if other := taken[v]; other != "" {
				j.wrong(j.at(s.Key), "%s has the same %s as the account %q: %s", j.where(), s.Key, other, s.Alone)
			}
			taken[v] = j.id
		}
		if u, err := url.Parse(j.account.Text(s.Key)); err == nil && j.account.Text(s.Key) != "" {
			if other := paths[u.Path]; other != "" {
				j.wrong(j.at(s.Key), "%s has the same path in %s as the account %q: %s", j.where(), s.Key, other, s.Alone)
			}
			paths[u.Path] = j.id
		}
	}
}
