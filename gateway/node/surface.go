package node

import (
	"maps"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/node/policy"
)

// Surface is what a node offers.
type Surface struct {
	Caps        []string        `json:"caps"`
	Commands    []string        `json:"commands"`
	Permissions map[string]bool `json:"permissions,omitempty"`
}

// clean sorts a surface and leaves out what cannot be a name.
func (s Surface) clean() Surface {
	tidy := func(in []string) []string {
		out := []string{}
		for _, name := range in {
			if policy.ValidName(name) {
				out = append(out, name)
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	out := Surface{Caps: tidy(s.Caps), Commands: tidy(s.Commands)}
	for name, on := range s.Permissions {
		if policy.ValidName(name) {
			if out.Permissions == nil {
				out.Permissions = map[string]bool{}
			}
			out.Permissions[name] = on
		}
	}
	return out
}

// beyond are the commands and caps of s that o has not.
func (s Surface) beyond(o Surface) (commands, caps []string) {
	return missing(s.Commands, o.Commands), missing(s.Caps, o.Caps)
}

func missing(have, in []string) (out []string) {
	for _, name := range have {
		if !slices.Contains(in, name) {
			out = append(out, name)
		}
	}
	return out
}

func (s Surface) equal(o Surface) bool {
	return slices.Equal(s.Caps, o.Caps) && slices.Equal(s.Commands, o.Commands) && maps.Equal(s.Permissions, o.Permissions)
}

// harmless is s without what reaches a machine's programs and files.
func (s Surface) harmless() Surface {
	out := s
	out.Commands = slices.DeleteFunc(slices.Clone(s.Commands), policy.Hosts)
	return out
}
