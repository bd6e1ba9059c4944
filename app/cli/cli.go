// Package cli is the command line: one file a command, each of them a function
// newX that makes the cobra command and a function runX that does the work.
//
// It talks to the gateway through gateway/client like any other program; only
// `hearth gateway` starts one, and the config commands read and edit the
// settings file themselves when no gateway runs. The package keeps no state.
package cli

import (
	"context"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hearth-assistant/hearth/app/dial"
	"github.com/hearth-assistant/hearth/frontend"
	i18n "github.com/hearth-assistant/hearth/frontend/src/i18n"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/release"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// World is what a command knows of the outside; tests make their own.
type World struct {
	In          io.Reader
	Out, Err    io.Writer
	Env         func(string) string
	Version     string
	Words       fs.FS         // the catalogue of languages
	Release     release.Build // where new versions come from
	InTerminal  bool          // In is a terminal
	InPiped     bool          // In is a file or what another program writes
	OutTerminal bool
	ErrTerminal bool
}

// OS is the process's own world.
func OS(version string) World {
	return World{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv, Version: version, Words: frontend.Words(),
		InTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		InPiped:     isPiped(os.Stdin),
		OutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
}

// isPiped tells what somebody put there from what is just not there (/dev/null).
func isPiped(in *os.File) bool {
	info, err := in.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0)
}

// app is what all commands of one run share.
type app struct {
	World
	asJSON  bool          // --json
	gateway string        // --gateway: the name of one on another machine
	args    []string      // of this run
	asked   *answerReader // the standard input, as questions read it
	quiet   bool          // nothing is told but what was asked for
	ran     bool          // the command line was understood and a command began
	about   *i18n.Texts   // for say, once it said something
}

// Main runs one command line and returns the exit code.
func Main(ctx context.Context, args []string, w World) int {
	a := &app{World: w, args: args}
	a.answersTo(ctx)
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(w.In)
	root.SetOut(w.Out)
	root.SetErr(w.Err)
	c, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	f := explain(err)
	if !a.ran {
		a.asJSON = a.asJSON || wantsJSON(args)
	}
	if !a.ran && f.code == exitFailure {
		f = commandFailure(c, err)
	}
	if f.code == exitUsage && f.hint == "" {
		f = &failure{f.code, f.message, helpOf(c)}
	}
	a.complain(f)
	return f.code
}

// complain tells a person, or with --json a program, what went wrong.
func (a *app) complain(f *failure) {
	s := a.errs()
	if f.message == "" || f == errInterrupted && !a.asJSON { // another program has said it, or nobody need
		return
	}
	said := a.errorWords()
	f = &failure{f.code, said(f.message), said(f.hint)}
	if a.asJSON {
		_ = s.jsonLine(map[string]any{"error": errorJSON{f.code, line(f.message), f.hint}})
		return
	}
	_ = s.print(red("hearth: "), line(f.message), "\n")
	if f.hint != "" {
		_ = s.print("  → ", f.hint, "\n")
	}
}

type errorJSON struct {
	ExitCode int    `json:"exitCode"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "hearth",
		Short: "Hearth is your own assistant, on your own machine",
		Long: "Hearth is your own assistant, on your own machine.\n\n" +
			"Start it with `hearth gateway`, then talk to it with `hearth chat \"…\"` or in the\nbrowser with `hearth open`.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       a.Version,
	}
	root.PersistentFlags().StringVar(&a.gateway, "gateway", "", "use the paired gateway `NAME` on another machine (see hearth connect)")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return a.whereItWorks(c) }
	root.PersistentFlags().BoolVar(&a.asJSON, "json", false, "write JSON for programs")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return flagFailure(c, err)
	})
	root.AddCommand(
		newGateway(a), newSetup(a), newChat(a), newTUI(a), newPrompts(a),
		newStatus(a), newOpen(a), newSessions(a), newModels(a), newAgents(a), newUsage(a),
		newSearch(a), newCron(a), newTasks(a), newWatch(a),
		newQueue(a), newWhy(a), newCompact(a), newContacts(a), newTokens(a), newDeliveries(a), newUndo(a), newApprovals(a),
		newTools(a), newMCP(a), newACP(a), newPause(a), newResume(a), newAudit(a), newChannels(a), newConfig(a), newLogs(a), newVersion(a),
		newSecrets(a), newDoctor(a), newSkills(a), newHooks(a), newMemory(a), newCode(a), newService(a), newStore(a), newBackup(a),
		newImport(a), newUpdate(a), newMove(a), newSupport(a),
		&cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: exitCodesHelp},
	)
	root.AddCommand(networkCommands(a)...)
	strictHelp(root)
	wordArguments(root)
	a.speakHelp(root)
	return root
}

// run adapts a runX function to cobra. From here on errors are not about the
// command line any more.
func (a *app) run(f func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		a.ran = true
		return f(c.Context(), args)
	}
}

// group is a command that only holds others.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.Args = onlyCommands
	c.AddCommand(subs...)
	return c
}

func (a *app) out() screen {
	return screen{a.Out, a.OutTerminal && a.Env("NO_COLOR") == "" && a.Env("TERM") != "dumb"}
}

func (a *app) errs() screen {
	return screen{a.Err, a.ErrTerminal && a.Env("NO_COLOR") == "" && a.Env("TERM") != "dumb"}
}

func (a *app) dir() (statedir.Dir, error) { return statedir.Locate(a.Env) }

// dial connects to the gateway with just the rights that a command needs.
func (a *app) dial(ctx context.Context, o client.Options) (*client.Client, error) {
	if a.gateway != "" {
		return a.dialRemote(ctx, o)
	}
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	o.Client = protocol.ClientInfo{ID: "cli", Mode: "cli", Version: a.Version, DisplayName: "hearth command line"}
	return dial.Open(ctx, dir, a.Env, o)
}

// call makes one connection for one request.
func (a *app) call(ctx context.Context, scope protocol.Scope, method string, params, result any) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{scope}})
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Call(ctx, method, params, result)
}
