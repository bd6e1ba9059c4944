// Command hearth-whatsapp connects WhatsApp: the gateway starts one process of it for
// each account and talks to it over its standard input and output
// (gateway/channel/program/wire). It links whatsmeow, and by that libsignal, which is
// under the GNU General Public License 3: so is this program, a module of its own that
// nothing else of Hearth links. It owns the linked device and what WhatsApp's messages
// mean; how answers are cut and who may write is the gateway's business.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program/serve"
	"github.com/hearth-assistant/hearth/gateway/channel/whatsapp"
)

var version = "dev" // set by the build

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, in io.ReadCloser, out io.WriteCloser, told io.Writer) int {
	if len(args) == 1 && args[0] == "--version" {
		_, _ = fmt.Fprintln(out, whatsapp.Program, version, "(GPL-3.0)")
		return 0
	}
	if len(args) > 0 {
		_, _ = io.WriteString(told, "hearth-whatsapp connects WhatsApp for Hearth, which starts it by itself.\n\n"+
			"Usage: hearth-whatsapp [--version]\n")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := serve.Program{
		Name: whatsapp.Program, Version: version, Now: time.Now, Logger: slog.New(slog.NewTextHandler(told, nil)),
		New: func(network string, a channel.Account) (channel.Channel, error) {
			if network != whatsapp.ID {
				return nil, fmt.Errorf("%w: this program connects WhatsApp, not %s", channel.ErrRefused, network)
			}
			return newAccount(a, openReal)
		},
	}
	if err := p.Serve(ctx, in, out); err != nil {
		_, _ = fmt.Fprintln(told, "error:", err)
		return 1
	}
	return 0
}
