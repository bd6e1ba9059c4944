package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagFailure says in words what is wrong with a flag, where the library would say how a
// number is read.
func flagFailure(c *cobra.Command, err error) *failure {
	f := &failure{exitUsage, err.Error(), "`" + c.CommandPath() + " --help` shows what it takes"}
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

// commandFailure is for a word that is no command: the library puts what may be meant
// below its message.
func commandFailure(err error) *failure {
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
