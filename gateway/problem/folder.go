package problem

import (
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// OfFolder is what a person should know about the state folder; tightened are its
// files that others could read until now.
func OfFolder(dir statedir.Dir, tightened []string) (out []protocol.Problem) {
	for _, name := range tightened {
		out = append(out, protocol.Problem{Code: "STATE_OPEN", Message: "Other users of this machine could read " + name +
			"; Hearth made it private. If somebody else uses this machine, make new keys."})
	}
	if cloud := dir.Synced(); cloud != "" {
		out = append(out, protocol.Problem{Code: "STATE_SYNCED", Message: "Hearth's data is in a folder of " + cloud +
			", which copies your conversations and keys to other machines and can damage the database. Stop Hearth, move " +
			string(dir) + " elsewhere and set HEARTH_HOME to the new place."})
	}
	if kind := dir.Shared(); kind != "" {
		out = append(out, protocol.Problem{Code: "STATE_SHARED", Message: "Hearth's data is in " + kind +
			", where a database can be damaged when the connection breaks. Stop Hearth, move " + string(dir) +
			" to a disk of this machine and set HEARTH_HOME to the new place."})
	}
	return out
}
