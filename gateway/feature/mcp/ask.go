package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/approval/sentence"
	"github.com/hearth-assistant/hearth/gateway/mcp"
	"github.com/hearth-assistant/hearth/gateway/pretty"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// permit is the question about a tool of an MCP server. A decision for longer
// than once is about the tool as it is now, with any arguments.
func (f *Servers) permit(ctx context.Context, call tool.Call, w mcp.Wish) error {
	if w.Server.Ask == mcp.AskOff && !w.Changed {
		return nil
	}
	if len(w.Args) > approval.MaxBytes { // A-EXEC-13
		return fmt.Errorf("the arguments are larger than the %d KB that a person can be asked to read, so the tool was not used. The owner "+
			"can set mcp.servers.%s.ask to \"off\" for a server that is trusted", approval.MaxBytes>>10, w.Server.ID)
	}
	_, err := f.o.Gate.Permit(ctx, call, ask(call, w))
	return err
}

func ask(call tool.Call, w mcp.Wish) approval.Ask {
	a := approval.For(approval.KindTool, call)
	name := plan.Show(w.Tool)
	a.Tool, a.Host, a.Title = "mcp__"+w.Server.ID, w.Server.ID, fmt.Sprintf("Use %s of the MCP server %s", name, w.Server.ID)
	a.Says = sentence.New("mcp", "tool", w.Tool, "server", w.Server.ID)
	a.Known = w.Server.Ask != mcp.AskAlways
	a.Lasting = !w.Harmful
	if w.Changed {
		a.Warnings = append(a.Warnings, "This tool is not what it was when you allowed it: its server changed what it says of itself.")
	}
	if w.Harmful {
		a.Warnings = append(a.Warnings, "Its server says that it may destroy something.")
	}
	if a.Known {
		a.Warnings = append(a.Warnings, "To allow it for longer allows this tool with any arguments.")
	}
	h := sha256.New()
	fmt.Fprintf(h, "mcp 1\x00%s\x00%s\x00%q\x00%s\x00%s\x00%x", w.Server.ID, w.Server.Command, w.Server.Args, w.Server.URL, w.Tool, w.Hash)
	if !a.Known { // each use is another wish
		h.Write(w.Args)
	}
	a.Digest = [32]byte(h.Sum(nil))
	a.Lines = []string{"Server: " + w.Server.ID + " (" +
		plan.Show(cmp.Or(w.Server.URL, strings.Join(append([]string{w.Server.Command}, w.Server.Args...), " "))) + ")", "Tool: " + name}
	a.Lines = append(append(a.Lines, a.Warnings...), "Arguments:")
	for _, line := range strings.Split(string(pretty.JSON(w.Args, "  ", 4*approval.MaxBytes)), "\n") {
		a.Lines = append(a.Lines, "  "+plan.Show(line))
	}
	return a
}
