// Package stdio starts programs that are talked to over their input and output, as
// servers of MCP and channels are. What they may touch and what is said is their
// callers' business, their life and end package process's.
package stdio

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/process"
)

// Program is a started program.
type Program struct {
	*process.Process
	out    *os.File
	folder string
}

// Folder makes an empty folder for a program, by a path without links. Whoever
// starts the program gives it away with process.Spec.Temp, which removes it.
func Folder(pattern string) (string, error) {
	dir, err := os.MkdirTemp("", pattern)
	if err != nil {
		return "", fmt.Errorf("make a folder for it: %w", err)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return dir, nil
}

// Start starts a program; s says all of it but Input and Stdout. When it cannot be
// started, s.Temp is removed.
func Start(ctx context.Context, k *process.Keeper, s process.Spec) (*Program, error) {
	out, theirs, err := os.Pipe()
	if err != nil {
		_ = os.RemoveAll(s.Temp)
		return nil, fmt.Errorf("make a pipe for it: %w", err)
	}
	defer func() { _ = theirs.Close() }()
	s.Input, s.Stdout = true, theirs
	p, err := k.Start(ctx, s)
	if err != nil {
		_ = out.Close()
		_ = os.RemoveAll(s.Temp)
		return nil, err
	}
	return &Program{p, out, s.Temp}, nil
}

// Output is its standard output; Process.Output is what it says beside that.
func (p *Program) Output() io.ReadCloser { return p.out }

// Folder is its own, which is removed when it has ended.
func (p *Program) Folder() string { return p.folder }

// Words are the last that it said beside its output, and how it ended.
func (p *Program) Words() string {
	o := p.Process.Output()
	text := strings.TrimSpace(string(o.Head) + string(o.Tail))
	if len(text) > 400 {
		if cause := causeIn(text); cause != "" {
			text = cause + " … " + text[len(text)-min(len(text), 200):]
		}
		text = "…" + strings.ToValidUTF8(text[max(len(text)-400, 0):], "")
	}
	if i := p.Info(); i.State == process.Ended && !i.Exit.OK() && !i.Exit.Stopped {
		how := fmt.Sprintf("exit code %d", i.Exit.Code)
		if i.Exit.Signal != "" {
			how = "ended by " + i.Exit.Signal
		}
		text = strings.TrimSpace(fmt.Sprintf("%s (%s)", text, how))
	}
	return text
}

// causeIn is the line of a program's last words that says what went wrong: in
// the middle of a stack, most often.
func causeIn(text string) string {
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.Contains(line, "EACCES") || strings.Contains(line, "Error: ") || strings.Contains(strings.ToLower(line), "permission denied") {
			return strings.ToValidUTF8(line[:min(len(line), 190)], "")
		}
	}
	return ""
}
