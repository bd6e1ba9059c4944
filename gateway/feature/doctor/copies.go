package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// repairCopies is the name of the repair. Copies of the database that a restore, an
// update or a migration kept may take copiesBudget together; beyond that the oldest
// go, but none that is younger than copiesKept: by it somebody may still go back.
const (
	repairCopies = "copies"
	copiesBudget = 512 << 20
	copiesKept   = 30 * 24 * time.Hour
)

// kept is a copy of the database that something was replaced by.
type kept struct {
	path string
	size int64
	at   time.Time
}

// tooMuch are the copies that would have to go, the oldest first, and what all of them
// take.
func (o Options) tooMuch() (remove []kept, all int64) {
	var list []kept
	for _, pattern := range []string{".replaced-*", ".before-*"} {
		paths, _ := filepath.Glob(o.Dir.Store() + pattern)
		for _, path := range paths {
			if st, err := os.Lstat(path); err == nil && st.Mode().IsRegular() {
				list, all = append(list, kept{path, st.Size(), st.ModTime()}), all+st.Size()
			}
		}
	}
	slices.SortFunc(list, func(a, b kept) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.path, b.path)) })
	left := all
	for _, k := range list {
		if left <= copiesBudget || o.Now().Sub(k.at) < copiesKept {
			break
		}
		remove, left = append(remove, k), left-k.size
	}
	return remove, all
}

// copies: do old copies of the database take more of the disk than they may?
func (o Options) copies() []protocol.HealthCheck {
	remove, all := o.tooMuch()
	if len(remove) == 0 {
		return nil
	}
	gone := int64(0)
	for _, k := range remove {
		gone += k.size
	}
	return []protocol.HealthCheck{{Area: "folder", State: protocol.CheckWarn, Fixable: true, Repair: repairCopies,
		What: fmt.Sprintf("old copies of the database, kept by restores and updates, take %d MB of the disk; the oldest, %s, is of %s",
			all>>20, remove[0].path, remove[0].at.Format("2 January 2006")),
		Advice: fmt.Sprintf("`hearth doctor --fix` removes the %d oldest (%d MB); what is younger than 30 days stays", len(remove), gone>>20)}}
}

func (o Options) removeCopies(context.Context) (string, error) {
	remove, _ := o.tooMuch()
	var err error
	for _, k := range remove {
		err = errors.Join(err, os.Remove(k.path))
	}
	return fmt.Sprintf("%d old copies of the database are removed", len(remove)), err
}
