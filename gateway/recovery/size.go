package recovery

import (
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Size is how many bytes the database has, counted as a running gateway counts them.
func Size(dir statedir.Dir) (int64, error) { return store.Used(dir.Store()) }
