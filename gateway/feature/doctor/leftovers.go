package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/safepath"
)

// repairLeftovers is the name of the repair, and oldLeftover how old a file is that
// nobody is still writing.
const (
	repairLeftovers = "leftovers"
	oldLeftover     = time.Hour
)

// leftovers are the halves of files that writes left in the folders of the agents.
func (o Options) leftovers(ctx context.Context) (all []string, err error) {
	var seen []string
	for _, a := range o.Agents.Book().All() {
		if slices.Contains(seen, a.Workspace) {
			continue
		}
		seen = append(seen, a.Workspace)
		found, lerr := safepath.Leftovers(ctx, a.Workspace, o.Now().Add(-oldLeftover))
		all, err = append(all, found...), errors.Join(err, lerr)
	}
	return all, err
}

// halves: did killed writes leave anything?
func (o Options) halves(ctx context.Context) []protocol.HealthCheck {
	all, err := o.leftovers(ctx)
	if err != nil || len(all) == 0 {
		return nil
	}
	return []protocol.HealthCheck{{Area: "folder", State: protocol.CheckWarn, Fixable: true, Repair: repairLeftovers,
		What:   fmt.Sprintf("halves of files that were being written when Hearth was killed: %d, such as %s", len(all), all[0]),
		Advice: "`hearth doctor --fix` removes them; the files that they were to replace are whole"}}
}

func (o Options) removeLeftovers(ctx context.Context) (string, error) {
	all, err := o.leftovers(ctx)
	for _, path := range all {
		err = errors.Join(err, os.Remove(path))
	}
	return fmt.Sprintf("%d halves of files are removed", len(all)), err
}
