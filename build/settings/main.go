// Command settings writes what is known of the settings from what each section
// says about its keys (gateway/sections): the fields of the page's settings, and
// the tables of docs/configuration.md. A table stands between two comments, and
// the first names its sections:
//
//	<!-- settings: memory agents.defaults.memorySearch -->
//	<!-- /settings -->
//
// What every messaging network has stands in one table of its own, "channels.*", and
// only the rest in those of the networks.
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
		if name != everyNetwork && !slices.Contains(all.Names(), name) {
			return "", fmt.Errorf("%s has a table for %s, and there is no such section", page, name)
		}
	}
	return out, nil
}

// everyNetwork is the table of what all messaging networks have.
const (
	everyNetwork = "channels.*"
	network      = "channels."
)

func rows(all config.Sections, names []string) string {
	shared := sharedRows(all)
	var b strings.Builder
	b.WriteString("| key | default | meaning |\n|---|---|---|\n")
	for _, name := range names {
		list := all.Reference(name)
		if name == everyNetwork {
			list = shared
		} else if strings.HasPrefix(name, network) {
			list = slices.DeleteFunc(list, func(r config.Row) bool { return slices.Contains(shared, general(name, r)) })
		}
		for _, r := range list {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", r.Key, r.Default, strings.ReplaceAll(r.Help, "|", `\|`))
		}
	}
	return b.String()
}

// general is a row of a network as one that holds for any.
func general(name string, r config.Row) config.Row {
	r.Key = strings.Replace(r.Key, name+".", network+"<network>.", 1)
	return r
}

// sharedRows are those that every network has, in the words of all.
func sharedRows(all config.Sections) (shared []config.Row) {
	first := true
	for _, name := range all.Names() {
		if !strings.HasPrefix(name, network) {
			continue
		}
		var own []config.Row
		for _, r := range all.Reference(name) {
			own = append(own, general(name, r))
		}
		if first {
			shared, first = own, false
			continue
		}
		shared = slices.DeleteFunc(shared, func(r config.Row) bool { return !slices.Contains(own, r) })
	}
	return shared
}
