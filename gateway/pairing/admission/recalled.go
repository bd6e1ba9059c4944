package admission

import (
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Recalled is what a person should know when the store, an older copy of itself,
// would have let in again who was removed; people is how many of them are contacts.
func Recalled(devices *pairing.Registry, programs *pairing.Clients, people int, log *audit.Log) []protocol.Problem {
	d, t := devices.Recalled(), programs.Recalled()
	if people+d+t == 0 {
		return nil
	}
	what := fmt.Sprintf("The database is an older copy. Some that it lets in were removed or limited since then and stay so "+
		"(devices: %d, tokens: %d, people: %d)", d, t, people)
	log.Add(audit.Entry{Kind: audit.KindAuth, What: what})
	return []protocol.Problem{{Code: "OLDER_COPY", Message: what + ". Look at `hearth devices`, `hearth tokens list` and " +
		"`hearth contacts`, and let in anew who should come back."}}
}
