package move

import (
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/backup"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// Stopped is a Hearth whose gateway does not run; all of it is needed.
type Stopped struct {
	Dir      statedir.Dir
	Config   string // the file of the settings
	Settings config.Options
	Home     string // of the person who runs it
	Version  string
	// Values are its keys and passwords, as backup.Values gives them.
	Values func(context.Context) ([]byte, error)
}

// Export puts it to sleep, and packs it into a file as Export does.
func (h Stopped) Export(ctx context.Context, o backup.Sealing) (made backup.Made, err error) {
	db, err := store.Open(h.Dir.Store(), store.Options{ReserveBytes: -1})
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, db.Close(ctx)) }()
	contents, err := h.contents(ctx, db) // what cannot be packed shall not be put to sleep
	if err != nil {
		return made, err
	}
	if !Asleep(h.Dir).Sleeps() {
		if err := Leave(ctx, h.Dir, State{ID: uuid.New(), At: o.Now.UTC(), Name: "a file"}); err != nil {
			return made, err
		}
	}
	return Export(ctx, h.Dir, contents.Source(), o)
}

// contents is all that a move takes along.
func (h Stopped) contents(ctx context.Context, db *store.DB) (backup.Contents, error) {
	c := backup.Contents{Dir: h.Dir, Store: db, Workspaces: map[string]string{}, Secrets: true, Moving: true, Version: h.Version, Home: h.Home}
	f, err := config.Open(h.Config, h.Settings)
	if err != nil {
		return c, err
	}
	if snap := f.Snapshot(); snap.Exists {
		c.Settings = []byte(snap.Raw)
	}
	for _, one := range agents.NewDirectory(f, h.Home).Book().All() {
		c.Workspaces[one.ID] = one.Workspace
	}
	c.Values, err = h.Values(ctx)
	return c, err
}
