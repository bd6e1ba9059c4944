// Package channeltest runs the suite that every channel passes, package
// conformance, in tests: a channel's tests call Run with its own fake network, and
// RunAsProgram where it lives in a program. The results are what build/test's check
// "channels" makes its table of, so the name of such a test begins with TestChannel.
package channeltest

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/conformance"
)

// What a channel's tests name.
type (
	// Network is the fake behind the channel under test. loopback.Net is one.
	Network = conformance.Network
	// Setup is one channel with its network.
	Setup = conformance.Setup
	// Files are local files that may be sent.
	Files = conformance.Files
)

// Run tries the whole contract. setup is called for every row.
func Run(t *testing.T, setup func(t *testing.T) *Setup) {
	t.Helper()
	run(t, "in the process", setup)
}

func run(t *testing.T, how string, setup func(t *testing.T) *Setup) {
	t.Helper()
	if !strings.HasPrefix(t.Name(), "TestChannel") {
		t.Fatalf("name it TestChannel…, so that the table of all networks has it")
	}
	t.Attr("channel-suite", how)
	for _, row := range conformance.Rows() {
		t.Run(row.Name, func(t *testing.T) { row.Try(t, setup(t)) })
	}
}
