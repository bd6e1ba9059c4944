package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/app/node"
	"github.com/hearth-assistant/hearth/app/service"
)

func newNode(a *app) *cobra.Command {
	var o nodeOptions
	run := &cobra.Command{
		Use:   "run [CODE]",
		Short: "Let a gateway on another machine ask things of this one, until Ctrl-C",
		Long: `Make this machine a node of a gateway on another one, and stay connected until
Ctrl-C. The first time it needs the code that "hearth qr --node" shows there; then
somebody agrees there, once, to what this machine offers ("hearth nodes approve").

The gateway may then run commands here, each of them after a person has agreed to
exactly that command, show notifications and web pages, and ask how this machine
is. Its screen, camera and place are asked for only after "hearth node allow".`,
		Args: cobra.MaximumNArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error { return runNode(ctx, a, first(args), o) }),
	}
	install := &cobra.Command{
		Use: "install [CODE]", Short: "Do that in the background, from login on",
		Long: "Do what `hearth node run` does in the background, from login on: a systemd user\n" +
			"unit on Linux, a LaunchAgent on macOS, a task on Windows.",
		Args: cobra.MaximumNArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error { return installNode(ctx, a, first(args), o) }),
	}
	for _, c := range []*cobra.Command{run, install} {
		c.Flags().StringVar(&o.name, "name", "", "have the gateway call this machine `NAME`")
		c.Flags().StringSliceVar(&o.allow, "allow", nil, "allow `THINGS` first, as hearth node allow does")
	}
	run.Flags().BoolVar(&o.service, "service", false, "end well when the gateway does not want this machine any more")
	_ = run.Flags().MarkHidden("service")
	status := a.run(func(ctx context.Context, _ []string) error { return nodeStatus(ctx, a) })
	c := group("node", "Make this machine one that a gateway elsewhere can ask to do things", run, install,
		&cobra.Command{Use: "uninstall", Short: "Stop the background service and take it away", Args: cobra.NoArgs,
			RunE: a.run(func(ctx context.Context, _ []string) error { return nodeService(ctx, a, service.Manager.Remove) })},
		&cobra.Command{Use: "status", Short: "Say which gateway it belongs to, how that is, and what is allowed", Args: cobra.NoArgs,
			RunE: status},
		&cobra.Command{Use: "allow [THING|PROGRAM…]", Short: "Allow the gateway more, or list what it is allowed",
			Long: "Allow the gateway more. THING is one of " + strings.Join(thingNames(), ", ") + ".\n" +
				"A PROGRAM, by name or path, then runs without a question, with any arguments.",
			RunE: a.run(func(ctx context.Context, args []string) error { return allowNode(ctx, a, args, true) })},
		&cobra.Command{Use: "forbid THING|PROGRAM…", Short: "Allow the gateway less", Args: cobra.MinimumNArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return allowNode(ctx, a, args, false) })},
		&cobra.Command{Use: "forget", Short: "Forget the gateway; there, `hearth devices remove` ends its side", Args: cobra.NoArgs,
			RunE: a.run(func(context.Context, []string) error { return forgetNode(a) })},
	)
	c.RunE = status
	return c
}

func first(args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return ""
}

func thingNames() (out []string) {
	for _, t := range node.Things() {
		out = append(out, t.Name)
	}
	return out
}

func (a *app) nodeFolder() (node.Folder, error) {
	dir, err := a.dir()
	return node.Folder{Dir: dir}, err
}

// program is the file of a program that was named.
func (a *app) program(name string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	if strings.ContainsRune(name, filepath.Separator) {
		return filepath.Abs(name)
	}
	dirs := []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}
	if runtime.GOOS == "windows" {
		dirs = filepath.SplitList(a.Env("PATH"))
	}
	for _, dir := range dirs {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
			return filepath.Join(dir, name), nil
		}
	}
	return "", &failure{exitUsage, "there is nothing called " + line(name) + " to allow here", "things are " + strings.Join(thingNames(),
		", ") + "; programs are found in the system's folders, or named by their path"}
}

func allowNode(ctx context.Context, a *app, args []string, yes bool) error {
	f, err := a.nodeFolder()
	if err != nil {
		return err
	}
	args = node.Named(args)
	if err := setNode(a, f, args, yes); err != nil {
		return err
	}
	return showAllowed(ctx, a, f)
}

// setNode changes what is allowed; all of it is looked at before any of it counts.
func setNode(a *app, f node.Folder, args []string, yes bool) error {
	s, err := f.Settings()
	if err != nil {
		return err
	}
	var programs []string
	for _, name := range args {
		if s.Set(name, yes) {
			continue
		}
		path, err := a.program(name)
		if err != nil {
			return err
		}
		programs = append(programs, path)
	}
	for _, path := range programs {
		if yes {
			_, err = f.AllowProgram(path, time.Now().UnixMilli())
		} else if found, ferr := f.ForbidProgram(path); ferr == nil && !found {
			err = &failure{exitFailure, line(path) + " was not on the list", "`hearth node allow` shows it"}
		} else {
			err = ferr
		}
		if err != nil {
			return err
		}
	}
	if len(args) == 0 {
		return nil
	}
	return f.Save(s)
}

