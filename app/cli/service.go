package cli

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/app/beside"
	"github.com/hearth-assistant/hearth/app/service"
	"github.com/hearth-assistant/hearth/gateway/release"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

func newService(a *app) *cobra.Command {
	one := func(use, short, long string, do serviceAct) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Long: long, Args: cobra.NoArgs,
			RunE: a.run(func(ctx context.Context, _ []string) error { return runService(ctx, a, do, use == "stop") })}
	}
	c := group("service", "Have Hearth run in the background, from login on",
		one("install", "Start Hearth now and with every login", `Start Hearth now and with every login, as a service of yours: a systemd user unit
on Linux, a LaunchAgent on macOS, a task on Windows. Nobody has to be an
administrator. It is started again when it fails.

A desktop needs no service: the icon in the menu bar starts Hearth itself.`, service.Manager.Install),
		one("remove", "Stop the service and take it away; nothing else of Hearth is touched", "", service.Manager.Remove),
		one("start", "Start the service", "", service.Manager.Start),
		one("stop", "Stop the service until the next login", "", service.Manager.Stop),
		one("restart", "Stop the service and start it again", "",
			func(m service.Manager, ctx context.Context, s service.Spec) (service.State, error) {
				return service.Restart(ctx, m, s)
			}),
		one("status", "Say whether the service is installed and runs", "", service.Manager.Status),
	)
	c.RunE = a.run(func(ctx context.Context, _ []string) error { return runService(ctx, a, service.Manager.Status, false) })
	return c
}

// serviceAct is what is done with the service.
type serviceAct func(service.Manager, context.Context, service.Spec) (service.State, error)

// runService does it and says how the service is; stops: whether it should not run then.
func runService(ctx context.Context, a *app, do serviceAct, stops bool) error {
	spec, err := a.serviceSpec()
	if err != nil {
		return err
	}
	st, err := do(service.New(service.System, a.Env), ctx, spec)
	if errors.Is(err, service.ErrNoManager) {
		return &failure{exitFailure, err.Error(), "`hearth gateway` runs it in the foreground"}
	}
	if errors.Is(err, service.ErrNotInstalled) {
		return &failure{exitFailure, err.Error(), "`hearth service install` makes it"}
	}
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(st)
	}
	words := "The service is not installed. `hearth service install` makes it.\n"
	switch {
	case st.Running:
		words = "The service runs (" + line(st.File) + ").\n"
	case st.Installed && stops:
		words = "The service is stopped. It starts with the next login, or by `hearth service start`.\n"
	case st.Installed:
		words = "The service is installed (" + line(st.File) + ") and does not run. `hearth logs` says why.\n"
	}
	if st.Words != "" {
		words += line(st.Words) + "\n"
	}
	return a.out().print(words)
}

// serviceSpec is this program as a service, with the folders that it uses now.
func (a *app) serviceSpec() (service.Spec, error) {
	dir, err := a.dir()
	if err != nil {
		return service.Spec{}, &failure{code: exitConfig, message: err.Error()}
	}
	exe, err := beside.Self()
	if err != nil {
		return service.Spec{}, err
	}
	exe = release.Lasting(exe)
	home := statedir.Home(a.Env)
	if home == "" {
		return service.Spec{}, errors.New("your home folder is not known here; set HOME")
	}
	s := service.Spec{Name: service.Gateway, Exe: exe, Args: []string{"gateway", "--quiet"}, Env: map[string]string{}, Home: home,
		Log: filepath.Join(string(dir), "service.log")}
	for _, name := range []string{"HEARTH_HOME", "HEARTH_CONFIG"} {
		if v := a.Env(name); v != "" {
			abs, err := filepath.Abs(v)
			if err != nil {
				return service.Spec{}, err
			}
			s.Env[name] = abs
		}
	}
	return s, nil
}
