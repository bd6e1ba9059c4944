package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Security levels. There is no level at which everything runs.
const (
	securityDeny = "deny"
	securityList = "allowlist" // what is on the list, and what a person agreed to at the gateway
)

// When somebody is asked.
const (
	askMiss   = "on-miss"
	askAlways = "always" // also for what is on the list
)

// Approvals say which commands may run here, in the form of OpenClaw's
// exec-approvals.json. Only the owner of this machine adds to them.
type Approvals struct {
	Version  int                       `json:"version"`
	Defaults ApprovalDefaults          `json:"defaults"`
	Agents   map[string]AgentApprovals `json:"agents"`
}

// ApprovalDefaults hold for all agents.
type ApprovalDefaults struct {
	Security string `json:"security,omitempty"`
	Ask      string `json:"ask,omitempty"`
}

// AgentApprovals hold for one agent, or with the name * for all.
type AgentApprovals struct {
	Security  string       `json:"security,omitempty"`
	Ask       string       `json:"ask,omitempty"`
	Allowlist []AllowEntry `json:"allowlist,omitempty"`
}

// AllowEntry is a program that runs without a question: its path.
type AllowEntry struct {
	Pattern   string `json:"pattern"`
	AddedAtMs int64  `json:"addedAt,omitempty"`
}

// Everybody stands for all agents.
const Everybody = "*"

// Approvals reads them. path, hash and exists are as the protocol tells them.
func (f Folder) Approvals() (a Approvals, hash string, exists bool, err error) {
	a = Approvals{Version: 1, Agents: map[string]AgentApprovals{}}
	b, err := os.ReadFile(f.Dir.NodeApprovals())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b, err = nil, nil
	case err != nil:
		return a, "", false, fmt.Errorf("read which commands may run here: %w", err)
	default:
		exists = true
		if err := json.Unmarshal(b, &a); err != nil {
			return a, "", true, fmt.Errorf("the list of commands that may run here, %s, is damaged: %w; nothing runs until you mend or remove it",
				f.Dir.NodeApprovals(), err)
		}
	}
	sum := sha256.Sum256(b)
	return a, hex.EncodeToString(sum[:]), exists, err
}

// SaveApprovals replaces them.
func (f Folder) SaveApprovals(a Approvals) error {
	if err := f.Dir.Ensure(); err != nil {
		return err
	}
	b, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	return statedir.WriteFile(f.Dir.NodeApprovals(), append(b, '\n'))
}

// AllowProgram puts a program on the list, by the file that it really is.
func (f Folder) AllowProgram(path string, nowMs int64) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("there is no program %s: %w", plan.Show(path), err)
	}
	a, _, _, err := f.Approvals()
	if err != nil {
		return "", err
	}
	all := a.Agents[Everybody]
	if !listed(all.Allowlist, real) {
		all.Allowlist = append(all.Allowlist, AllowEntry{real, nowMs})
	}
	a.Agents[Everybody] = all
	return real, f.SaveApprovals(a)
}

// ForbidProgram takes a program off the list, for every agent; false means that
// it was not on it.
func (f Folder) ForbidProgram(path string) (bool, error) {
	names := []string{path}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		names = append(names, real)
	}
	a, _, _, err := f.Approvals()
	if err != nil {
		return false, err
	}
	found := false
	for id, one := range a.Agents {
		n := len(one.Allowlist)
		one.Allowlist = slices.DeleteFunc(one.Allowlist, func(e AllowEntry) bool { return slices.Contains(names, e.Pattern) })
		found = found || len(one.Allowlist) < n
		a.Agents[id] = one
	}
	if !found {
		return false, nil
	}
	return true, f.SaveApprovals(a)
}

// AskedAbout says why commands with a program need a person's yes although it is
// on the list, as those do whose arguments say what runs; empty when some do not.
func AskedAbout(ctx context.Context, path string) string {
	made, err := plan.New(plan.Options{}).Resolve(ctx, plan.Request{Argv: []string{path}, Dir: filepath.Dir(path)})
	if err != nil {
		return err.Error()
	}
	for _, d := range made.Doubts {
		switch d.Code {
		case "interpreter", "script", "format", "privileged", "outside", "other-program", "missing":
			return d.Sentence()
		case "runner":
			if filepath.Base(path) != "git" { // which reads with some arguments
				return d.Sentence()
			}
		}
	}
	return ""
}

