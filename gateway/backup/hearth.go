package backup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Roots of a backup of Hearth.
const (
	RootState     = "state"
	RootSkills    = "skills"
	RootWorkspace = "workspace/" // and the assistant's id
	SettingsPath  = "settings/hearth.json"
)

// ValuesPath holds the values of the secrets that the keychain or vault keeps, as
// a JSON object, in a backup with secrets.
const ValuesPath = "secrets/values.json"

// secretFiles are the files of the state folder that say who this Hearth is, or
// hold keys: they are in a backup when its person wants that.
var secretFiles = []string{
	"device.key", "gateway.token", "gateway.identity", "gateway.remote-key", "gateway.remotes", "gateway.node", "secrets.vault",
	"secrets.plain.json",
}

// SecretFile reports whether a file directly in the state folder is a secret.
func SecretFile(name string) bool { return slices.Contains(secretFiles, name) }

// passing matches what is no part of a backup: what only holds while a gateway
// runs, what can be made anew, and copies of what is in it.
var passing = regexp.MustCompile(`^(\..*|hearth\.db.*|hearth\.json.*|gateway\.(json|log.*|stacks|node-state)|codemode-cache|backup\..*)$`)

// programState says which versions of the program are installed on this machine.
const programState = "update.json"

// Contents says what of Hearth is saved.
type Contents struct {
	Dir        statedir.Dir
	Store      *store.DB
	Workspaces map[string]string // by assistant
	Settings   []byte            // the text of hearth.json, without keys unless Secrets
	Values     []byte            // of ValuesPath; nil: none
	Secrets    bool
	Moving     bool // to another machine: what is only about this one stays
	Version    string
	Home       string
}

// Source is what a backup of Hearth is made of: all of the state folder but what
// passes, the folders of skills and of the assistants, the settings.
func (c Contents) Source() Source {
	s := Source{
		Version: c.Version, Home: c.Home, Made: map[string][]byte{},
		Roots: []Root{
			{Name: RootState, Dir: string(c.Dir), Must: true, Skip: func(name string) bool {
				return passing.MatchString(name) || !c.Secrets && SecretFile(name) || c.Moving && name == programState
			}},
			{Name: RootSkills, Dir: c.Dir.Skills()},
		},
		Store: func(_ context.Context, take func(int64, func(io.Writer) error) error) error {
			return c.Store.Snapshot(take)
		},
	}
	for id, dir := range c.Workspaces {
		s.Roots = append(s.Roots, Root{Name: RootWorkspace + id, Dir: dir})
	}
	slices.SortFunc(s.Roots[2:], func(a, b Root) int { return strings.Compare(a.Name, b.Name) })
	if c.Settings != nil {
		s.Made[SettingsPath] = c.Settings
	}
	if c.Secrets && c.Values != nil {
		s.Made[ValuesPath] = c.Values
	}
	return s
}

// Keeper is where secrets are kept.
type Keeper interface {
	List(ctx context.Context) ([]secret.Entry, error)
	Get(ctx context.Context, name string) (secret.Secret, error)
}

// Values are the secrets that the keychain or vault keeps, as ValuesPath holds them.
func Values(ctx context.Context, k Keeper) ([]byte, error) {
	list, err := k.List(ctx)
	if errors.Is(err, secret.ErrUnavailable) {
		return nil, nil // none are kept
	}
	out := map[string]string{}
	for _, e := range list {
		v, gerr := k.Get(ctx, e.Name)
		err = cmp.Or(err, gerr)
		out[e.Name] = v.Reveal()
	}
	if err != nil {
		return nil, fmt.Errorf("read the secrets, which are to be in it: %w; unlock them with `hearth secrets unlock` (backups can do "+
			"without: `hearth config set backup.secrets false`)", err)
	}
	return json.Marshal(out)
}
