package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hearth-assistant/hearth/gateway/mcp/named"
	"github.com/hearth-assistant/hearth/gateway/protocol"
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
	for key, more := range map[string][]string{"read": whole(read), "write": whole(write)} {
		if len(more) == 0 {
			continue
		}
		now := set.Sandbox.Read
		if key == "write" {
			now = set.Sandbox.Write
		}
		all := slices.Clone(now)
		for _, m := range more {
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
func sandboxOf(read, write []string) map[string]any {
	box := map[string]any{}
	if len(read) > 0 {
		box["read"] = whole(read)
	}
	if len(write) > 0 {
		box["write"] = whole(write)
	}
	return box
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
