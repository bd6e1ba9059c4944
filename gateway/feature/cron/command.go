package cron

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const (
	commandTime   = 10 * time.Minute
	commandOutput = 64 << 10
)

// command runs the program of a job, which a person wrote down exactly. Its words
// are the result.
func (f *feature) command(ctx context.Context, r job.Run) {
	defer f.works(r.RunID, false)
	if err := f.book.Started(ctx, r.RunID); err != nil {
		if !errors.Is(err, job.ErrTaken) && ctx.Err() == nil {
			f.Logger.Error("the command of a job could not begin", "run", r.RunID, "err", err)
		}
		return
	}
	res := f.runCommand(ctx, r)
	if ctx.Err() != nil && res.Status != protocol.CronOK {
		res = job.Result{Status: protocol.CronError, Unknown: true, Error: "Hearth stopped while the command ran."}
	}
	f.end(ctx, r, res)
}

func (f *feature) runCommand(ctx context.Context, r job.Run) job.Result {
	p := r.Spec.Payload
	fail := func(format string, a ...any) job.Result {
		return job.Result{Status: protocol.CronError, Error: fmt.Sprintf(format, a...)}
	}
	spec, err := f.commandSpec(r.Spec, p.Argv, p.Cwd)
	if err != nil {
		return fail("%v", err)
	}
	limit := commandTime
	if p.TimeoutSeconds != nil && *p.TimeoutSeconds > 0 {
		limit = time.Duration(min(*p.TimeoutSeconds, 24*3600) * float64(time.Second))
	}
	for k, v := range p.Env {
		spec.Env = append(spec.Env, k+"="+v)
	}
	spec.Env = append(spec.Env, "HEARTH_JOB="+r.JobID, "HEARTH_RUN="+r.RunID)
	input := cmp.Or(p.Input, forProgram(&r), r.Event)
	spec.Owner, spec.Title, spec.Input, spec.Timeout = "job:"+r.JobID, r.JobName, input != "", limit
	c, err := f.startCommand(ctx, spec)
	if err != nil {
		return fail("%v", err)
	}
	if f.ended(r.RunID) { // before there was anything to end
		c.Stop()
	}
	if input != "" {
		_, _ = c.Write([]byte(input)), c.CloseInput()
	}
	quiet := time.Duration(p.QuietSeconds * float64(time.Second))
	silent := f.await(ctx, c, quiet)
	out, exit := c.Output(), c.Info().Exit
	_ = f.Execution.Processes.Remove("job:"+r.JobID, c.ID())
	text := strings.TrimSpace(strings.ToValidUTF8(string(out.Head)+string(out.Tail), ""))
	if most := int(cmp.Or(p.MaxOutput, commandOutput)); len(text) > most {
		text = strings.ToValidUTF8(text[len(text)-most:], "")
	}
	res := job.Result{Status: protocol.CronOK, Text: text, ExitCode: &exit.Code}
	if !exit.OK() {
		res.Status, res.Error = protocol.CronError, fmt.Sprintf("The command ended with code %d.", exit.Code)
		switch {
		case exit.TimedOut:
			res.Error, res.Reason = "The command took longer than "+limit.String()+" and was ended.", "timeout"
		case silent:
			res.Error, res.Reason = "The command said nothing for "+quiet.String()+" and was ended.", "timeout"
		case exit.Stopped && f.ended(r.RunID):
			res.Error = "You ended it."
		case exit.Stopped:
			res.Error = "The command was ended: Hearth stops, or its tools are paused."
		case exit.Signal != "":
			res.Error = "The command was ended by " + exit.Signal + "."
		}
		if text != "" {
			res.Error += " Its output ended with: " + text[max(0, len(text)-500):]
		}
	}
	return res
}

// commandSpec is a command of a job: which program, where, and what it gets of our
// environment.
func (f *feature) commandSpec(s *protocol.CronSpec, argv []string, dir string) (process.Spec, error) {
	path, err := f.program(argv[0])
	if err != nil {
		return process.Spec{}, err
	}
	if dir == "" {
		dir = f.Agents.Named(f.agentOf(s)).Workspace
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			dir = f.Execution.Home // nobody has talked to this agent yet
		}
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return process.Spec{
		Path: path, Argv: append([]string{path}, argv[1:]...), Dir: dir,
		Env: append(slices.Clone(f.Execution.Environ), "PATH="+f.Execution.SearchPath),
	}, nil
}

// startCommand starts it, with a folder for what it keeps for a while.
func (f *feature) startCommand(ctx context.Context, s process.Spec) (*process.Process, error) {
	temp, err := os.MkdirTemp("", "hearth-job-")
	if err != nil {
		return nil, fmt.Errorf("a folder for it could not be made: %w", err)
	}
	s.Temp, s.Env = temp, append(s.Env, "TMPDIR="+temp)
	c, err := f.Execution.Processes.Start(ctx, s)
	if err != nil {
		_ = os.RemoveAll(temp)
	}
	return c, err
}

// await waits for a command. One that says nothing for too long is ended, which it
// reports.
func (f *feature) await(ctx context.Context, c *process.Process, quiet time.Duration) (silent bool) {
	for {
		var long <-chan time.Time
		if quiet > 0 {
			long = time.After(quiet)
		}
		select {
		case <-c.Done():
			return false
		case <-ctx.Done():
			c.Kill()
			<-c.Done()
			return false
		case <-long:
			c.Stop()
			<-c.Done()
			return true
		case <-c.More():
			if quiet == 0 {
				<-c.Done()
				return false
			}
			c.Next()
		}
	}
}

// program looks where commands are looked for.
func (f *feature) program(name string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	if strings.ContainsAny(name, `/\`) {
		return "", fmt.Errorf("the command %q is neither a name nor an absolute path", name)
	}
	for _, dir := range filepath.SplitList(f.Execution.SearchPath) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no program %q in %s", name, f.Execution.SearchPath)
}
