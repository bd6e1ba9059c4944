// Package statedir knows where Hearth keeps its state on this machine and the
// runtime file by which the other executables find a running gateway. It does
// not open the store, read config or talk to anybody.
package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// Dir is the state folder. All files in it are 0600, the folder itself 0700.
type Dir string

// Locate returns the state folder: HEARTH_HOME when set, else the platform's
// data folder. It creates nothing.
func Locate(env func(string) string) (Dir, error) {
	if d := strings.TrimSpace(env("HEARTH_HOME")); d != "" {
		abs, err := filepath.Abs(d)
		if err != nil {
			return "", fmt.Errorf("HEARTH_HOME %q: %w", d, err)
		}
		return Dir(abs), nil
	}
	switch runtime.GOOS {
	case "windows":
		if d := env("LOCALAPPDATA"); d != "" {
			return Dir(filepath.Join(d, "Hearth")), nil
		}
	case "darwin":
		if d := env("HOME"); d != "" {
			return Dir(filepath.Join(d, "Library", "Application Support", "Hearth")), nil
		}
	default:
		if d := env("XDG_DATA_HOME"); filepath.IsAbs(d) {
			return Dir(filepath.Join(d, "hearth")), nil
		}
		if d := env("HOME"); d != "" {
			return Dir(filepath.Join(d, ".local", "share", "hearth")), nil
		}
	}
	return "", errors.New("cannot tell where to keep Hearth's data: no home folder is set; set HEARTH_HOME to a folder of yours")
}

// Home is the folder of the person whose programs these are, "" when nothing
// tells.
func Home(env func(string) string) string {
	if home := env("HOME"); home != "" {
		return home
	}
	home, _ := os.UserHomeDir()
	return home
}

// Expand is paths of the settings, where "~" stands for the home.
func Expand(home string, paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		if p == "~" || strings.HasPrefix(p, "~/") {
			p = filepath.Join(home, p[1:])
		}
		out = append(out, filepath.Clean(p))
	}
	return out
}

// Ensure creates the folder when it is missing and tightens its mode: nobody
// else on the machine may read transcripts or tokens.
func (d Dir) Ensure() error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return d.unusable("cannot be made", err)
	}
	if runtime.GOOS == "windows" {
		return nil // %LOCALAPPDATA% is private to the user by its ACL
	}
	if err := os.Chmod(string(d), 0o700); err != nil {
		return d.unusable("cannot be written", err)
	}
	return nil
}

func (d Dir) path(name string) string { return filepath.Join(string(d), name) }

// Store is the database.
func (d Dir) Store() string { return d.path("hearth.db") }

// LastGood is the last good copy of the database.
func (d Dir) LastGood() string { return d.path("hearth.db.last-good") }

// Removed keeps what was taken away from devices, programs and people, so that an
// older copy of the database gives nothing back.
func (d Dir) Removed() string { return d.path("hearth.removed.json") }

// Config is the config file, unless HEARTH_CONFIG names another.
func (d Dir) Config(env func(string) string) string {
	if p := env("HEARTH_CONFIG"); p != "" {
		return p
	}
	return d.path("hearth.json")
}

// Media is the folder of the pictures of conversations.
func (d Dir) Media() string { return d.path("media") }

// Uploads is the folder of files that were handed in and wait for their message.
func (d Dir) Uploads() string { return d.path("uploads") }

