package cli

import (
	"context"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/internal/licenses"
)

type versionInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Dirty   bool   `json:"dirty,omitempty"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func newVersion(a *app) *cobra.Command {
	var notices bool
	cmd := &cobra.Command{
		Use: "version", Short: "Show this program's version", Args: cobra.NoArgs,
		RunE: a.run(func(context.Context, []string) error {
			if notices {
				return runLicenses(a)
			}
			return runVersion(a)
		}),
	}
	cmd.Flags().BoolVar(&notices, "licenses", false, "show the licences of what the program is made of")
	return cmd
}

func runLicenses(a *app) error {
	if a.asJSON {
		return a.out().json(map[string]string{"licenses": licenses.Text()})
	}
	return a.out().print(licenses.Text())
}

func runVersion(a *app) error {
	v := versionInfo{Version: a.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Commit = s.Value
			case "vcs.modified":
				v.Dirty = s.Value == "true"
			}
		}
	}
	if a.asJSON {
		return a.out().json(v)
	}
	text := "hearth " + v.Version
	if v.Commit != "" {
		text += " (" + v.Commit[:min(12, len(v.Commit))]
		if v.Dirty {
			text += ", changed"
		}
		text += ")"
	}
	return a.out().print(text, " ", v.Go, " ", v.OS, "/", v.Arch, "\n")
}
