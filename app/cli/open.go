package cli

import (
	"context"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

type openOptions struct {
	print bool
}

func newOpen(a *app) *cobra.Command {
	var o openOptions
	c := &cobra.Command{
		Use:   "open",
		Short: "Open Hearth in the browser",
		Long: `Open Hearth in the browser of this machine.

The link connects the browser that opens it, once, within a minute; after that
the browser knows Hearth and the plain address is enough.`,
		Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return runOpen(ctx, a, o) }),
	}
	c.Flags().BoolVar(&o.print, "print", false, "only print the link")
	return c
}

func runOpen(ctx context.Context, a *app, o openOptions) error {
	var l protocol.LaunchLink
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodLaunchLink, protocol.LaunchLinkParams{}, &l); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(l)
	}
	if !o.print {
		if openBrowser(a.Env, l.URL) == nil {
			return a.errs().print(dim("Hearth opens in your browser."), "\n")
		}
		if err := a.errs().print("No browser could be opened here. Open this link on this machine within a minute:\n"); err != nil {
			return err
		}
	}
	return a.out().print(l.URL, "\n")
}

// openBrowser starts the system's handler and leaves it running: it may be the
// browser itself. The link is visible to other processes for a moment, which
// is why it works once and for a minute only.
func openBrowser(env func(string) string, url string) error {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	default:
		if env("DISPLAY") == "" && env("WAYLAND_DISPLAY") == "" {
			return exec.ErrNotFound
		}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
