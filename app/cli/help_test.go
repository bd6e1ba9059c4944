package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write what help says in English into the catalogue")

const catalogue = "../../frontend/src/i18n"

// frames is what help says around what the commands say of themselves.
var frames = [][2]string{
	{"help.usage", "Usage:"}, {"help.aliases", "Aliases:"}, {"help.examples", "Examples:"}, {"help.commands", "Available Commands:"},
	{"help.flags", "Flags:"}, {"help.globalFlags", "Global Flags:"}, {"help.topics", "Additional help topics:"},
	{"help.more", "Use {command} for more information about a command."}, {"help.of", "help for {command}"},
	{"help.version", "version for {command}"}, {"help.default", "default"},
}

// helpTexts are the keys and texts of the whole tree, each text once.
func helpTexts(t *testing.T) [][2]string {
	t.Helper()
	root := newRoot(&app{})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	out, seen := slices.Clone(frames), map[string]bool{}
	add := func(key, text string) {
		if text = strings.TrimRight(text, "\n"); text != "" && !seen[text] {
			seen[text] = true
			out = append(out, [2]string{key, text})
		}
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		path := strings.TrimPrefix(c.CommandPath(), "hearth ")
		add(path, c.Short)
		if c.Name() == "completion" || c.Name() == "help" { // cobra's own words
			return
		}
		add(path+" long", c.Long)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && f.Name != "version" {
				add(path+" --"+f.Name, f.Usage)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return out
}

// TestHelpIsInTheCatalogue: what help says in English is what translators see.
func TestHelpIsInTheCatalogue(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("{")
	for i, kv := range helpTexts(t) {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n  ")
		for j, s := range kv {
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			if err := e.Encode(s); err != nil {
				t.Fatal(err)
			}
			b.Truncate(b.Len() - 1)
			if j == 0 {
				b.WriteString(": ")
			}
		}
	}
	b.WriteString("\n}\n")
	file := filepath.Join(catalogue, "en", "help.json")
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, b.Bytes()) {
		t.Fatalf("%s is not what help says: go test ./app/cli -run %s -update, then the same keys in the other languages", file, t.Name())
	}
}

// What stands in a sentence for a program and not for a reader: commands, flags and
// what pflag takes for the name of a value.
var forPrograms = regexp.MustCompile("`[^`]+`|--[a-z][a-z-]*")

// TestHelpIsTranslatedWhole: a translation has the commands, flags and names of values
// of the English, and its lists have as many lines.
func TestHelpIsTranslatedWhole(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(catalogue, "*", "help.json"))
	if err != nil || len(files) != 15 {
		t.Fatalf("%d languages, %v", len(files), err)
	}
	parts := func(s string) []string {
		out := forPrograms.FindAllString(s, -1)
		slices.Sort(out)
		return slices.Compact(out)
	}
	indented := regexp.MustCompile(`(?m)^ +\S`)
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		words := map[string]string{}
		if err := json.Unmarshal(raw, &words); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		for _, kv := range helpTexts(t) {
			key, en := kv[0], kv[1]
			own, ok := words[key]
			switch {
			case !ok:
				t.Errorf("%s: %q is missing", f, key)
			case !slices.Equal(parts(own), parts(en)):
				t.Errorf("%s: %q has %q, English has %q", f, key, parts(own), parts(en))
			case len(indented.FindAllString(own, -1)) != len(indented.FindAllString(en, -1)):
				t.Errorf("%s: %q has a list of another length", f, key)
			case strings.Contains(own, "\n") && !strings.Contains(en, "\n"):
				t.Errorf("%s: %q is one line in English", f, key)
			}
		}
	}
}

// TestHelpInALanguage: what a person sees, and what chooses the language.
func TestHelpInALanguage(t *testing.T) {
	for _, tc := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"LANG": "en_US.UTF-8"}, "Usage:"},
		{map[string]string{"LANG": "C"}, "Usage:"},
		{map[string]string{"LANG": "sv_SE.UTF-8"}, "Usage:"},
		{map[string]string{"LANG": "de_AT.UTF-8"}, "Aufruf:"},
		{map[string]string{"LANG": "de_DE.UTF-8", "LC_MESSAGES": "en_GB.UTF-8"}, "Usage:"},
		{map[string]string{"LANG": "en_GB.UTF-8", "LC_ALL": "de_DE.UTF-8"}, "Aufruf:"},
	} {
		var out bytes.Buffer
		w := World{Out: &out, Err: &out, In: strings.NewReader(""), Words: os.DirFS(catalogue),
			Env: func(name string) string { return tc.env[name] }}
		if code := Main(t.Context(), []string{"cron", "add", "--help"}, w); code != exitOK {
			t.Fatalf("exit %d: %s", code, out.String())
		}
		if !strings.Contains(out.String(), "\n"+tc.want+"\n") {
			t.Errorf("%v: no line %q in\n%s", tc.env, tc.want, out.String())
		}
	}
}
