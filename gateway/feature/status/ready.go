package status

import (
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// noRoom is when the store has used up what it keeps for a full disk.
const noRoom = 4 << 20

// Ready is what /readyz tells: whether Hearth can do its work and, if not, what
// fails.
func Ready(db *store.DB, dir statedir.Dir) func() (bool, []string) {
	return func() (bool, []string) {
		if err := db.Problem(); err != nil {
			return false, []string{"store"}
		}
		if free, ok := dir.Free(); ok && free < noRoom {
			return false, []string{"disk"}
		}
		return true, nil
	}
}