func showAllowed(ctx context.Context, a *app, f node.Folder) error {
	s, err := f.Settings()
	if err != nil {
		return err
	}
	programs, err := listedPrograms(f)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(map[string]any{"allow": s.Allows(), "programs": programs})
	}
	var rows [][]string
	for _, t := range node.Things() {
		is := "no"
		if s.Allows()[t.Name] {
			is = "yes"
		}
		rows = append(rows, []string{t.Name, is, t.Words})
	}
	for _, p := range programs {
		rows = append(rows, []string{line(p), "yes", "run it without a question"})
	}
	if err := a.out().table([]string{"WHAT", "ALLOWED", "THE GATEWAY MAY"}, rows); err != nil {
		return err
	}
	for _, p := range programs {
		if why := node.AskedAbout(ctx, p); why != "" {
			if err := a.out().print(line(p) + " needs your yes each time nevertheless: " + line(why) + "\n"); err != nil {
				return err
			}
		}
	}
	if node.Running(ctx, f) {
		return a.out().print(dim("What the gateway is offered changes when `hearth node run` connects the next time.\n"))
	}
	return nil
}

func listedPrograms(f node.Folder) ([]string, error) {
	out := []string{}
	list, _, _, err := f.Approvals()
	if err != nil {
		return nil, err
	}
	for _, one := range list.Agents {
		for _, e := range one.Allowlist {
			out = append(out, e.Pattern)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func forgetNode(a *app) error {
	f, err := a.nodeFolder()
	if err != nil {
		return err
	}
	s, err := f.Settings()
	if err != nil {
		return err
	}
	s.Gateway = node.Gateway{}
	if err := f.Save(s); err != nil {
		return err
	}
	return a.done(map[string]any{"ok": true}, "Forgotten. On the gateway's machine, `hearth devices remove` ends its side.")
}

// nodeState is what `hearth node status --json` writes.
type nodeState struct {
	Gateway   string          `json:"gateway,omitempty"`
	GatewayID string          `json:"gatewayId,omitempty"`
	URL       string          `json:"url,omitempty"`
	NodeID    string          `json:"nodeId,omitempty"`
	Running   bool            `json:"running"`
	Note      node.Note       `json:"state"`
	Service   service.State   `json:"service"`
	Allow     map[string]bool `json:"allow"`
}

func nodeStatus(ctx context.Context, a *app) error {
	f, err := a.nodeFolder()
	if err != nil {
		return err
	}
	s, err := f.Settings()
	if err != nil {
		return err
	}
	st := nodeState{Gateway: s.Gateway.Name, GatewayID: s.Gateway.ID, Running: node.Running(ctx, f), Allow: s.Allows(), NodeID: s.NodeID}
	if len(s.Gateway.URLs) > 0 {
		st.URL = s.Gateway.URLs[0]
	}
	if st.Note, err = f.Noted(); err != nil {
		return err
	}
	if spec, err := a.nodeSpec(); err == nil {
		st.Service, _ = service.New(service.System, a.Env).Status(ctx, spec) // where there are none, there is none
	}
	if a.asJSON {
		return a.out().json(st)
	}
	if st.Gateway == "" {
		return a.out().print("This machine is not a node of any gateway. There, `hearth qr --node` makes a code; here, `hearth node run CODE` " +
			"uses it.\n")
	}
	words := "A node of " + line(st.Gateway) + " at " + line(st.URL) + ".\n"
	switch {
	case !st.Running:
		words += "It does not run: `hearth node run` does that, `hearth node install` from login on.\n"
	case st.Note.Phase == node.Connected:
		words += "Connected since " + stamp(st.Note.AtMs) + ".\n"
	default:
		words += line(string(st.Note.Phase)) + " since " + stamp(st.Note.AtMs) + ": " + line(st.Note.Words) + "\n"
	}
	if st.Service.Installed {
		words += "The service is installed (" + line(st.Service.File) + ").\n"
	}
	if err := a.out().print(words); err != nil {
		return err
	}
	return showAllowed(ctx, a, f)
}

func installNode(ctx context.Context, a *app, code string, o nodeOptions) error {
	f, err := a.nodeFolder()
	if err != nil {
		return err
	}
	d, err := newNodeDialer(ctx, a, f, code, o)
	if err != nil {
		return err
	}
	if d.code != "" { // it would be over before anybody logs in
		s, err := f.Settings()
		if err != nil {
			return err
		}
		intro := node.Introduce(s, a.Version, hostName())
		intro.Device = d.me
		c, err := d.pair(ctx, intro)
		if err != nil {
			return err
		}
		_ = c.Close()
	}
	return nodeService(ctx, a, service.Manager.Install)
}

// nodeSpec is this program as the node's service.
func (a *app) nodeSpec() (service.Spec, error) {
	s, err := a.serviceSpec()
	s.Name, s.Args = service.Node, []string{"node", "run", "--service"}
	s.Log = filepath.Join(filepath.Dir(s.Log), "node-service.log")
	return s, err
}

func nodeService(ctx context.Context, a *app, do func(service.Manager, context.Context, service.Spec) (service.State, error)) error {
	spec, err := a.nodeSpec()
	if err != nil {
		return err
	}
	st, err := do(service.New(service.System, a.Env), ctx, spec)
	if errors.Is(err, service.ErrNoManager) {
		return &failure{exitFailure, err.Error(), "`hearth node run` runs it in the foreground"}
	}
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(st)
	}
	words := "The service is not installed.\n"
	if st.Installed {
		words = "The service is installed (" + line(st.File) + "). `hearth node status` says how it is.\n"
	}
	if st.Words != "" {
		words += line(st.Words) + "\n"
	}
	return a.out().print(words)
}
