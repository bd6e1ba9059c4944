package ref

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

const (
	defaultTimeout = 10 * time.Second
	defaultBytes   = 1 << 20
)

func (r *Resolver) env(p Provider, name string) (string, error) {
	if len(p.Allowlist) > 0 && !slices.Contains(p.Allowlist, name) {
		return "", fmt.Errorf("the variable %s is not in the provider's allowlist", name)
	}
	if v := r.opts.Env(name); v != "" {
		return v, nil
	}
	return "", fmt.Errorf("the environment variable %s is not set; set it before you start Hearth", name)
}

// file reads a secret of a private file: all of it, or a place in a JSON file.
func (r *Resolver) file(p Provider, id string) (string, error) {
	path := p.Path
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := r.opts.Home()
		if err != nil {
			return "", fmt.Errorf("cannot tell what ~ is: %w", err)
		}
		path = filepath.Join(home, rest)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no file %s", path)
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("other users of this machine can use %s; run: chmod 600 %s", path, path)
	}
	limit := p.MaxBytes
	if limit <= 0 {
		limit = defaultBytes
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return "", err
	}
	if len(b) > limit {
		return "", fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	if !p.JSON {
		return string(b), nil
	}
	return pointed(b, id)
}

// pointed finds a text in JSON by a pointer (RFC 6901).
func pointed(raw []byte, pointer string) (string, error) {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return "", errors.New("the file is not JSON") // its error would show a part of it
	}
	if !strings.HasPrefix(pointer, "/") {
		return "", errors.New("id must be a place in the file that begins with /, for example /providers/openai/apiKey")
	}
	for _, step := range strings.Split(pointer[1:], "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(x) {
				return "", fmt.Errorf("the file holds nothing at %s", pointer)
			}
			v = x[i]
		default:
			v = nil
		}
	}
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("the file holds no text at %s", pointer)
	}
	return s, nil
}

// asked is what a program is told on its standard input. It may answer with
// answered, or with the secret itself.
type asked struct {
	ProtocolVersion int      `json:"protocolVersion"`
	Provider        string   `json:"provider"`
	IDs             []string `json:"ids"`
}

type answered struct {
	ProtocolVersion int               `json:"protocolVersion"`
	Values          map[string]string `json:"values"`
	Errors          map[string]any    `json:"errors"`
}

// run starts a program by its whole path, with no shell, few variables and a
// time limit. Neither its output nor its complaints are shown: both may hold
// secrets.
func (r *Resolver) run(ctx context.Context, p Provider, ref secret.Ref) (string, error) {
	if len(p.Argv) == 0 || !filepath.IsAbs(p.Argv[0]) {
		return "", errors.New("the program must be given by its whole path")
	}
	limit, patience := p.MaxBytes, p.Timeout
	if limit <= 0 {
		limit = defaultBytes
	}
	if patience <= 0 {
		patience = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	in, err := json.Marshal(asked{1, ref.Provider, []string{ref.ID}})
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, p.Argv[0], p.Argv[1:]...)
	cmd.Stdin, cmd.Dir, cmd.WaitDelay = bytes.NewReader(append(in, '\n')), filepath.Dir(p.Argv[0]), time.Second
	cmd.Env = r.childEnv(p.PassEnv)
	out := &capped{left: limit}
	cmd.Stdout = out
	err = cmd.Run()
	switch {
	case out.over:
		return "", fmt.Errorf("%s wrote more than %d bytes", p.Argv[0], limit)
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s did not answer within %v", p.Argv[0], patience)
	case err != nil:
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			return "", fmt.Errorf("%s ended with %v; run it by hand to see why", p.Argv[0], ended)
		}
		return "", err
	}
	return answer(out.b.Bytes(), ref.ID)
}

func answer(out []byte, id string) (string, error) {
	var a answered
	if t := bytes.TrimSpace(out); len(t) > 0 && t[0] == '{' && json.Unmarshal(t, &a) == nil && a.ProtocolVersion == 1 {
		if v, ok := a.Values[id]; ok {
			return v, nil
		}
		return "", errors.New("the program has no secret of this id")
	}
	return string(out), nil
}

// childEnv is little: where programs and the home folder are, and what the
// settings name.
func (r *Resolver) childEnv(more []string) (env []string) {
	for _, name := range append([]string{"PATH", "HOME", "LANG", "TMPDIR", "SystemRoot", "USERPROFILE"}, more...) {
		if v := r.opts.Env(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// capped keeps so many bytes and refuses more.
type capped struct {
	b    bytes.Buffer
	left int
	over bool
}

func (c *capped) Write(p []byte) (int, error) {
	if len(p) > c.left {
		c.over = true
		return 0, errors.New("too much output")
	}
	c.left -= len(p)
	return c.b.Write(p)
}
