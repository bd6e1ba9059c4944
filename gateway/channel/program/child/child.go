// Package child starts the programs of channels: in a sandbox, with a folder of
// their own, the network, and nothing else of the machine or of the gateway's
// environment. Their life is package program's business.
package child

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/process/stdio"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
)

// Launcher starts programs on this machine. own says of which networks the program is
// its person's own, which is started as they would; nil: of none.
func Launcher(e *execution.Environment, own func(network string) bool) channel.Launch {
	return func(ctx context.Context, network, account string, argv []string) (channel.Process, error) {
		path, err := find(e, argv[0])
		if err != nil {
			return nil, err
		}
		dir, err := stdio.Folder("hearth-channel-")
		if err != nil {
			return nil, err
		}
		s := process.Spec{
			Owner: "channel:" + network + ":" + account, Title: network + " (" + account + ")",
			Path: path, Argv: append([]string{path}, argv[1:]...), Env: environment(e, dir), Dir: dir, Temp: dir,
		}
		if own != nil && own(network) {
			s.Env = append([]string{"PATH=" + e.SearchPath, "HOME=" + e.Home, "TERM=dumb"}, others(e)...)
		} else if e.Sandbox.Confined {
			s.Confine = &sandbox.Rules{
				Read: readable(path, argv[1:]), Write: []string{dir}, Hide: append(sandbox.Secrets(e.Home), e.Hide...), Network: true,
			}
		}
		p, err := stdio.Start(ctx, e.Processes, s)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
}

// find looks for a program that is named without a folder where commands are looked
// for, never in the folder of the moment.
func find(e *execution.Environment, name string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	if !strings.ContainsAny(name, `/\`) {
		for _, dir := range filepath.SplitList(e.SearchPath) {
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("there is no program %q in %s: install it, or write its whole path", name, e.SearchPath)
}

// environment is all that a program gets: how the person's language and time are,
// where programs are, and its folder for everything else.
func environment(e *execution.Environment, dir string) []string {
	return append([]string{"HOME=" + dir, "TMPDIR=" + dir, "TERM=dumb", "PATH=" + e.SearchPath}, others(e)...)
}

// others are the variables that say how the person's language and time are.
func others(e *execution.Environment) (out []string) {
	for _, kv := range e.Environ {
		if name, _, _ := strings.Cut(kv, "="); name != "HOME" && name != "PATH" {
			out = append(out, kv)
		}
	}
	return out
}

// readable are the program and the files and folders that its arguments name: an
// interpreter's script, and what the person lets it use. Nothing beside them.
func readable(path string, args []string) []string {
	out := []string{path}
	for _, arg := range args {
		if filepath.IsAbs(arg) {
			out = append(out, arg)
		}
	}
	return out
}
