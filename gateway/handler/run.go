package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/process"
)

// Limits of what a handler says.
const (
	MaxOutput   = 256 << 10
	maxMessages = 10
	maxMessage  = 4000
	maxSaid     = 500 // of what it printed, in an error
)

// Reply is what a handler wants done.
type Reply struct {
	// Messages are for the person, where the event came from.
	Messages []string `json:"messages"`
	// BootstrapFiles are shown to the assistant beside the usual ones.
	BootstrapFiles []BootstrapFile `json:"bootstrapFiles"`
}

// BootstrapFile is a file that tells an assistant who it is.
type BootstrapFile struct {
	Name    string `json:"name"`
	Path    string `json:"path,omitempty"`
	Content string `json:"content"`
}

// ReadReply reads what a handler returned. What is no object says nothing.
func ReadReply(said []byte) (r Reply, err error) {
	said = bytes.TrimSpace(said)
	if len(said) == 0 || said[0] != '{' {
		return Reply{}, nil
	}
	if err := json.Unmarshal(said, &r); err != nil {
		return Reply{}, fmt.Errorf("what it printed begins like JSON and is none: %w", err)
	}
	if len(r.Messages) > maxMessages {
		r.Messages = r.Messages[:maxMessages]
	}
	for i, m := range r.Messages {
		if len(m) > maxMessage {
			r.Messages[i] = strings.ToValidUTF8(m[:maxMessage], "") + "…"
		}
	}
	return r, nil
}

// Start is how a program is started.
type Start struct {
	Processes *process.Keeper
	Path      string   // where programs are looked for
	Env       []string // all of its environment but PATH, TMPDIR and HOOK_DIR
	Dir       string   // where it works
	Timeout   time.Duration
}

// Run starts the program of a handler with an event as its input, and reads what it
// prints. The program is a copy of the files that were read when the handler was
// found; it and all that it started has ended when Run returns.
func (h *Handler) Run(ctx context.Context, st Start, event []byte) (Reply, error) {
	temp, err := os.MkdirTemp("", "hearth-hook-")
	if err != nil {
		return Reply{}, fmt.Errorf("a folder for it could not be made: %w", err)
	}
	keep := false // the process takes the folder away
	defer func() {
		if !keep {
			_ = os.RemoveAll(temp)
		}
	}()
	dir := filepath.Join(temp, "hook")
	if err := h.copyTo(dir); err != nil {
		return Reply{}, err
	}
	spec, err := h.spec(st, dir, temp)
	if err != nil {
		return Reply{}, err
	}
	out, in, err := os.Pipe()
	if err != nil {
		return Reply{}, fmt.Errorf("a pipe for it could not be made: %w", err)
	}
	defer out.Close()
	spec.Stdout = in
	p, err := st.Processes.Start(ctx, spec)
	in.Close()
	if err != nil {
		return Reply{}, err
	}
	keep = true
	defer func() { _ = st.Processes.Remove(spec.Owner, p.ID()) }()
	said := make(chan []byte, 1)
	go func() {
		text, _ := io.ReadAll(io.LimitReader(out, MaxOutput+1))
		_, _ = io.Copy(io.Discard, out)
		said <- text
	}()
	go func() { // one that does not read is ended by its time
		_ = p.Write(event)
		_ = p.CloseInput()
	}()
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.Kill()
		<-p.Done()
	}
	return h.ended(ctx, p, <-said, st.Timeout)
}

// ended judges how a program came to its end.
func (h *Handler) ended(ctx context.Context, p *process.Process, said []byte, limit time.Duration) (Reply, error) {
	exit, rest := p.Info().Exit, p.Output()
	words := strings.TrimSpace(strings.ToValidUTF8(string(rest.Head)+string(rest.Tail), ""))
	if len(words) > maxSaid {
		words = "…" + strings.ToValidUTF8(words[len(words)-maxSaid:], "")
	}
	if words != "" {
		words = ": " + words
	}
	switch {
	case ctx.Err() != nil && !exit.OK():
		return Reply{}, fmt.Errorf("it was ended: %w", context.Cause(ctx))
	case exit.TimedOut:
		return Reply{}, fmt.Errorf("%w after %v%s", ErrTimeout, limit, words)
	case exit.Signal != "":
		return Reply{}, fmt.Errorf("it was ended by %s%s", exit.Signal, words)
	case !exit.OK():
		return Reply{}, fmt.Errorf("it ended with code %d%s", exit.Code, words)
	case len(said) > MaxOutput:
		return Reply{}, fmt.Errorf("it printed more than %d KB", MaxOutput>>10)
	}
	return ReadReply(said)
}

// copyTo writes the files that were read.
func (h *Handler) copyTo(dir string) error {
	for _, f := range h.files {
		to := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return fmt.Errorf("its copy could not be made: %w", err)
		}
		mode := os.FileMode(0o600)
		if f.exec {
			mode = 0o700
		}
		if err := os.WriteFile(to, f.data, mode); err != nil {
			return fmt.Errorf("its copy could not be made: %w", err)
		}
	}
	return nil
}

// spec is the command of a program.
func (h *Handler) spec(st Start, dir, temp string) (process.Spec, error) {
	file := filepath.Join(dir, filepath.FromSlash(h.File))
	argv := []string{file}
	if info, err := os.Stat(file); err == nil && info.Mode()&0o111 == 0 || filepath.Ext(file) == ".py" && filepath.Separator == '\\' {
		names := map[string][]string{".sh": {"sh"}, ".py": {"python3", "python"}}[filepath.Ext(file)]
		with, err := lookIn(st.Path, names)
		if err != nil {
			return process.Spec{}, err
		}
		argv = []string{with, file}
	}
	where := st.Dir
	if real, err := filepath.EvalSymlinks(where); err == nil {
		where = real
	}
	env := append(append([]string{}, st.Env...), "PATH="+st.Path, "TMPDIR="+temp, "HOOK_DIR="+dir, "HOOK_NAME="+h.Name)
	return process.Spec{
		Owner: "hook:" + h.Name, Title: h.Name, Path: argv[0], Argv: argv, Dir: where, Env: env, Input: true, Temp: temp, Timeout: st.Timeout,
	}, nil
}

// lookIn finds the first of some programs.
func lookIn(search string, names []string) (string, error) {
	for _, name := range names {
		for _, dir := range filepath.SplitList(search) {
			if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return found, nil
			}
		}
	}
	if len(names) == 0 {
		return "", errors.New("it is not executable; make it so with chmod +x")
	}
	return "", fmt.Errorf("there is no program %s in %s", names[0], search)
}
