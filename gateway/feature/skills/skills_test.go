package skills_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestSec_A_SKILL_10_CommandsPassTheGate(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	dir := t.TempDir()
	gatewaytest.PutSkill(t, dir, "runner", "command-dispatch: tool\ncommand-tool: exec\n")
	settings, err := json.Marshal(map[string]any{"skills": map[string]any{"load": map[string]any{"extraDirs": []string{dir}, "watch": false}},
		"tools": map[string]any{"deny": []string{"exec"}}})
	if err != nil {
		t.Fatal(err)
	}
	var cfg protocol.ConfigSnapshot
	p.Do(protocol.MethodConfigGet, nil, &cfg)
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: string(settings), BaseHash: cfg.Hash}, nil)
	canary := filepath.Join(t.TempDir(), "canary")
	p.Send("main", "call-1", "/runner touch "+canary)
	said, err := json.Marshal(p.History("main"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(said), "The skill runner could not do it: Not allowed") {
		t.Errorf("the skill was not stopped: %s", said)
	}
	var log protocol.AuditList
	p.Do(protocol.MethodAuditList, protocol.AuditListParams{Kind: "exec"}, &log)
	if len(log.Entries) != 1 || log.Entries[0].What != "was not allowed exec" {
		t.Errorf("%+v", log.Entries)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("it ran")
	}
}

func TestSec_A_SKILL_09_OneWayIn(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	dir := t.TempDir()
	gatewaytest.PutSkill(t, dir, "fresh", "")
	path := filepath.Join(dir, "fresh")
	var plan protocol.SkillPlan
	p.Do(protocol.MethodSkillPlan, protocol.SkillPlanParams{Path: path}, &plan)
	if plan.Name != "fresh" || plan.Update || len(plan.Files) != 1 {
		t.Fatalf("%+v", plan)
	}
	accept := protocol.SkillAcceptParams{Path: path, Hash: strings.Repeat("0", 64), Force: true}
	if err := p.Call(t.Context(), protocol.MethodSkillAccept, accept, nil); err == nil {
		t.Error("it was installed without the hash of what was shown")
	}
	for _, params := range []protocol.SkillsInstallParams{{Source: "clawhub", Slug: "x"}, {Source: "upload", Slug: "x"},
		{Name: "fresh", InstallID: "brew"}} {
		if err := p.Call(t.Context(), protocol.MethodSkillsInstall, params, nil); err == nil {
			t.Errorf("another way in: %+v", params)
		}
	}
	accept.Hash, accept.Force = plan.Hash, false
	p.Do(protocol.MethodSkillAccept, accept, nil)
	var list protocol.SkillsStatus
	p.Do(protocol.MethodSkillsStatus, protocol.SkillsStatusParams{}, &list)
	found := false
	for _, s := range list.Skills {
		found = found || s.Name == "fresh" && s.Eligible && s.Trust == "confirmed"
	}
	if !found {
		t.Errorf("%+v", list.Skills)
	}
	p.Do(protocol.MethodSkillRemove, protocol.SkillNameParams{Name: "fresh"}, nil)
	var log protocol.AuditList
	p.Do(protocol.MethodAuditList, protocol.AuditListParams{Kind: "config"}, &log)
	n := 0
	for _, e := range log.Entries {
		if strings.HasSuffix(e.What, "the skill fresh") {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d entries in the audit log: %+v", n, log.Entries)
	}
}
