package agents

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// problems: a workspace inside of Hearth's own folder, as OpenClaw has it,
// is one that no tool may touch and whose files are not read.
func (f *feature) problems() (out []protocol.Problem) {
	state := realFolder(f.o.StateDir)
	for _, a := range f.o.Agents.Book().All() {
		rel, err := filepath.Rel(state, realFolder(a.Workspace))
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			continue
		}
		out = append(out, protocol.Problem{Code: "WORKSPACE", Message: fmt.Sprintf("The workspace of the assistant %s, %s, lies inside "+
			"Hearth's own folder, where no tool may read or write: "+
			"its files are not used. Move it elsewhere and say where: `hearth config set agents.defaults.workspace ~/Hearth`.", a.ID, a.Workspace)})
	}
	return out
}

// unusable are workspaces that are no folder, and cannot become one that is written to.
func (f *feature) unusable() (out []protocol.Problem) {
	for _, a := range f.o.Agents.Book().All() {
		if why := folderFault(a.Workspace); why != nil {
			out = append(out, protocol.Problem{Code: "WORKSPACE", Message: fmt.Sprintf("The workspace of the assistant %s cannot be used: %v. "+
				"Choose another folder: `hearth config set agents.defaults.workspace ~/Hearth`.", a.ID, why)})
		}
	}
	return out
}

// folderFault is why no folder can be at path: something else is there, or nothing can
// be made in the nearest folder above. What is missing is made with the first message.
func folderFault(path string) error {
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at):
			continue
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("%s is a file", at)
		}
		probe, err := os.MkdirTemp(at, ".hearth-")
		if err != nil {
			return err
		}
		return os.Remove(probe)
	}
}

// checks tells `hearth doctor` the same, and whose workspace cannot be used.
func (f *feature) checks(context.Context, protocol.DoctorParams) (out []protocol.HealthCheck) {
	for _, p := range append(f.problems(), f.unusable()...) {
		what, advice, _ := strings.Cut(strings.TrimSuffix(p.Message, "."), ". ")
		out = append(out, protocol.HealthCheck{Area: "gateway", State: protocol.CheckWarn, What: what, Advice: advice})
	}
	return out
}

// realFolder follows the links of the part of a path that exists.
func realFolder(path string) string {
	rest := ""
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
