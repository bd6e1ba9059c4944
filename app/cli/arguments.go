package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// wordArguments has every command say in words what it wants, where the library
// would count arguments.
func wordArguments(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if err == nil || c.HasSubCommands() || !strings.Contains(err.Error(), "arg(s)") && !strings.HasPrefix(err.Error(), "unknown command") {
				return err // a command that holds others has words for one that it does not hold
			}
			return argumentsError(c, args)
		}
	}
	for _, sub := range c.Commands() {
		wordArguments(sub)
	}
}

// argumentsError says what is missing, or too much.
func argumentsError(c *cobra.Command, args []string) error {
	_, wants, _ := strings.Cut(strings.TrimSpace(c.Use), " ")
	needed := 0
	for word := range strings.FieldsSeq(wants) {
		if !strings.HasPrefix(word, "[") && !strings.HasPrefix(word, "-") {
			needed++
		}
	}
	f := &failure{code: exitUsage, hint: helpOf(c)}
	switch {
	case len(args) < needed:
		f.message = fmt.Sprintf("`%s` needs %s", c.CommandPath(), wants)
		if c.CommandPath() == "hearth models set" {
			f.hint = "`hearth models list` shows the names of models"
		}
	case wants == "":
		f.message = fmt.Sprintf("`%s` takes no arguments, and there is %q", c.CommandPath(), line(strings.Join(args, " ")))
	default:
		f.message = fmt.Sprintf("`%s` takes %s and nothing more; put text with spaces between quotation marks", c.CommandPath(), wants)
	}
	return f
}
