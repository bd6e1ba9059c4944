package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Folder is where the node keeps what it knows, in the state folder.
type Folder struct{ Dir statedir.Dir }

// Settings are what the owner of this machine chose, and the gateway that it
// belongs to.
type Settings struct {
	Gateway Gateway `json:"gateway"`
	NodeID  string  `json:"nodeId,omitempty"`
	Name    string  `json:"name,omitempty"` // how the gateway calls this machine; "" = its host name
	// Allow says of each thing whether the gateway may ask for it; what is missing
	// is as in Things.
	Allow map[string]bool `json:"allow,omitempty"`
}

// Gateway is the one that this machine is a node of. It is known by its key.
type Gateway struct {
	ID    string   `json:"id"`
	Name  string   `json:"name"`
	URLs  []string `json:"urls"` // the last good one first
	Pins  []string `json:"pins"`
	Token string   `json:"token,omitempty"` // of this machine as a node
}

// Thing is something that the gateway may be allowed to ask of this machine.
type Thing struct {
	Name     string
	Words    string
	Default  bool
	Cap      string
	Commands []string
}

// Things are all of them. The first is always allowed: it tells nothing that
// the connection does not.
func Things() []Thing {
	return []Thing{
		{"device", "say what kind of machine this is and how it is", true, "device",
			[]string{"device.info", "device.status"}},
		{"run", "run commands: those that you agree to at the gateway, and the programs that you list here", true, "system",
			[]string{"system.run", "system.run.prepare", "system.which", "system.execApprovals.get", "system.execApprovals.set"}},
		{"notify", "show notifications", true, "system", []string{"system.notify"}},
		{"canvas", "show web pages in a window", true, "canvas", []string{"canvas.present", "canvas.hide", "canvas.navigate"}},
		{"screen", "take pictures of the screen", false, "screen", []string{"screen.snapshot"}},
		{"camera", "take pictures with the camera", false, "camera", []string{"camera.list", "camera.snap"}},
		{"location", "say where this machine is", false, "location", []string{"location.get"}},
	}
}

// commandOf is the thing that a command belongs to.
func commandOf(name string) string {
	for _, t := range Things() {
		if slices.Contains(t.Commands, name) {
			return t.Name
		}
	}
	return ""
}

func (s Settings) allows(thing string) bool {
	if yes, said := s.Allow[thing]; said {
		return yes
	}
	return slices.ContainsFunc(Things(), func(t Thing) bool { return t.Name == thing && t.Default })
}

func (s Settings) caps() (out []string) {
	for _, t := range Things() {
		if s.allows(t.Name) && !slices.Contains(out, t.Cap) {
			out = append(out, t.Cap)
		}
	}
	slices.Sort(out)
	return out
}

func (s Settings) commands() (out []string) {
	for _, t := range Things() {
		if s.allows(t.Name) {
			out = append(out, t.Commands...)
		}
	}
	slices.Sort(out)
	return out
}

func (s Settings) permissions() map[string]bool {
	out := map[string]bool{}
	for _, t := range Things() {
		out[t.Name] = s.allows(t.Name)
	}
	return out
}

// Allows tells of each thing whether it is allowed.
func (s Settings) Allows() map[string]bool { return s.permissions() }

// Set allows or forbids a thing; false means that there is no such thing.
func (s *Settings) Set(thing string, yes bool) bool {
	if !slices.ContainsFunc(Things(), func(t Thing) bool { return t.Name == thing }) {
		return false
	}
	if s.Allow == nil {
		s.Allow = map[string]bool{}
	}
	s.Allow[thing] = yes
	return true
}

// Settings reads them; none are an empty value.
func (f Folder) Settings() (s Settings, err error) {
	err = readFile(f.Dir.Node(), &s, "this machine's settings as a node")
	return s, err
}

// Save replaces them.
func (f Folder) Save(s Settings) error {
	if err := f.Dir.Ensure(); err != nil {
		return err
	}
	return writeFile(f.Dir.Node(), s)
}

// Note keeps how the connection is, for `hearth node status`.
func (f Folder) Note(n Note) error { return writeFile(f.Dir.NodeState(), n) }

// Note is how the connection was when it last changed.
type Note struct {
	State
	AtMs int64 `json:"atMs"`
	PID  int   `json:"pid"`
}

// Noted reads it.
func (f Folder) Noted() (n Note, err error) {
	err = readFile(f.Dir.NodeState(), &n, "the node's state")
	return n, err
}

func readFile(path string, to any, what string) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("%s, %s, is damaged: %w; remove it, then pair again", what, path, err)
	}
	return nil
}

func writeFile(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return statedir.WriteFile(path, append(b, '\n'))
}

// Named splits names as people write them: "screen,camera" and "screen camera".
func Named(args []string) (out []string) {
	for _, a := range args {
		for _, n := range strings.Split(a, ",") {
			if n = strings.TrimSpace(n); n != "" {
				out = append(out, n)
			}
		}
	}
	return out
}
