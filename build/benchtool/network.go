package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// lan are the figures that the network lab prints, by its names.
func lan() map[string]figure {
	return map[string]figure{
		"discover-go":    {name: "`hearth discover`: first gateway, p95", budget: 1000, unit: "ms", note: "from the start of the process"},
		"discover-avahi": {name: "Avahi, freshly started: first gateway, p95", budget: 1000, unit: "ms"},
		"idle-packets":   {name: "Bonjour packets in a minute in which nobody asks", budget: 1, unit: ""},
		"pair-to-chat": {name: "from a setup code to the first answer, p95", budget: 5000, unit: "ms", note: "two programs and a scripted " +
			"model"},
		"reconnect": {name: "back after the network was away, p95", budget: 1000, unit: "ms"},
		"crowd-of-500": {name: "500 devices come back at once: all in", budget: 5000, unit: "ms", note: "devices and gateway share the " +
			"processors"},
	}
}

// measureNetwork runs the lab of app/hearth: machines made of network
// namespaces, which only root may make, with Avahi beside ours.
func measureNetwork(ctx context.Context, _ *bench) ([]figure, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-timeout", "5m", "-v", "-run", "^TestLabFigures$", "./app/hearth")
	cmd.Env = append(os.Environ(), "HEARTH_LAB=1", "HEARTH_REQUIRE_LAB=1", "HEARTH_FIGURES=1")
	raw, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("the network lab: %w\n%s", err, bytes.TrimSpace(raw))
	}
	known := lan()
	var out []figure
	for line := range strings.Lines(string(raw)) {
		var name string
		var v float64
		if n, _ := fmt.Sscanf(line, "figure %s %f", &name, &v); n != 2 {
			continue
		}
		if f, ok := known[name]; ok {
			f.measured = v
			out = append(out, f)
		}
	}
	if len(out) != len(known) {
		return out, fmt.Errorf("the network lab printed %d of %d figures", len(out), len(known))
	}
	return out, nil
}
