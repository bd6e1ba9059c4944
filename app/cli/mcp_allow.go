package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hearth-assistant/hearth/gateway/mcp/named"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// mayUse are the flags about the sandbox of a server's program.
func mayUse(f *pflag.FlagSet, read, write *[]string) {
	f.StringArrayVar(read, "read", nil, "a `FOLDER` or file that the program may read; may be given several times")
	f.StringArrayVar(write, "write", nil, "a `FOLDER` or file that it may change; may be given several times")
}

func newMCPAllow(a *app) *cobra.Command {
	var read, write []string
	c := &cobra.Command{
		Use: "allow NAME", Short: "Let a server's program read or change more", Args: cobra.ExactArgs(1),
		Example: "  hearth mcp allow files --write ~/Documents",
		RunE:    a.run(func(ctx context.Context, args []string) error { return allowMCP(ctx, a, args[0], read, write) }),
	}
	mayUse(c.Flags(), &read, &write)
	return c
}

func allowMCP(ctx context.Context, a *app, name string, read, write []string) error {
	if len(read)+len(write) == 0 {
		return usage("give --read FOLDER or --write FOLDER")
	}
	s, err := a.settings(ctx)
	if err != nil {
		return err
	}
	var set struct {
		Sandbox struct{ Read, Write []string }
	}
	raw, ok, err := s.InUse(mcpPath(name))
	if err == nil && ok {
		err = json.Unmarshal(raw, &set)
	}
	if err != nil || s.Valid && !ok {
		return &failure{exitFailure, "there is no MCP server " + line(name), "`hearth config get mcp.servers` shows those that are set up"}
	}
	more, err := a.sandboxOf(read, write)
	if err != nil {
		return err
	}
	for _, key := range []string{"read", "write"} {
		if len(more[key]) == 0 {
			continue
		}
		now := set.Sandbox.Read
		if key == "write" {
			now = set.Sandbox.Write
		}
		all := slices.Clone(now)
		for _, m := range more[key] {
			if !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
		b, err := json.Marshal(all)
		if err != nil {
			return fmt.Errorf("write the setting: %w", err)
		}
		if err := runConfigSet(ctx, a, mcpPath(name)+".sandbox."+key, string(b)); err != nil {
			return err
		}
	}
	return nil
}

// sandboxOf is the setting of two lists.
func (a *app) sandboxOf(read, write []string) (map[string][]string, error) {
	box := map[string][]string{}
	for key, named := range map[string][]string{"read": read, "write": write} {
		for _, p := range named {
			path, err := a.placed(key, p)
			if err != nil {
				return nil, err
			}
			box[key] = append(box[key], path)
		}
	}
	return box, nil
}

// placed is a folder or file that a program is to use, as the settings have it: whole,
// because the program will run in a folder of its own. What can never work is refused.
func (a *app) placed(flag, named string) (string, error) {
	if a.gateway != "" {
		return named, nil // it is on another machine
	}
	if strings.TrimSpace(named) == "" {
		return "", usage("--%s needs a folder or a file", flag)
	}
	path := statedir.Expand(statedir.Home(a.Env), []string{named})[0]
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", line(named), err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "", &failure{exitUsage, "there is no file or folder " + line(path), "make it first, or name another one"}
	case err == nil && !info.IsDir() && strings.HasSuffix(named, "/"):
		return "", &failure{exitUsage, "there is no folder " + line(path), "it is a file: name it without the / at its end"}
	}
	if dir, err := a.dir(); err == nil && within(string(dir), path) {
		return "", &failure{exitUsage, line(path) + " is in Hearth's own folder, which no program sees", "name another one"}
	}
	if named == "~" || strings.HasPrefix(named, "~/") {
		return named, nil // as the person wrote it
	}
	return path, nil
}

// within reports whether a path is a folder or below it, wherever links lead.
func within(dir, path string) bool {
	for _, p := range []*string{&dir, &path} {
		if real, err := filepath.EvalSymlinks(*p); err == nil {
			*p = real
		}
	}
	rest, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rest)
}

// whole makes paths absolute that mean something here and now: the program will
// run in a folder of its own.
func whole(words []string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		if w != "." && w != ".." && !strings.HasPrefix(w, "./") && !strings.HasPrefix(w, "../") {
			continue
		}
		if path, err := filepath.Abs(w); err == nil {
			if _, err := os.Stat(path); err == nil {
				out[i] = path
			}
		}
	}
	return out
}

// sayNamed tells, once, what the new server's command line lets it read.
func (a *app) sayNamed(name string, s map[string]any) error {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil // then it is shown by `hearth mcp test`
	}
	command, _ := s["command"].(string)
	args, _ := s["args"].([]string)
	dir, _ := s["cwd"].(string)
	paths := named.Paths(home, dir, command, args)
	if len(paths) == 0 {
		return nil
	}
	return a.out().print("Its command line names ", bold(line(strings.Join(paths, ", "))), ", so it may read that. It may change files "+
		"there only after\n`hearth mcp allow ", line(name), " --write FOLDER`.\n")
}

// sayReach tells what a program in the sandbox may use, and what noise it makes.
func (a *app) sayReach(s protocol.MCPServer) error {
	var said []string
	if len(s.Reads) > 0 {
		said = append(said, "It may read "+strings.Join(s.Reads, ", ")+".")
	}
	if len(s.Writes) > 0 {
		said = append(said, "It may change "+strings.Join(s.Writes, ", ")+".")
	}
	if s.Noise != "" {
		said = append(said, strings.ToUpper(s.Noise[:1])+s.Noise[1:])
	}
	for _, words := range said {
		if err := a.out().print(line(words), "\n"); err != nil {
			return err
		}
	}
	return nil
}
