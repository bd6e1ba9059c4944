package doctor

import (
	"context"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// repairIndex is the name of the repair.
const repairIndex = "search"

// index: is what was said found?
func (o Options) index(ctx context.Context) []protocol.HealthCheck {
	h, err := o.Index.Verify(ctx)
	switch {
	case err != nil:
		return []protocol.HealthCheck{{Area: "gateway", State: protocol.CheckWarn, What: "the search index was not looked at: " + err.Error(),
			Advice: "look again; `hearth store check` says whether the database can be read"}}
	case h.Building:
		return []protocol.HealthCheck{{Area: "gateway", State: protocol.CheckOK,
			What: "the search index is being made; until then a search says so"}}
	case h.OK():
		return []protocol.HealthCheck{{Area: "gateway", State: protocol.CheckOK,
			What: fmt.Sprintf("the search index is in order (%d messages were looked up)", h.Looked)}}
	}
	what := "the search index is broken: " + h.Broken
	if h.Broken == "" {
		what = fmt.Sprintf("the search index is not complete: of %d messages %d are not found, and %d conversations are behind",
			h.Looked, h.Missing, h.Behind)
	}
	return []protocol.HealthCheck{{Area: "gateway", State: protocol.CheckWarn, What: what, Fixable: true, Repair: repairIndex,
		Advice: "`hearth doctor --fix` makes it anew in the background; nothing that was said is lost"}}
}

func (o Options) rebuild(ctx context.Context) (string, error) {
	return "the search index is being made anew", o.Index.Rebuild(ctx)
}
