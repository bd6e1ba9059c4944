// Command hearth-window is a native window on the gateway's own page. Wails'
// tools want it at the root of the module; everything else is app/window.
package main

import (
	"context"
	"os"

	"github.com/hearth-assistant/hearth/app/window"
)

// version is set by the build: -ldflags "-X main.version=1.2.3".
var version = "0.1.0-dev"

func main() { os.Exit(window.Main(context.Background(), version, os.Args[1:])) }
