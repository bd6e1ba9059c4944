// Package backup is the feature that makes backups of this Hearth: when asked for,
// and by itself once a place was chosen. The format is package gateway/backup's,
// putting one back gateway/backup/restore's, which is done while the gateway is
// stopped.
package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/backup"
	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	// firstLook is how long after the start a backup may begin: a start has other
	// things to do.
	firstLook = 5 * time.Minute
	// look is how often it is looked whether one is due, and when one that failed is
	// tried again.
	look = 30 * time.Minute
	// overdue times the interval without a backup is a problem to tell.
	overdue = 3
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Store    *store.DB
	Dir      statedir.Dir
	Settings *config.File
	Agents   *agents.Directory
	Secrets  *lookup.Secrets
	Version  string
	Home     string // the person's folder
	Clock    *clock.Clock
	Now      func() time.Time
	Log      *slog.Logger
}

type feature struct {
	Options
	one sync.Mutex // held while a backup is made

	mu      sync.Mutex
	running bool
	last    time.Time // of the newest backup, as far as known
	failed  string    // of the last try
}

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{Options: o}
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodBackupStatus, f.status),
			method.Plain(protocol.MethodBackupSetup, told(f.setup)),
			method.Plain(protocol.MethodBackupCreate, told(f.create)),
			method.Plain(protocol.MethodBackupList, told(f.list)),
			method.Plain(protocol.MethodBackupPrune, told(f.prune)),
		},
		Problems: f.problems,
		Run: func(ctx context.Context) error {
			f.keep(ctx)
			return nil
		},
	}
}

// told gives a method's failures to whoever asked, in their own words: they are
// about that person's disk, passphrase and files.
func told[P, R any](fn func(context.Context, P) (R, error)) func(context.Context, P) (R, error) {
	return func(ctx context.Context, p P) (R, error) {
		out, err := fn(ctx, p)
		var refused *config.RefusedError
		var broken *config.BrokenError
		if err == nil || ctx.Err() != nil || errors.As(err, &refused) || errors.As(err, &broken) {
			return out, err
		}
		return out, protocol.Invalid("%v", err)
	}
}

func (f *feature) settings() Settings { return Section.Of(f.Settings.Snapshot().Config) }

