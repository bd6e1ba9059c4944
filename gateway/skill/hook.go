package skill

import (
	"slices"
	"strings"
)

// HookFile is the file that makes a folder a hook: its front matter is that of a
// skill, with the events that it is for.
const HookFile = "HOOK.md"

// maxEvents is how many events a hook may name.
const maxEvents = 64

// Hook is what a HOOK.md says of itself.
type Hook struct {
	Spec
	Events []string
	Export string // of a script: the name of its function, "" = default
}

// ParseHook reads a HOOK.md in a folder of that name. Errors are ErrInvalid.
func ParseHook(data []byte, folder string) (Hook, error) {
	front, _, err := split(data, HookFile)
	if err != nil {
		return Hook{}, err
	}
	t, err := readTree(front)
	if err != nil {
		return Hook{}, err
	}
	h := Hook{Spec: Spec{
		Name: clean(t.text("name"), maxName+1), Description: clean(t.text("description"), maxDescription),
		Homepage: webAddress(t.text("homepage")),
	}}
	if h.Name == "" {
		h.Name = clean(folder, maxName+1)
	}
	if err := checkName(h.Name); err != nil {
		return h, err
	}
	h.Key = h.Name
	meta, err := t.metadata()
	if err != nil {
		return h, err
	}
	h.addMeta(meta)
	if k := clean(meta.text("hookKey"), maxName); k != "" && checkName(k) == nil {
		h.Key = k
	}
	if e := clean(meta.text("export"), maxName); e != "default" && envName(e) {
		h.Export = e
	}
	for _, e := range meta.list("events") {
		if e = strings.TrimSpace(clean(e, maxName)); e != "" && len(h.Events) < maxEvents && !slices.Contains(h.Events, e) {
			h.Events = append(h.Events, e)
		}
	}
	return h, nil
}
