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
	var o qrOptions
	c := &cobra.Command{
		Use:   "qr",
		Short: "Show a code that pairs a phone or another device, once",
		Long: `Show a code that pairs another device, as a QR code and as text. A phone's camera
opens Hearth's page for phones with it, which needs no app. It works once, within
ten minutes, and a new one ends the one before. Who has it can pair a device: show
it to nobody else.

Apps made for OpenClaw scan the setup code itself: --app draws that one.

The device may talk, read, and decide approvals; with --full it may change
settings and devices as well. With --node it may do nothing by itself: it is a
computer that the assistant can ask to do things (hearth node run).`,
		Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return runQR(ctx, a, o) }),
	}
	c.Flags().BoolVar(&o.full, "full", false, "let the device change settings and devices too")
	c.Flags().BoolVar(&o.node, "node", false, "for a computer that runs hearth node")
	c.Flags().BoolVar(&o.bare, "code", false, "print the code only")
	c.Flags().BoolVar(&o.app, "app", false, "draw the setup code for an app, not the link for a phone's camera")
	return c
}

type qrOptions struct{ full, node, bare, app bool }

func runQR(ctx context.Context, a *app, o qrOptions) error {
	p := protocol.PairSetupParams{Access: "limited"}
	switch {
	case o.full && o.node:
		return usage("--full and --node are two different codes")
	case o.full:
		p.Access = "full"
	case o.node:
		p.Access = "node"
	}
	var s protocol.PairSetup
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodPairSetupCode, p, &s); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(s)
	}
	if s.SetupCode == "" && (o.bare || o.app) {
		return &failure{exitFailure, "only browsers reach this gateway, by Tailscale", "run `hearth lan on` for programs and other machines"}
	}
	if o.bare {
		return a.out().print(s.SetupCode, "\n")
	}
	drawn := s.SetupCode
	if len(s.PhoneURLs) > 0 && !o.app && !o.node {
		drawn = s.PhoneURLs[0]
	}
	out := a.out()
	if a.OutTerminal && (o.app || !o.node) {
		picture, err := drawQR(drawn, out.colour)
		if err != nil {
			return err
		}
		if err := out.raw(picture); err != nil {
			return err
		}
	}
	return out.print(qrWords(&s)...)
}

// qrWords says what to do with a code, for a phone and for a computer.
func qrWords(s *protocol.PairSetup) []any {
	key := []any{dim("Key "), shortPin(s.Pin), dim("  works once, until "), time.UnixMilli(s.ExpiresAtMs).Format("15:04"), dim("  gives "),
		s.Access, dim(" access"), "\n"}
	if s.Access == "node" {
		return append([]any{"On the other computer run:\n\n  hearth node run ", s.SetupCode, "\n\n"}, key...)
	}
	var parts []any
	for i, link := range s.PhoneURLs {
		switch i {
		case 0:
			parts = append(parts, "Scan it with a phone's camera, or open there:\n\n  ", line(link), "\n\n")
		case 1:
			parts = append(parts, dim("If the phone does not find it, the same by its address:\n"), "  ", dim(line(link)), "\n\n")
		}
	}
	if s.SetupCode != "" {
		parts = append(parts, "On another computer run:\n\n  hearth connect ", s.SetupCode, "\n\n")
	}
	parts = append(parts, key...)
	if s.Fingerprint != "" {
		parts = append(parts, dim("A browser warns of the certificate until its phone trusts this gateway: docs/phone.md says how.\n"+
			"Before going on past a warning, compare its SHA-256: "), s.Fingerprint, "\n")
	}
	return parts
}

// shortPin is empty where only browsers come, by a certificate of others.
func shortPin(pin string) string {
	if pin == "" {
		return "of Tailscale's certificate"
	}
	return identity.Short(pin)
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
