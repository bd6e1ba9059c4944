package cli

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/jeandeaual/go-locale"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	i18n "github.com/hearth-assistant/hearth/frontend/src/i18n"
)

// helpWidth is where lines of translated help end, in columns. English is wrapped
// where it is written.
const helpWidth = 80

// helpWords are the words of help in a person's language.
type helpWords struct {
	*i18n.Words
	keys map[string]string // what is said in English → its key
}

// speakHelp gives root and its commands help in the language of the person.
func (a *app) speakHelp(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if w := inLanguage(a, i18n.OpenHelp); w != nil && w.Language() != i18n.English {
			words := newHelpWords(w)
			words.translate(c)
			c.SetUsageFunc(words.usage)
		}
		help(c, args)
	})
}

// inLanguage opens a part of the catalogue in the language of the person; nil where
// the program was built without one, so that all is said in English.
func inLanguage[T any](a *app, open func(files fs.FS, wanted ...string) (*T, error)) *T {
	if a.Words == nil {
		return nil
	}
	words, err := open(a.Words, languages(a.Env)...)
	if err != nil {
		return nil
	}
	return words
}

// languages are those that somebody wants, best first. The variables come before what
// the system was set to, as other programs of the command line have it.
func languages(env func(string) string) []string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := env(name); v != "" {
			return []string{v}
		}
	}
	list, err := locale.GetLocales()
	if err != nil {
		return nil // English is what help is written in
	}
	return list
}

func newHelpWords(w *i18n.Words) helpWords {
	out := helpWords{w, map[string]string{}}
	for key, text := range w.English() {
		out.keys[text] = key
	}
	return out
}

// say is an English text of the tree of commands in this language.
func (w helpWords) say(text string) string {
	trimmed := strings.TrimRight(text, "\n")
	said := w.short(trimmed)
	if said == trimmed { // it stays wrapped as it is written
		return text
	}
	lines := strings.Split(said, "\n")
	for i, l := range lines {
		lines[i] = ansi.Wrap(l, helpWidth, "")
	}
	return strings.Join(lines, "\n") + text[len(trimmed):]
}

// short is say for what stands on one line.
func (w helpWords) short(text string) string {
	if key, ok := w.keys[text]; ok {
		return w.Say(key)
	}
	return text
}

// translate puts what is shown of c into this language.
func (w helpWords) translate(c *cobra.Command) {
	c.Long, c.Short = w.say(c.Long), w.short(c.Short)
	for _, sub := range c.Commands() {
		sub.Short = w.short(sub.Short)
	}
	flag := func(f *pflag.Flag) {
		switch {
		case f.Name == "help":
			f.Usage = w.Say("help.of", "command", c.Name())
		case f.Name == "version" && strings.HasPrefix(f.Usage, "version for "):
			f.Usage = w.Say("help.version", "command", c.Name())
		default:
			f.Usage = w.short(f.Usage)
		}
	}
	c.LocalFlags().VisitAll(flag)
	c.InheritedFlags().VisitAll(flag)
}

// usage writes what cobra does, with headings in this language.
func (w helpWords) usage(c *cobra.Command) error {
	var b strings.Builder
	heading := func(key string) { fmt.Fprintf(&b, "\n\n%s\n", w.Say(key)) }
	b.WriteString(w.Say("help.usage"))
	if c.Runnable() {
		fmt.Fprintf(&b, "\n  %s", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n  %s [command]", c.CommandPath())
	}
	if len(c.Aliases) > 0 {
		heading("help.aliases")
		fmt.Fprintf(&b, "  %s", c.NameAndAliases())
	}
	if c.HasExample() {
		heading("help.examples")
		b.WriteString(c.Example)
	}
	if c.HasAvailableSubCommands() {
		heading("help.commands")
		w.list(&b, c.Commands(), func(sub *cobra.Command) (name string, width int, listed bool) {
			return sub.Name(), sub.NamePadding(), sub.IsAvailableCommand() || sub.Name() == "help"
		})
	}
	if c.HasAvailableLocalFlags() {
		heading("help.flags")
		b.WriteString(w.flags(c.LocalFlags()))
	}
	if c.HasAvailableInheritedFlags() {
		heading("help.globalFlags")
		b.WriteString(w.flags(c.InheritedFlags()))
	}
	if c.HasHelpSubCommands() {
		heading("help.topics")
		w.list(&b, c.Commands(), func(sub *cobra.Command) (name string, width int, listed bool) {
			return sub.CommandPath(), sub.CommandPathPadding(), sub.IsAdditionalHelpTopicCommand()
		})
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n\n%s", w.Say("help.more", "command", "\""+c.CommandPath()+" [command] --help\""))
	}
	_, err := fmt.Fprintln(c.OutOrStderr(), b.String())
	return err
}

// list writes names and what each is for, one on a line.
func (w helpWords) list(b *strings.Builder, all []*cobra.Command, row func(*cobra.Command) (name string, width int, listed bool)) {
	var lines []string
	for _, c := range all {
		if name, width, listed := row(c); listed {
			lines = append(lines, fmt.Sprintf("  %-*s %s", width, name, c.Short))
		}
	}
	b.WriteString(strings.Join(lines, "\n"))
}

// flags is what pflag says of them; how it marks what holds by itself is English.
func (w helpWords) flags(set *pflag.FlagSet) string {
	return strings.ReplaceAll(strings.TrimRight(set.FlagUsages(), " \n"), "(default ", "("+w.Say("help.default")+" ")
}