func (f *feature) status(context.Context, method.None) (protocol.BackupStatus, error) {
	s := f.settings()
	out := protocol.BackupStatus{
		Folder: s.Folder, Recipients: s.Recipients, Secrets: s.Secrets, EveryMs: s.interval().Milliseconds(),
		Passphrase: s.Folder != "" && backup.HasKey(s.Folder),
	}
	if out.Recipients == nil {
		out.Recipients = []string{}
	}
	if s.Folder != "" {
		f.lookAt(s.Folder)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	out.Running, out.Error = f.running, f.failed
	if !f.last.IsZero() {
		out.LastAt = f.last.UnixMilli()
	}
	if s.Folder != "" && s.interval() > 0 {
		out.NextAt = max(out.LastAt+out.EveryMs, f.Now().UnixMilli())
	}
	return out, nil
}

// lookAt finds out when the newest backup of a place was made.
func (f *feature) lookAt(folder string) {
	list, err := backup.List(folder)
	if err != nil || len(list) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = list[0].At
}

// setup chooses the place and who can open the backups there.
func (f *feature) setup(ctx context.Context, p protocol.BackupSetupParams) (protocol.BackupStatus, error) {
	folder, err := config.Folder(p.Folder)
	if err != nil {
		return protocol.BackupStatus{}, err
	}
	if err := backup.Usable(folder); err != nil {
		return protocol.BackupStatus{}, err
	}
	for _, own := range f.saved() {
		if backup.Within(folder, own) {
			return protocol.BackupStatus{}, fmt.Errorf("%s is in %s, which goes into the backups itself: each one would hold all earlier ones, "+
				"and what destroys the folder takes them along. Choose a folder elsewhere, best on another disk", folder, own)
		}
	}
	to := p.Recipient
	switch {
	case to == "" && p.Passphrase == "":
		return protocol.BackupStatus{}, errors.New("a passphrase is needed, or a recipient of age (age1…): without one of them nobody " +
			"could open the backups")
	case to != "":
		err = backup.CheckRecipient(to)
	default:
		to, err = backup.MakeKey(folder, secret.New(p.Passphrase))
	}
	if errors.Is(err, backup.ErrKey) {
		err = fmt.Errorf("there are backups in %s already, and this passphrase does not open them; use theirs, or another folder", folder)
	}
	if err != nil {
		return protocol.BackupStatus{}, err
	}
	patch, err := json.Marshal(map[string]any{"backup": map[string]any{"folder": folder, "recipients": []string{to}, "secrets": p.Secrets}})
	if err != nil {
		return protocol.BackupStatus{}, err
	}
	if _, err := f.Settings.MergePatch(ctx, "", string(patch)); err != nil {
		return protocol.BackupStatus{}, err
	}
	return f.status(ctx, method.None{})
}

// saved are the folders that go into a backup.
func (f *feature) saved() []string {
	out := []string{string(f.Dir)}
	for _, a := range f.Agents.Book().All() {
		out = append(out, a.Workspace)
	}
	return out
}

func (f *feature) create(ctx context.Context, p protocol.BackupCreateParams) (protocol.BackupMade, error) {
	made, err := f.make(ctx, p.Full)
	if err != nil {
		return protocol.BackupMade{}, err
	}
	out := protocol.BackupMade{BackupEntry: entry(made.Info), Files: made.Files, Source: made.Source, Left: made.Left, Torn: made.Torn}
	if made.Note != nil {
		out.Note = made.Note.Error()
	}
	return out, nil
}

func entry(b backup.Info) protocol.BackupEntry {
	return protocol.BackupEntry{Name: b.Name, At: b.At.UnixMilli(), Full: b.Full, Base: b.Base, Bytes: b.Bytes}
}

// make makes a backup now, one at a time.
func (f *feature) make(ctx context.Context, full bool) (made backup.Made, err error) {
	f.one.Lock()
	defer f.one.Unlock()
	s := f.settings()
	if s.Folder == "" || len(s.Recipients) == 0 {
		return made, fmt.Errorf("%w; run `hearth backup setup FOLDER`", backup.ErrNotSetUp)
	}
	f.note(true, "", time.Time{})
	defer func() {
		failed := ""
		if err != nil {
			failed = err.Error()
		}
		f.note(false, failed, made.At)
	}()
	contents, err := f.Contents(ctx, s.Secrets)
	if err != nil {
		return made, err
	}
	backup.Sweep(s.Folder, f.Now())
	made, err = backup.Create(ctx, contents.Source(), backup.Options{
		Place: s.Folder, Recipients: s.Recipients, Blocks: f.Dir.BackupBlocks(), Secrets: s.Secrets, Full: full, Now: f.Now(),
	})
	if made.Note != nil {
		f.Log.Warn("a backup was made, but not noted", "error", made.Note)
	}
	return made, err
}

func (f *feature) note(running bool, failed string, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running, f.failed = running, failed
	if !at.IsZero() {
		f.last = at
	}
}

// Contents is what of this Hearth goes into a backup, or to another machine.
func (o Options) Contents(ctx context.Context, secrets bool) (backup.Contents, error) {
	c := backup.Contents{
		Dir: o.Dir, Store: o.Store, Workspaces: map[string]string{}, Secrets: secrets, Version: o.Version, Home: o.Home,
	}
	for _, a := range o.Agents.Book().All() {
		c.Workspaces[a.ID] = a.Workspace
	}
	snap := o.Settings.Snapshot()
	c.Settings = []byte(snap.Raw)
	if !secrets {
		hidden, err := snap.Redacted()
		if err != nil {
			return c, fmt.Errorf("read the settings: %w", err)
		}
		if c.Settings = nil; hidden.Raw != nil { // else nobody can tell where their keys are
			c.Settings = []byte(*hidden.Raw)
		}
		return c, nil
	}
	if o.Secrets.VaultLocked() {
		return c, nil // the vault's file is in it, and opens with its own passphrase
	}
	values, err := backup.Values(ctx, o.Secrets.Store())
	c.Values = values
	return c, err
}

// Whole is all that a move takes along.
func (o Options) Whole(ctx context.Context) (backup.Contents, error) {
	c, err := o.Contents(ctx, true)
	c.Moving = true
	return c, err
}

func (f *feature) list(context.Context, method.None) (protocol.BackupList, error) {
	s := f.settings()
	out := protocol.BackupList{Folder: s.Folder, Backups: []protocol.BackupEntry{}}
	if s.Folder == "" {
		return out, nil
	}
	list, err := backup.List(s.Folder)
	for _, b := range list {
		out.Backups = append(out.Backups, entry(b))
	}
	return out, err
}

// prune removes what is kept no longer.
func (f *feature) prune(context.Context, method.None) (protocol.BackupPruned, error) {
	f.one.Lock()
	defer f.one.Unlock()
	s := f.settings()
	out := protocol.BackupPruned{Removed: []protocol.BackupEntry{}}
	if s.Folder == "" {
		return out, nil
	}
	list, err := backup.List(s.Folder)
	if err != nil {
		return out, err
	}
	surplus := backup.Surplus(list, backup.Keep(s.Keep), f.Clock.Zone())
	for _, b := range surplus {
		out.Removed = append(out.Removed, entry(b))
	}
	return out, backup.Remove(s.Folder, surplus)
}

// keep makes a backup whenever one is due, until ctx ends.
func (f *feature) keep(ctx context.Context) {
	for wait := firstLook; ; wait = look {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		s := f.settings()
		if s.Folder == "" || s.interval() == 0 {
			continue
		}
		f.lookAt(s.Folder)
		f.mu.Lock()
		last := f.last
		f.mu.Unlock()
		if f.Now().Sub(last) < s.interval() {
			continue
		}
		made, err := f.make(ctx, false)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			f.Log.Warn("a backup could not be made", "err", err)
			continue
		}
		f.Log.Info("a backup was made", "name", made.Name, "bytes", made.Bytes, "files", made.Files, "left", len(made.Left))
		if _, err := f.prune(ctx, method.None{}); err != nil {
			f.Log.Warn("old backups could not be removed", "err", err)
		}
	}
}

// problems are backups that fail, when there was none for long.
func (f *feature) problems() []protocol.Problem {
	s := f.settings()
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.Folder == "" || s.interval() == 0 || f.failed == "" || !f.last.IsZero() && f.Now().Sub(f.last) < overdue*s.interval() {
		return nil
	}
	since := "There is no backup yet"
	if !f.last.IsZero() {
		since = "There has been no backup since " + f.last.In(f.Clock.Zone()).Format("2 January 15:04")
	}
	return []protocol.Problem{{
		Code: "BACKUP",
		Message: fmt.Sprintf("%s: %s. Run `hearth backup create` once that is mended; backups go to %s.", since, f.failed,
			filepath.Clean(s.Folder)),
	}}
}
