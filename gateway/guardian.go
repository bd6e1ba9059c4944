package gateway

import "github.com/hearth-assistant/hearth/gateway/process"

// GuardianArg is the one argument with which this program starts itself again,
// to watch over a command.
const GuardianArg = "__child"

// Guardian does that and returns the exit code.
func Guardian() int { return process.Child() }
