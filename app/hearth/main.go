// Command hearth is the gateway and the command line in one static binary.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // the world's time zones, where the system has no list of them (Windows, small containers)

	"github.com/hearth-assistant/hearth/app/cli"
	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/release"
)

// version is set by the build: -ldflags "-X main.version=1.2.3".
var version = "0.1.0-dev"

// updateSource and updateKeys are set by who publishes builds: where the releases
// are, and the root keys that they are signed from (docs/update.md).
var updateSource, updateKeys string

func main() {
	if len(os.Args) == 2 && os.Args[1] == gateway.GuardianArg {
		os.Exit(gateway.Guardian())
	}
	if len(os.Args) == 2 && os.Args[1] == gateway.ReaderArg {
		os.Exit(gateway.Reader())
	}
	log.SetOutput(io.Discard) // libraries write there, ours do not
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait for the first
	world := cli.OS(version)
	world.Release = release.Build{Source: updateSource, Keys: updateKeys}
	os.Exit(cli.Main(ctx, os.Args[1:], world))
}
