// Command settings writes what is known of the settings from what each section
// says about its keys (gateway/sections): the fields of the page's settings, and
// the tables of docs/configuration.md. A table stands between two comments, and
// the first names its sections:
//
//	<!-- settings: memory agents.defaults.memorySearch -->
//	<!-- /settings -->
//
// With -check it writes nothing and fails when they say something else.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/sections"
)

const page = "docs/configuration.md"

func main() {
	check := flag.Bool("check", false, "fail when something is not what the sections say")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("run this from the root of the repository: %w", err)
	}
	text, err := fill(string(old), sections.All(gateway.Networks()))
	if err != nil {
		return err
	}
	fields, err := paneFields(sections.All(gateway.Networks()))
	if err != nil {
		return err
	}
	for _, out := range [][2]string{{page, text}, {panes, fields}} {
		if old, err := os.ReadFile(out[0]); err == nil && string(old) == out[1] {
			continue
		}
		if check {
			return fmt.Errorf("%s is not what the sections of the settings say; run: go run ./build/settings", out[0])
		}
		if err := os.WriteFile(out[0], []byte(out[1]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// fill writes the tables anew.
func fill(text string, all config.Sections) (string, error) {
	table := regexp.MustCompile(`(?s)<!-- settings: ([^>]*?) -->\n.*?<!-- /settings -->`)
	var shown []string
	out := table.ReplaceAllStringFunc(text, func(old string) string {
		names := strings.Fields(table.FindStringSubmatch(old)[1])
		shown = append(shown, names...)
		return "<!-- settings: " + strings.Join(names, " ") + " -->\n" + rows(all, names) + "<!-- /settings -->"
	})
	for _, name := range all.Names() {
		if !slices.Contains(shown, name) {
			return "", fmt.Errorf("%s has no table for %s; put one at its place: <!-- settings: %s --> and <!-- /settings -->", page, name, name)
		}
	}
	for _, name := range shown {
		if !slices.Contains(all.Names(), name) {
			return "", fmt.Errorf("%s has a table for %s, and there is no such section", page, name)
		}
	}
	return out, nil
}

func rows(all config.Sections, names []string) string {
	var b strings.Builder
	b.WriteString("| key | default | meaning |\n|---|---|---|\n")
	for _, name := range names {
		for _, r := range all.Reference(name) {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", r.Key, r.Default, strings.ReplaceAll(r.Help, "|", `\|`))
		}
	}
	return b.String()
}
