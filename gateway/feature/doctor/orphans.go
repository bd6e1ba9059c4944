package doctor

import (
	"context"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// repairOrphans is the name of the repair.
const repairOrphans = "orphans"

// orphans: does every message belong to a conversation?
func (o Options) orphans(ctx context.Context) []protocol.HealthCheck {
	lost, err := o.Sessions.Orphans(ctx)
	switch {
	case err != nil:
		return []protocol.HealthCheck{{Area: "gateway", State: protocol.CheckWarn,
			What:   "the conversations were not looked through: " + err.Error(),
			Advice: "look again; `hearth store check` says whether the database can be read"}}
	case lost.None():
		return []protocol.HealthCheck{{Area: "gateway", State: protocol.CheckOK, What: "every message belongs to a conversation"}}
	}
	return []protocol.HealthCheck{{
		Area: "gateway", State: protocol.CheckWarn, Fixable: true, Repair: repairOrphans,
		What: fmt.Sprintf("conversations without a chat: %d (with messages: %d), chats missing in the list: %d, "+
			"rows of the list without a chat: %d", len(lost.Transcripts), lost.Messages, len(lost.Unlisted), lost.Listed+lost.Past),
		Advice: "`hearth doctor --fix` shows them again as archived chats and puts the list in order; nothing that was said is removed",
	}}
}

// adopt gives them their places.
func (o Options) adopt(ctx context.Context) (string, error) {
	lost, err := o.Sessions.Adopt(ctx)
	return fmt.Sprintf("%d conversations are archived chats now, %d chats are in the list again, %d rows without a chat are gone",
		len(lost.Transcripts), len(lost.Unlisted), lost.Listed+lost.Past), err
}
