// Command hearth-channels connects messaging networks: the gateway starts one process of it
// for each account and talks to it over its standard input and output
// (gateway/channel/program/wire). It links the networks' libraries, so that none of
// them is in the gateway, and owns nothing else.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/discord"
	discordclient "github.com/hearth-assistant/hearth/gateway/channel/discord/client"
	"github.com/hearth-assistant/hearth/gateway/channel/email"
	emailclient "github.com/hearth-assistant/hearth/gateway/channel/email/client"
	"github.com/hearth-assistant/hearth/gateway/channel/googlechat"
	googlechatclient "github.com/hearth-assistant/hearth/gateway/channel/googlechat/client"
	"github.com/hearth-assistant/hearth/gateway/channel/irc"
	ircclient "github.com/hearth-assistant/hearth/gateway/channel/irc/client"
	"github.com/hearth-assistant/hearth/gateway/channel/line"
	lineclient "github.com/hearth-assistant/hearth/gateway/channel/line/client"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix"
	"github.com/hearth-assistant/hearth/gateway/channel/mattermost"
	mattermostclient "github.com/hearth-assistant/hearth/gateway/channel/mattermost/client"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams"
	msteamsclient "github.com/hearth-assistant/hearth/gateway/channel/msteams/client"
	"github.com/hearth-assistant/hearth/gateway/channel/nextcloudtalk"
	nextcloudclient "github.com/hearth-assistant/hearth/gateway/channel/nextcloudtalk/client"
	"github.com/hearth-assistant/hearth/gateway/channel/program/serve"
	signalkind "github.com/hearth-assistant/hearth/gateway/channel/signal"
	signalclient "github.com/hearth-assistant/hearth/gateway/channel/signal/client"
	"github.com/hearth-assistant/hearth/gateway/channel/slack"
	slackclient "github.com/hearth-assistant/hearth/gateway/channel/slack/client"
	"github.com/hearth-assistant/hearth/gateway/channel/xmpp"
	xmppclient "github.com/hearth-assistant/hearth/gateway/channel/xmpp/client"
	"github.com/hearth-assistant/hearth/gateway/channel/zulip"
	zulipclient "github.com/hearth-assistant/hearth/gateway/channel/zulip/client"
)

var version = "dev" // set by the build

// networks are what this program connects to.
func networks() map[string]func(channel.Account) (channel.Channel, error) {
	return map[string]func(channel.Account) (channel.Channel, error){
		discord.ID:       func(a channel.Account) (channel.Channel, error) { return discordclient.New(a) },
		email.ID:         func(a channel.Account) (channel.Channel, error) { return emailclient.New(a) },
		googlechat.ID:    func(a channel.Account) (channel.Channel, error) { return googlechatclient.New(a) },
		irc.ID:           func(a channel.Account) (channel.Channel, error) { return ircclient.New(a) },
		line.ID:          func(a channel.Account) (channel.Channel, error) { return lineclient.New(a) },
		matrix.ID:        openMatrix,
		mattermost.ID:    func(a channel.Account) (channel.Channel, error) { return mattermostclient.New(a) },
		msteams.ID:       func(a channel.Account) (channel.Channel, error) { return msteamsclient.New(a) },
		nextcloudtalk.ID: func(a channel.Account) (channel.Channel, error) { return nextcloudclient.New(a) },
		slack.ID:         func(a channel.Account) (channel.Channel, error) { return slackclient.New(a) },
		xmpp.ID:          func(a channel.Account) (channel.Channel, error) { return xmppclient.New(a) },
		zulip.ID:         func(a channel.Account) (channel.Channel, error) { return zulipclient.New(a) },
		signalkind.ID:    func(a channel.Account) (channel.Channel, error) { return signalclient.New(a) },
	}
}

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, in io.ReadCloser, out io.WriteCloser, told io.Writer) int {
	all := networks()
	usage := "hearth-channels connects messaging networks for Hearth, which starts it by itself.\n\n" +
		"Usage: hearth-channels NETWORK\n       hearth-channels --version\n\nNetworks: " +
		strings.Join(slices.Sorted(maps.Keys(all)), ", ") + "\n"
	if len(args) != 1 || args[0] == "--help" || args[0] == "-h" {
		_, _ = io.WriteString(told, usage)
		return 2
	}
	if args[0] == "--version" || args[0] == "version" {
		_, _ = fmt.Fprintln(out, "hearth-channels", version)
		return 0
	}
	make, ok := all[args[0]]
	if !ok {
		_, _ = fmt.Fprintf(told, "error: there is no network %q in this program.\n\n%s", args[0], usage)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := serve.Program{
		Name: "hearth-channels", Version: version, Now: time.Now, Logger: slog.New(slog.NewTextHandler(told, nil)),
		New: func(network string, a channel.Account) (channel.Channel, error) {
			if network != args[0] {
				return nil, fmt.Errorf("%w: this process connects %s, not %s", channel.ErrRefused, args[0], network)
			}
			return make(a)
		},
	}
	if err := p.Serve(ctx, in, out); err != nil {
		_, _ = fmt.Fprintln(told, "error:", err)
		return 1
	}
	return 0
}
