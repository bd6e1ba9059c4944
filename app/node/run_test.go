package node

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func (r *rig) script(name, text string) string {
	r.t.Helper()
	file := filepath.Join(r.o.Work, name)
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		r.t.Fatal(err)
	}
	return file
}

func TestRun(t *testing.T) {
	r := newRig(t, nil).start().join()
	run := r.prepare([]string{"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, nil)
	run["runId"] = "run-1"
	var got runResult
	r.ok("system.run", run, &got)
	code := 3
	want := runResult{ExitCode: &code, Stdout: "out\n", Stderr: "err\n", Sandbox: got.Sandbox}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if p := <-r.n.progress; p.Chunk != "out\n" || p.NodeID != r.id() || p.InvokeID == "" {
		t.Errorf("progress: %+v", p)
	}
	e := <-r.n.events
	if e.Event != "exec.finished" || !strings.Contains(*e.PayloadJSON, `"runId":"run-1"`) || !strings.Contains(*e.PayloadJSON,
		`"exitCode":3`) {
		t.Errorf("%+v", e)
	}
	// Nothing of this process's environment but a few names, and a folder of its own.
	r.ok("system.run", r.prepare([]string{"/usr/bin/env"}, map[string]any{"env": map[string]string{"MINE": "1"}}), &got)
	if strings.Contains(got.Stdout, "canary") || !strings.Contains(got.Stdout, "MINE=1") {
		t.Errorf("%s", got.Stdout)
	}
	r.ok("system.run", r.prepare([]string{"/bin/pwd"}, nil), &got)
	if got.Stdout != r.o.Work+"\n" {
		t.Errorf("%q", got.Stdout)
	}
	// The beginning and the end of much output.
	r.ok("system.run", r.prepare([]string{"/usr/bin/seq", "300000"}, nil), &got)
	if len(got.Stdout) > keepOutput+100 || !strings.HasPrefix(got.Stdout, "1\n2\n") || !strings.HasSuffix(got.Stdout, "300000\n") ||
		!strings.Contains(got.Stdout, "bytes left out") {
		t.Errorf("%d bytes", len(got.Stdout))
	}
}

// What a gateway, or somebody in its place, tries without a person's yes to the
// very plan that was made here.
func TestSec_A_NODE_05_OnlyThePlanThatWasMade(t *testing.T) {
	r := newRig(t, nil).start().join()
	proof := filepath.Join(r.o.Work, "ran")
	argv := []string{"/usr/bin/touch", proof}
	good := func() map[string]any { return r.prepare(argv, nil) }
	change := func(f func(run, plan map[string]any)) map[string]any {
		run := good()
		p := maps.Clone(run["systemRunPlan"].(map[string]any))
		run["systemRunPlan"] = p
		f(run, p)
		return run
	}
	for name, c := range map[string]struct {
		run  map[string]any
		code string
	}{
		"no yes":               {change(func(run, _ map[string]any) { delete(run, "approved") }), "SYSTEM_RUN_DENIED"},
		"a no":                 {change(func(run, _ map[string]any) { run["approvalDecision"] = "deny" }), "SYSTEM_RUN_DENIED"},
		"a yes without a plan": {change(func(run, _ map[string]any) { delete(run, "systemRunPlan") }), "SYSTEM_RUN_DENIED"},
		"another command":      {change(func(run, _ map[string]any) { run["command"] = []string{"/usr/bin/touch", proof + "2"} }), "CONFLICT"},
		"another plan":         {change(func(_, p map[string]any) { p["argv"] = []string{"/usr/bin/touch", proof + "2"} }), "SYSTEM_RUN_DENIED"},
		"another id":           {change(func(_, p map[string]any) { p["hearthPlan"] = "AAAA" }), "SYSTEM_RUN_DENIED"},
		"another digest":       {change(func(_, p map[string]any) { p["hearthDigest"] = strings.Repeat("0", 64) }), "SYSTEM_RUN_DENIED"},
		"another folder":       {change(func(run, _ map[string]any) { run["cwd"] = "/" }), "CONFLICT"},
		"another plan's place": {change(func(_, p map[string]any) { p["cwd"] = "/" }), "SYSTEM_RUN_DENIED"},
		"an environment":       {change(func(run, _ map[string]any) { run["env"] = map[string]string{"LD_PRELOAD": "/x"} }), "CONFLICT"},
		"no sandbox":           {change(func(run, _ map[string]any) { run["hearthUnconfined"] = true }), "CONFLICT"},
		"another session":      {change(func(run, _ map[string]any) { run["sessionKey"] = "agent:main:other" }), "SYSTEM_RUN_DENIED"},
		"another agent":        {change(func(run, _ map[string]any) { run["agentId"] = "other" }), "SYSTEM_RUN_DENIED"},
	} {
		if name == "no sandbox" && c.run["systemRunPlan"].(map[string]any)["hearthUnconfined"] == true {
			continue // there is none on this system
		}
		p := r.invoke("system.run", c.run)
		if p.OK || p.Error.Code != c.code {
			t.Errorf("%s: ok %v %+v, want %s", name, p.OK, p.Error, c.code)
		}
	}
	for _, f := range []string{proof, proof + "2"} {
		if _, err := os.Stat(f); err == nil {
			t.Fatal("it ran")
		}
	}
	// The right one runs, once.
	var got runResult
	run := good()
	r.ok("system.run", run, &got)
	if _, err := os.Stat(proof); err != nil || !got.Success {
		t.Errorf("%v %+v", err, got)
	}
	r.fails("system.run", run, "SYSTEM_RUN_DENIED", "not used yet")
}

// A script that is exchanged after the yes does not run.
func TestSec_A_NODE_05_ChangedAfterTheYes(t *testing.T) {
	r := newRig(t, nil).start().join()
	file := r.script("job", "#!/bin/sh\necho good\n")
	run := r.prepare([]string{file}, nil)
	r.script("job", "#!/bin/sh\necho bad\n")
	r.fails("system.run", run, "CONFLICT", "no longer what was approved")
	var got runResult
	r.ok("system.run", r.prepare([]string{file}, nil), &got)
	if got.Stdout != "bad\n" {
		t.Errorf("%+v", got)
	}
}

func TestPlansEnd(t *testing.T) {
	now := time.Unix(1e9, 0)
	l := plans{now: func() time.Time { return now }}
	p := prepared{agent: "main"}
	p.plan.Argv = []string{"x"}
	l.add(p)
	now = now.Add(planLife + time.Second)
	if _, ok := l.take(runPlan{Argv: []string{"x"}}, "main", ""); ok {
		t.Error("an old plan counts")
	}
	for range maxPlans + 5 {
		l.add(p)
	}
	if len(l.all) != maxPlans {
		t.Error(len(l.all))
	}
}

// What the owner lists runs without a question, and nothing else does.
func TestListedPrograms(t *testing.T) {
	r := newRig(t, nil).start().join()
	if _, err := r.o.Folder.AllowProgram("/bin/echo", 1); err != nil {
		t.Fatal(err)
	}
	if len(r.prepare([]string{"/bin/echo", "x"}, nil)["systemRunPlan"].(map[string]any)["hearthLines"].([]any)) == 0 {
		t.Error("nothing to show")
	}
	p := r.invoke("system.run", map[string]any{"command": []string{"/bin/echo", "hi"}})
	if confined := New(r.o).confined.Confined; p.OK != confined {
		t.Errorf("listed: ok %v %+v, confined %v", p.OK, p.Error, confined)
	}
	for _, argv := range [][]string{
		{"/bin/sh", "-c", "echo hi; id"}, {"/usr/bin/env", "echo", "hi"}, {"/bin/date"}, {r.script("echo", "#!/bin/sh\n")},
	} {
		r.fails("system.run", map[string]any{"command": argv}, "SYSTEM_RUN_DENIED", "nobody has agreed")
	}
	r.fails("system.run", map[string]any{"command": []string{"/bin/echo", "hi"}, "env": map[string]string{"A": "1"}}, "SYSTEM_RUN_DENIED",
		"nobody")
	if found, err := r.o.Folder.ForbidProgram("/bin/echo"); !found || err != nil {
		t.Error(found, err)
	}
	r.fails("system.run", map[string]any{"command": []string{"/bin/echo", "hi"}}, "SYSTEM_RUN_DENIED", "nobody has agreed")
}

// The gateway reads what may run here and makes it less; never more.
func TestSec_A_NODE_04_TheGatewayOnlyNarrows(t *testing.T) {
	r := newRig(t, nil).start().join()
	if _, err := r.o.Folder.AllowProgram("/bin/echo", 1); err != nil {
		t.Fatal(err)
	}
	var now approvalsFile
	r.ok("system.execApprovals.get", nil, &now)
	if !now.Exists || len(now.File.Agents[Everybody].Allowlist) != 1 {
		t.Fatalf("%+v", now)
	}
	real := now.File.Agents[Everybody].Allowlist[0].Pattern
	set := func(file any, hash string) map[string]any { return map[string]any{"file": file, "baseHash": hash} }
	entry := func(agent, path string) map[string]any {
		return map[string]any{"version": 1, "agents": map[string]any{agent: map[string]any{"allowlist": []any{map[string]any{"pattern": path}}}}}
	}
	r.fails("system.execApprovals.set", set(entry("*", "/bin/sh"), now.Hash), "FORBIDDEN", "made less")
	r.fails("system.execApprovals.set", set(entry("main", "/bin/sh"), now.Hash), "FORBIDDEN", "made less")
	r.fails("system.execApprovals.set", set(entry("*", real), "old"), "CONFLICT", "read it again")
	r.fails("system.execApprovals.set", set(entry("*", real), ""), "CONFLICT", "read it again")
	r.fails("system.execApprovals.set", map[string]any{"baseHash": now.Hash}, "INVALID_REQUEST", "version 1")
	// Less is taken: a program off the list, then nothing at all.
	hash := now.Hash
	now = approvalsFile{}
	r.ok("system.execApprovals.set", set(map[string]any{"version": 1, "defaults": map[string]any{"ask": "always"}}, hash), &now)
	if len(now.File.Agents[Everybody].Allowlist) != 0 {
		t.Errorf("%+v", now)
	}
	r.fails("system.execApprovals.set", set(map[string]any{"version": 1}, now.Hash), "FORBIDDEN", "made less")
	r.ok("system.execApprovals.set", set(map[string]any{"version": 1, "defaults": map[string]any{"security": "deny"}}, now.Hash), &now)
	for _, back := range []string{"allowlist", "full", ""} {
		r.fails("system.execApprovals.set", set(map[string]any{"version": 1, "defaults": map[string]any{"security": back}}, now.Hash),
			"FORBIDDEN", "made less")
	}
	r.fails("system.run.prepare", map[string]any{"command": []string{"/bin/echo"}}, "SYSTEM_RUN_DENIED", "switched off")
}

func TestLevels(t *testing.T) {
	for file, want := range map[string]string{
		`{}`:                               "allowlist on-miss",
		`{"defaults":{"security":"full"}}`: "allowlist on-miss",
		`{"defaults":{"security":"deny"},"agents":{"main":{"security":"allowlist"}}}`: "allowlist on-miss",
		`{"defaults":{"security":"sometimes"}}`:                                       "deny on-miss",
		`{"defaults":{"ask":"off"}}`:                                                  "allowlist off",
		`{"agents":{"*":{"ask":"always"}}}`:                                           "allowlist always",
		`{"agents":{"*":{"security":"deny"},"other":{"security":"allowlist"}}}`:       "deny on-miss",
	} {
		var a Approvals
		if err := json.Unmarshal([]byte(file), &a); err != nil {
			t.Fatal(err)
		}
		security, ask := a.level("main")
		if got := security + " " + ask; got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}
