package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
)

const panes = "frontend/src/features/settings/sections.ts"

// paneFields writes the fields that the page's settings show, by pane, in the
// order of the sections. Their names and words stand in the page's languages.
func paneFields(all config.Sections) (string, error) {
	rows := map[string][]string{}
	var order []string
	for _, d := range all.Describe() {
		pane := d.Hint.Pane
		if pane == "" {
			continue
		}
		row, err := fieldSpec(d)
		if err != nil {
			return "", err
		}
		if !slices.Contains(order, pane) {
			order = append(order, pane)
		}
		rows[pane] = append(rows[pane], row)
	}
	slices.Sort(order)
	var b strings.Builder
	b.WriteString("// Written by build/settings from the sections of the settings (gateway/sections). Do not edit:\n" +
		"// change the section of the feature or package, and run: go run ./build/settings\n" +
		"import type { PaneId } from \"../../shell/panels.svelte\";\nimport type { FieldSpec } from \"./field\";\n\n" +
		"// prettier-ignore\nexport const sections: Partial<Record<PaneId, FieldSpec[]>> = {\n")
	for _, pane := range order {
		fmt.Fprintf(&b, "  %s: [\n    %s,\n  ],\n", pane, strings.Join(rows[pane], ",\n    "))
	}
	b.WriteString("};\n")
	return b.String(), nil
}

// fieldSpec is a FieldSpec of field.ts.
func fieldSpec(d config.Described) (string, error) {
	parts := []string{"path: " + quoted(d.Path)}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	fallback := string(d.Schema.Default)
	switch {
	case d.Hint.On != "":
		add(`kind: "switch", on: %s, off: %s`, quoted(d.Hint.On), quoted(d.Hint.Off))
	case d.Hint.Model:
		add(`kind: "model"`)
		fallback = `""`
	case d.Schema.Type == "boolean":
		add(`kind: "switch"`)
	case len(d.Schema.Enum) > 0:
		words, err := json.Marshal(d.Schema.Enum)
		if err != nil {
			return "", err
		}
		add(`kind: "choice", options: %s`, strings.ReplaceAll(string(words), ",", ", "))
		if d.Hint.Whole != "" {
			add(`of: %s`, quoted(d.Hint.Whole))
		}
	case d.Schema.Type == "integer" || d.Schema.Type == "number":
		add(`kind: "number", min: %v, max: %v`, int(*d.Schema.Minimum), int(*d.Schema.Maximum))
		if d.Schema.Type == "number" {
			add("fine: true")
		}
	case d.Schema.Type == "string":
		add(`kind: "text"`)
		if d.Hint.Example != "" {
			add(`example: %s`, quoted(d.Hint.Example))
		}
		if fallback == "" {
			fallback = `""`
		}
	default:
		return "", fmt.Errorf("%s is of a kind that no pane can show; take the pane out of its hint", d.Path)
	}
	word, ok := strings.CutSuffix(strings.TrimPrefix(d.Hint.Default, "`"), "`")
	if ok && !strings.Contains(word, `"`) && (fallback == "" || fallback == `""`) {
		if fallback = word; d.Schema.Type == "string" {
			fallback = quoted(word)
		}
	}
	if fallback == "" {
		fallback = "undefined"
	}
	add("fallback: %s", fallback)
	return "{ " + strings.Join(parts, ", ") + " }", nil
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }
