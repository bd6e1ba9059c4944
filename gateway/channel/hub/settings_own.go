package hub

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
)

// own are the keys of an account that only its network has (channel.Setting), by
// their form.
type own struct {
	secrets  map[string]*config.Secret
	texts    map[string]*string
	lists    map[string]*[]string
	switches map[string]*bool
	ports    map[string]*int
}

func newOwn() own {
	return own{map[string]*config.Secret{}, map[string]*string{}, map[string]*[]string{}, map[string]*bool{}, map[string]*int{}}
}

// set begins a setting with what another account has of it, and else with nothing.
func (o own) set(s channel.Setting, from own) {
	switch s.Form {
	case channel.SecretText:
		o.secrets[s.Key] = new(copied(from.secrets[s.Key], config.Secret{}))
	case channel.WordList:
		o.lists[s.Key] = new(slices.Clone(copied(from.lists[s.Key], nil)))
	case channel.OnOff:
		o.switches[s.Key] = new(copied(from.switches[s.Key], s.On))
	case channel.PortNumber:
		o.ports[s.Key] = new(copied(from.ports[s.Key], 0))
	default:
		o.texts[s.Key] = new(copied(from.texts[s.Key], ""))
	}
}

func copied[T any](p *T, none T) T {
	if p == nil {
		return none
	}
	return *p
}

// Secret is a credential of the account, zero for none.
func (o own) Secret(key string) (s config.Secret) { return copied(o.secrets[key], s) }

// Text is a key of the account that only its network has, as its channel gets it;
// "" for none.
func (o own) Text(key string) string {
	switch {
	case o.lists[key] != nil:
		return strings.Join(*o.lists[key], "\n")
	case o.switches[key] != nil:
		return strconv.FormatBool(*o.switches[key])
	case o.ports[key] != nil && *o.ports[key] != 0:
		return strconv.Itoa(*o.ports[key])
	}
	return copied(o.texts[key], "")
}

// Texts are all that are no secrets, by their keys.
func (o own) Texts() map[string]string {
	out := map[string]string{}
	for _, keys := range [][]string{
		slices.Collect(maps.Keys(o.texts)), slices.Collect(maps.Keys(o.lists)), slices.Collect(maps.Keys(o.switches)),
		slices.Collect(maps.Keys(o.ports)),
	} {
		for _, key := range keys {
			out[key] = o.Text(key)
		}
	}
	return out
}
