package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagFailure says in words what is wrong with a flag, where the library would say how a
// number is read.
func flagFailure(c *cobra.Command, err error) *failure {
	f := &failure{exitUsage, err.Error(), helpOf(c)}
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		name, value := "--"+bad.GetFlag().Name, strconv.Quote(line(bad.GetValue()))
		switch kind := bad.GetFlag().Value.Type(); {
		case errors.Is(err, strconv.ErrRange):
			f.message = fmt.Sprintf("%s cannot be as large as %s", name, value)
		case kind == "duration":
			f.message = fmt.Sprintf("%s takes a length of time such as 90s or 5m, not %s", name, value)
		case kind == "bool":
			f.message = fmt.Sprintf("%s takes true or false, not %s", name, value)
		case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"), strings.HasPrefix(kind, "float"):
			f.message = fmt.Sprintf("%s takes a number, not %s", name, value)
		}
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if short := unknown.GetSpecifiedShortnames(); takesValues(c) && short != "" && short[0] >= '0' && short[0] <= '9' {
			f.hint = fmt.Sprintf("a value that begins with - goes behind --, as in `%s … -- -%s`", c.CommandPath(), line(short))
		}
	}
	return f
}

// takesValues: what a command takes besides flags may begin with a minus sign.
func takesValues(c *cobra.Command) bool { return strings.Contains(strings.TrimSpace(c.Use), " ") }

// helpOf is the hint for a command line that is wrong.
func helpOf(c *cobra.Command) string { return "`" + c.CommandPath() + " --help` shows what it takes" }

// wantsJSON tells it of a command line that the library gave up before its flags.
func wantsJSON(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}

// exclusive is what the library says of flags that go not together: which there are, and
// which of them were given.
var exclusive = regexp.MustCompile(`^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`)

// commandFailure is for a word that is no command: the library puts what may be meant
// below its message. It is also for flags that exclude one another.
func commandFailure(c *cobra.Command, err error) *failure {
	if given := exclusive.FindStringSubmatch(err.Error()); given != nil {
		names := "--" + strings.Join(strings.Fields(given[1]), ", --")
		return &failure{exitUsage, fmt.Sprintf("%s exclude one another: give one of them", names), helpOf(c)}
	}
	message, meant, _ := strings.Cut(err.Error(), "Did you mean this?")
	f := &failure{exitUsage, strings.TrimSpace(message), "`hearth help` lists the commands"}
	if names := strings.Fields(meant); len(names) > 0 {
		f.hint = "did you mean `hearth " + strings.Join(names, "` or `hearth ") + "`? " + f.hint
	}
	return f
}

// strictHelp has the commands that the library adds fail for what is not there.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			show := c.Run
			c.Run, c.RunE = nil, func(c *cobra.Command, args []string) error {
				if about, rest, err := root.Find(args); err != nil || about == nil || len(args) > 0 && len(rest) == len(args) {
					return noCommand(root, args[0])
				} else if len(rest) > 0 && about.HasSubCommands() {
					return noCommand(about, rest[0])
				}
				show(c, args)
				return nil
			}
		case "completion":
			c.Args = onlyCommands
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

// onlyCommands refuses what is no command of c.
func onlyCommands(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return noCommand(c, args[0])
}

func noCommand(c *cobra.Command, name string) error {
	return &failure{exitUsage, "unknown command " + strings.TrimSpace(c.CommandPath()+" "+line(name)),
		"`" + c.CommandPath() + " --help` lists what there is"}
}
