package gateway

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/incident"
	"github.com/hearth-assistant/hearth/gateway/logfile"
	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/move"
	"github.com/hearth-assistant/hearth/gateway/problem"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/sections"
	"github.com/hearth-assistant/hearth/gateway/startup"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/task"
	"github.com/hearth-assistant/hearth/gateway/teardown"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// base is what everything stands on.
type base struct {
	Options            // Logger is the log file's too
	bootID  string     // of this start
	started time.Time  // when that was
	damaged chan error // of the store, told once

	asleep    move.State // whether this Hearth was moved away
	store     *store.DB
	incidents *incident.Log // where Hearth itself failed
	redactor  redact.Redactor
	audit     *audit.Log
	config    *config.File
	problems  problem.Board // what a person should know about
	features  *host.Host
	clock     *clock.Clock
	agents    *agents.Directory // who there is, and who answers
	work      *background.Group // what outlives the call that began it
	tasks     *task.Book        // background work of all features, as they report it
	secrets   *lookup.Secrets   // those that the settings refer to
	pictures  *media.Store      // of conversations
}

// openBase begins with the store: its lock keeps a second gateway from everything
// else.
func openBase(ctx context.Context, o Options, ends *teardown.Stack) (*base, error) {
	b := &base{Options: o, bootID: uuid.New(), started: o.Now(), damaged: make(chan error, 1), pictures: media.New(o.Dir.Media())}
	warnings, err := startup.Folder(b.Dir)
	if err != nil {
		return nil, err
	}
	b.problems.Note(warnings...)
	b.asleep = move.Asleep(b.Dir)
	if b.store, err = startup.Store(b.Dir, b.Now(), func(err error) { b.damaged <- err }); err != nil {
		return nil, err
	}
	ends.Add("the store", b.store.Close)
	b.incidents = incident.New(ctx, b.store, b.Now)
	var level slog.LevelVar // of the log file
	if err := b.openLog(ends, &level); err != nil {
		return nil, err
	}
	log, err := audit.Open(ctx, audit.Options{
		Path: filepath.Join(string(b.Dir), "audit.jsonl"), DB: b.store, Now: b.Now, Redact: b.redactor.Text, Logger: b.Logger,
	})
	if err != nil {
		return nil, startup.Cannot("The audit log cannot be written", err, "Check the folder's permissions and free space")
	}
	b.audit = log
	ends.Add("the audit log", log.Close)
	if err := b.openConfig(&level); err != nil {
		return nil, err
	}
	b.clock = clock.New(b.config, b.Env, b.Now)
	b.agents = agents.NewDirectory(b.config, statedir.Home(b.Env))
	b.work = background.New(ctx)
	ends.Plain(b.work.Close)
	if b.tasks, err = task.Open(task.Options{DB: b.store, Now: b.Now, Logger: b.Logger}); err != nil {
		return nil, startup.Cannot("The book of tasks could not be read", err, startup.RestoreStore)
	}
	b.secrets = lookup.Open(lookup.Options{
		Settings: b.config, Dir: string(b.Dir), Env: b.Env, Names: provider.KeyNames(), Redactor: &b.redactor, Work: b.work, Now: b.Now,
		Logger: b.Logger,
	})
	return b, nil
}

func (b *base) openLog(ends *teardown.Stack, level *slog.LevelVar) error {
	file, err := logfile.Open(b.Dir.Log(), logfile.Options{Level: level, Redact: b.redactor.Text, Now: b.Now})
	if err != nil {
		return startup.Cannot("The log file cannot be written", err, "Check the folder's permissions and free space")
	}
	b.Logger = slog.New(slog.NewMultiHandler(file.Handler(), redact.Handler(b.Logger.Handler(), &b.redactor)))
	ends.LogTo(b.Logger, file)
	return nil
}

func (b *base) openConfig(level *slog.LevelVar) error {
	f, err := config.Open(cmp.Or(b.ConfigPath, b.Dir.Config(b.Env)), config.Options{
		Logger: b.Logger, Now: b.Now, Sections: sections.All(Networks()),
		Env: func(name string) (string, bool) { v := b.Env(name); return v, v != "" },
	})
	if err != nil {
		return startup.Cannot("The settings cannot be used", err, "Mend the file as said, then start again")
	}
	b.config = f
	b.features = host.New(host.Options{Enabled: f.Snapshot().Config.FeatureOn, Logger: b.Logger})
	b.problems.Follow(b.features.Problems)
	b.problems.Follow(f.Problems)
	logfile.Follow(f, level)
	f.Follow(func(s *config.Snapshot) {
		b.audit.Add(audit.Entry{Kind: audit.KindConfig, What: "the settings changed", Facts: map[string]string{"hash": s.Hash,
			"file": s.Path}})
	})
	return nil
}

// errors are what may leave the gateway of errors.
func (b *base) errors() method.Errors {
	return method.Errors{Hide: &b.redactor, Damaged: method.DamagedWords}
}
