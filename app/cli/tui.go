package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/app/tui"
	"github.com/hearth-assistant/hearth/app/tui/picture"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

type tuiOptions struct {
	session string
	theme   string
	images  string
}

func newTUI(a *app) *cobra.Command {
	var o tuiOptions
	c := &cobra.Command{
		Use:   "tui",
		Short: "Chat in this terminal: sessions, streaming answers, the queue",
		Long: `Chat in this terminal: sessions, streaming answers, the queue.

Enter sends; while an answer is given it steers that answer, Tab queues behind
it and Esc stops. ? shows all keys, Ctrl-C leaves; answers go on without it.

Pictures are drawn where the terminal can: in kitty and Ghostty, in iTerm2 and
WezTerm, by sixel, else in coloured blocks where it has true colour. Otherwise,
and with NO_COLOR, they are named. --images or HEARTH_IMAGES says it by hand.

If the gateway restarts, the chat waits for it: a message is never lost and
never sent twice.`,
		Example: "  hearth tui\n  hearth tui --session review",
		Args:    cobra.NoArgs,
		RunE:    a.run(func(ctx context.Context, _ []string) error { return runTUI(ctx, a, o) }),
	}
	c.Flags().StringVarP(&o.session, "session", "s", "", "the conversation to open; a new name begins one (default: the main one)")
	c.Flags().StringVar(&o.theme, "theme", "auto", "auto, light, dark, contrast (nothing faint) or none (no colour)")
	c.Flags().StringVar(&o.images, "images", "", "how pictures are shown: auto, kitty, iterm, sixel, blocks or off (default: HEARTH_IMAGES, "+
		"else auto)")
	return c
}

func runTUI(ctx context.Context, a *app, o tuiOptions) error {
	if !a.InTerminal || !a.OutTerminal {
		return &failure{exitUsage, "the chat needs a terminal, and input or output is something else", "use `hearth chat \"…\"` in scripts " +
			"and pipes"}
	}
	if !slices.Contains([]string{"auto", "light", "dark", "contrast", "none"}, o.theme) {
		return usage("there is no theme %s: auto, light, dark, contrast and none are known", line(o.theme))
	}
	images := cmp.Or(o.images, a.Env("HEARTH_IMAGES"), string(picture.Auto))
	if !picture.Known(images) {
		return usage("pictures cannot be shown by %s: %s are known", line(images), strings.Join(picture.Names(), ", "))
	}
	if a.Env("TERM") == "dumb" {
		return &failure{exitUsage, "this terminal (TERM=dumb) cannot be drawn on", "use `hearth chat` here"}
	}
	dial := a.dial
	if a.gateway == "" { // on its own machine people also hear of devices that ask to be let in
		dial = func(ctx context.Context, o client.Options) (*client.Client, error) {
			o.Scopes = append(slices.Clone(o.Scopes), protocol.ScopePairing)
			return a.dial(ctx, o)
		}
	}
	unsent, err := tui.Run(ctx, tui.Options{
		In: a.In, Out: a.Out, Environ: os.Environ(), Colour: a.out().colour, Session: o.session, Theme: o.theme, Dial: dial,
		Images: picture.Means(images), Tmux: outerTerminal(ctx, a.Env), Open: opener(a.Env), Said: a.errorWords(),
	})
	for _, text := range unsent {
		_ = a.errs().print(yellow("Not sent: "), text, "\n")
	}
	if errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	return err
}

// tmuxPatience is how long tmux may take to say what it is shown in.
const tmuxPatience = time.Second

// outerTerminal asks tmux for the terminal that it is shown in, which answers
// nothing through it. Without tmux, or an answer, nothing is known.
func outerTerminal(ctx context.Context, env func(string) string) (o picture.Outer) {
	if env("TMUX") == "" {
		return o
	}
	ctx, cancel := context.WithTimeout(ctx, tmuxPatience)
	defer cancel()
	said, err := exec.CommandContext(ctx, "tmux", "display-message", "-p",
		"#{client_termtype}|#{client_termfeatures}|#{allow-passthrough}").Output()
	if err != nil {
		return o
	}
	parts := strings.Split(strings.TrimSpace(string(said)), "|")
	if len(parts) != 3 {
		return o
	}
	o.Version = parts[0]
	o.Sixel = slices.Contains(strings.Split(parts[1], ","), "sixel")
	o.Passthrough = parts[2] == "on" || parts[2] == "all" || parts[2] == "1"
	return o
}

// opener shows a file in the program that the system has for it, where there is a
// desktop that a person sees: not on the other side of ssh.
func opener(env func(string) string) func(path string) error {
	desktop := env("DISPLAY") != "" || env("WAYLAND_DISPLAY") != ""
	switch {
	case runtime.GOOS == "darwin", runtime.GOOS == "windows":
		desktop = env("SSH_CONNECTION") == ""
	}
	if !desktop {
		return nil
	}
	return func(path string) error { return openBrowser(env, path) }
}