// Skills is the folder of skills. It lies beside the state folder: tools may
// read it, and nothing in the state folder.
func (d Dir) Skills() string { return strings.TrimRight(string(d), `/\`) + "-skills" }

// SkillLock says which files of skills the owner has seen.
func (d Dir) SkillLock() string { return d.path("skills.lock.json") }

// SkillsSeen says which skills lay in the owner's own folders, and when.
func (d Dir) SkillsSeen() string { return d.path("skills.seen.json") }

// Token is the file of the shared gateway token.
func (d Dir) Token() string { return d.path("gateway.token") }

// DeviceKey is the file of the key that device tokens are derived from.
func (d Dir) DeviceKey() string { return d.path("device.key") }

// Identity is the file of the key by which other machines know the gateway.
func (d Dir) Identity() string { return d.path("gateway.identity") }

// Remotes is the file of the gateways on other machines that this one is
// paired with, and RemoteKey the key by which they know this machine.
func (d Dir) Remotes() string   { return d.path("gateway.remotes") }
func (d Dir) RemoteKey() string { return d.path("gateway.remote-key") }

// Node is what this machine is as a node of a gateway, NodeState how that is
// just now, and NodeApprovals which commands may run here for it.
func (d Dir) Node() string          { return d.path("gateway.node") }
func (d Dir) NodeState() string     { return d.path("gateway.node-state") }
func (d Dir) NodeApprovals() string { return d.path("gateway.node-approvals") }

// NodeWork is where commands of that gateway run. It lies beside the state folder,
// of which they see nothing.
func (d Dir) NodeWork() string { return strings.TrimRight(string(d), `/\`) + "-node" }

// Log is the gateway's log, one JSON object a line.
func (d Dir) Log() string { return d.path("gateway.log") }

// Stacks is what every part of a gateway did when one did not move any more.
func (d Dir) Stacks() string { return d.path("gateway.stacks") }

// CodeCache is where the machine code of the engine of code mode is kept.
func (d Dir) CodeCache() string { return d.path("codemode-cache") }

// BackupBlocks is what the last full backup has, so that the next one can be small.
func (d Dir) BackupBlocks() string { return d.path("backup.blocks.json") }

// Undo holds copies of what tools changed.
func (d Dir) Undo() string { return d.path("undo") }

// RuntimeFile tells the others where the gateway is.
func (d Dir) RuntimeFile() string { return d.path("gateway.json") }

// Runtime is the content of the runtime file.
type Runtime struct {
	URL       string `json:"url"` // http://127.0.0.1:PORT
	PID       int    `json:"pid"`
	Version   string `json:"version"`
	StartedAt int64  `json:"startedAt"` // ms
}

// ErrNotRunning means that there is no runtime file: the gateway was stopped
// in good order or never started. A file that is there may still be stale.
var ErrNotRunning = errors.New("the Hearth gateway is not running; start it with `hearth gateway`")

// ReadRuntime reads the runtime file.
func (d Dir) ReadRuntime() (Runtime, error) {
	b, err := os.ReadFile(d.RuntimeFile())
	if errors.Is(err, fs.ErrNotExist) {
		return Runtime{}, ErrNotRunning
	}
	if err != nil {
		return Runtime{}, d.unusable("cannot be read", err)
	}
	var r Runtime
	if err := json.Unmarshal(b, &r); err != nil || r.URL == "" {
		return Runtime{}, fmt.Errorf("the gateway's runtime file %s is damaged; restart the gateway to write it anew", d.RuntimeFile())
	}
	return r, nil
}

// WriteRuntime replaces the runtime file as a whole.
func (d Dir) WriteRuntime(r Runtime) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return WriteFile(d.RuntimeFile(), append(b, '\n'))
}

// RemoveRuntime removes the runtime file when it is still ours.
func (d Dir) RemoveRuntime(pid int) {
	if r, err := d.ReadRuntime(); err == nil && r.PID == pid {
		_ = os.Remove(d.RuntimeFile())
	}
}

// ForgetRuntime removes the runtime file of a gateway that is gone. Only who
// holds the store knows that one is.
func (d Dir) ForgetRuntime() { _ = os.Remove(d.RuntimeFile()) }

// WriteFile replaces a private file atomically and durably: a crash leaves the
// old or the new content, never a part.
func WriteFile(path string, data []byte) error { return ReplaceFile(path, data, nil) }

// Cause is a file error without the names of files, which may be temporary ones.
func Cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}

// leftover is a file that WriteFile or a copy of the store had begun.
var leftover = regexp.MustCompile(`^\.[A-Za-z].*\.[0-9]{6,}$`)

// leftoverAge is much longer than any of them takes.
const leftoverAge = time.Hour

// Sweep removes files that were being written when their process was killed.
func (d Dir) Sweep(now time.Time) {
	files, err := os.ReadDir(string(d))
	if err != nil {
		return // whoever needs the folder says so
	}
	for _, f := range files {
		if !f.Type().IsRegular() || !leftover.MatchString(f.Name()) {
			continue
		}
		if st, err := f.Info(); err == nil && now.Sub(st.ModTime()) > leftoverAge {
			_ = os.Remove(d.path(f.Name()))
		}
	}
}

// ReplaceFile is WriteFile with a last look: ready is called when the new
// content is safe on disk but not yet in place, and an error from it keeps the
// old content.
func ReplaceFile(path string, data []byte, ready func() error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if err = f.Chmod(0o600); err != nil && runtime.GOOS != "windows" {
		return err
	}
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if ready != nil {
		if err = ready(); err != nil {
			return err
		}
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}
