package host

import (
	"context"
	"net/http"

	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// Feature is what a feature adds. Any part may be empty. A Feature is not
// changed after its constructor returned it.
type Feature struct {
	// Methods answer calls of clients; each has a row in protocol.Methods, which
	// holds its scope, and belongs to one feature.
	Methods []method.Method
	// Tools are offered to models, as far as the tool policy lets them.
	Tools []tool.Tool
	// Commands are slash commands.
	Commands []command.Command
	// Mounts answer HTTP requests below a path ("/mcp", "/v1/"), which they
	// authenticate themselves.
	Mounts map[string]http.Handler
	// Checks is what `hearth doctor` is told, nil for nothing. It may take its time
	// and ask others.
	Checks func(ctx context.Context, p protocol.DoctorParams) []protocol.HealthCheck
	// Problems is what a person should know about now, nil for nothing. It is asked
	// often and returns at once.
	Problems func() []protocol.Problem
	// Run works in the background until ctx ends, nil for nothing. It returns an
	// error only for what makes it stop before.
	Run func(ctx context.Context) error
	// Close gives back what the constructor opened, nil for nothing. Run has
	// returned before.
	Close func(ctx context.Context) error
}

// Entry is one line of the list of features.
type Entry struct {
	// Name is the folder below gateway/feature, and the key that switches it off:
	// features.<name>.
	Name string
	// New makes the feature; it is called once, or not at all.
	New func() (Feature, error)
}

// Of is the entry of a feature that is made of the parts in o and cannot fail.
func Of[O any](name string, construct func(o O) Feature, o O) Entry {
	return Entry{Name: name, New: func() (Feature, error) { return construct(o), nil }}
}
