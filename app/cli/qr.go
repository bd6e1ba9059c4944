package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"rsc.io/qr"

	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newQR(a *app) *cobra.Command {
	var full, bare bool
	c := &cobra.Command{
		Use:   "qr",
		Short: "Show a code that pairs another device, once",
		Long: `Show a code that pairs another device, as a QR code and as text. It works once,
within ten minutes, and a new one ends the one before. Who has it can pair a
device: show it to nobody else.

The device may talk, read, and decide approvals; with --full it may change
settings and devices as well.`,
		Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return runQR(ctx, a, full, bare) }),
	}
	c.Flags().BoolVar(&full, "full", false, "let the device change settings and devices too")
	c.Flags().BoolVar(&bare, "code", false, "print the code only")
	return c
}

func runQR(ctx context.Context, a *app, full, bare bool) error {
	p := protocol.PairSetupParams{Access: "limited"}
	if full {
		p.Access = "full"
	}
	var s protocol.PairSetup
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodPairSetupCode, p, &s); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(s)
	}
	if bare {
		return a.out().print(s.SetupCode, "\n")
	}
	out := a.out()
	if a.OutTerminal {
		picture, err := drawQR(s.SetupCode, out.colour)
		if err != nil {
			return err
		}
		if err := out.raw(picture); err != nil {
			return err
		}
	}
	return out.print("Scan it, or on another computer run:\n\n  hearth connect ", s.SetupCode, "\n\n",
		dim("Key "), identity.Short(s.Pin), dim("  works once, until "), time.UnixMilli(s.ExpiresAtMs).Format("15:04"), dim("  gives "), s.Access, dim(" access"), "\n")
}

// drawQR draws a QR code with half blocks: two rows of modules a line. With
// colours it is black on white; without, it counts on a dark background.
func drawQR(text string, colour bool) (string, error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return "", &failure{exitFailure, "the code is too long for a QR code", "use `hearth qr --code` and paste it"}
	}
	const quiet = 2
	glyphs := [4]string{" ", "▄", "▀", "█"}
	var b strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		if colour {
			b.WriteString("\x1b[30;47m")
		}
		for x := -quiet; x < code.Size+quiet; x++ {
			n := 0
			if code.Black(x, y) {
				n |= 2
			}
			if code.Black(x, y+1) {
				n |= 1
			}
			if !colour {
				n = 3 - n
			}
			b.WriteString(glyphs[n])
		}
		if colour {
			b.WriteString("\x1b[0m")
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}