func listed(list []AllowEntry, path string) bool {
	return slices.ContainsFunc(list, func(e AllowEntry) bool { return e.Pattern == path })
}

// level is what holds for an agent: its own word, that for all, the default.
func (a Approvals) level(agent string) (security, ask string) {
	security, ask = securityList, askMiss
	for _, l := range []ApprovalDefaults{a.Defaults, {a.Agents[Everybody].Security, a.Agents[Everybody].Ask},
		{a.Agents[agent].Security, a.Agents[agent].Ask}} {
		if l.Security != "" {
			security = l.Security
		}
		if l.Ask != "" {
			ask = l.Ask
		}
	}
	switch security {
	case securityList:
	case "full": // of OpenClaw's file: everything without a question, which is not for anybody here
		security = securityList
	default:
		security = securityDeny
	}
	if ask != askMiss && ask != "off" {
		ask = askAlways
	}
	return security, ask
}

// covers reports whether everything that a plan runs is on the list. A plan
// that is not known to the last program is never covered.
func (a Approvals) covers(agent string, p plan.Plan) bool {
	if !p.Known || !p.Lasting || len(p.Programs) == 0 || len(p.Scripts) > 0 || len(p.Env) > 0 {
		return false
	}
	list := slices.Concat(a.Agents[Everybody].Allowlist, a.Agents[agent].Allowlist)
	return !slices.ContainsFunc(p.Programs, func(pr plan.Program) bool { return !listed(list, pr.Path) })
}

// narrower reports whether next allows nothing that a does not.
func (a Approvals) narrower(next Approvals) bool {
	rank := func(security, ask string) int {
		switch {
		case security == securityDeny:
			return 0
		case ask == askAlways:
			return 1
		}
		return 2
	}
	agents := map[string]bool{"": true, Everybody: true}
	for id := range a.Agents {
		agents[id] = true
	}
	for id, one := range next.Agents {
		agents[id] = true
		have := slices.Concat(a.Agents[id].Allowlist, a.Agents[Everybody].Allowlist)
		if slices.ContainsFunc(one.Allowlist, func(e AllowEntry) bool { return !listed(have, e.Pattern) }) {
			return false
		}
	}
	for id := range agents {
		if rank(next.level(id)) > rank(a.level(id)) {
			return false
		}
	}
	return true
}

type approvalsFile struct {
	Path   string    `json:"path"`
	Exists bool      `json:"exists"`
	Hash   string    `json:"hash"`
	File   Approvals `json:"file"`
}

func (h *Host) approvalsGet(context.Context, *conn, json.RawMessage) (any, error) {
	a, hash, exists, err := h.o.Folder.Approvals()
	if err != nil {
		return nil, err
	}
	return approvalsFile{h.o.Folder.Dir.NodeApprovals(), exists, hash, a}, nil
}

// approvalsSet lets the gateway narrow what may run here; more is the owner's.
func (h *Host) approvalsSet(ctx context.Context, cn *conn, params json.RawMessage) (any, error) {
	var p struct {
		File     *Approvals `json:"file"`
		BaseHash string     `json:"baseHash"`
	}
	if err := read(params, &p); err != nil {
		return nil, err
	}
	if p.File == nil || p.File.Version != 1 {
		return nil, invalid("file with version 1 is needed")
	}
	unlock, err := h.o.Folder.Dir.Lock(ctx, "node-approvals")
	if err != nil {
		return nil, err
	}
	defer unlock()
	now, hash, exists, err := h.o.Folder.Approvals()
	if err != nil {
		return nil, err
	}
	switch {
	case exists && p.BaseHash == "", p.BaseHash != "" && p.BaseHash != hash:
		return nil, &fault{"CONFLICT", "the list has changed meanwhile; read it again"}
	case !now.narrower(*p.File):
		return nil, &fault{"FORBIDDEN", "from the gateway what may run here can only be made less; more is allowed on this machine, with " +
			"`hearth node allow`"}
	}
	if p.File.Agents == nil {
		p.File.Agents = map[string]AgentApprovals{}
	}
	if err := h.o.Folder.SaveApprovals(*p.File); err != nil {
		return nil, err
	}
	return h.approvalsGet(ctx, cn, nil)
}
