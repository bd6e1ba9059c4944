// Package policy decides who may use which tool. It is the one place for that:
// settings and the scope of a run go in, an answer with its reason comes out.
// It holds no state, starts no tool and asks nobody (gateway/approval does).
package policy

import (
	"fmt"
	"path"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/tool"
)

// The profiles: what a run may use before anything is allowed or denied by name.
const (
	ProfileMinimal   = "minimal"
	ProfileMessaging = "messaging"
	ProfileCoding    = "coding"
	ProfileFull      = "full"
)

// Profiles lists them, the smallest first.
func Profiles() []string {
	return []string{ProfileMinimal, ProfileMessaging, ProfileCoding, ProfileFull}
}

// groups are names for several tools at once, as settings may write them.
func groups() [12]struct{ id, tools string } {
	return [12]struct{ id, tools string }{
		{"group:fs", "read write edit apply_patch"},
		{"group:runtime", "exec process"},
		{"group:web", "web_fetch web_search"},
		{"group:sessions", "sessions_list sessions_history sessions_send sessions_spawn session_status subagents"},
		{"group:memory", "memory_search memory_get memory_note"},
		{"group:ui", "canvas"},
		{"group:automation", "cron gateway"},
		{"group:messaging", "message"},
		{"group:nodes", "nodes"},
		{"group:media", "image"},
		{"group:plan", "update_plan"},
		{"group:mcp", "mcp__*"},
	}
}

// Groups are the tools of each group.
func Groups() map[string][]string {
	out := map[string][]string{}
	for _, g := range groups() {
		out[g.id] = strings.Fields(g.tools)
	}
	return out
}

// GroupOf tells the group of a tool, "" for one that has none.
func GroupOf(name string) string {
	for _, g := range groups() { // asked for each tool of each turn
		for t := range strings.FieldsSeq(g.tools) {
			if head, ok := strings.CutSuffix(t, "*"); t == name || ok && strings.HasPrefix(name, head) {
				return g.id
			}
		}
	}
	return ""
}

func profileTools(name string) []string {
	switch name {
	case ProfileMinimal:
		return []string{"session_status"}
	case ProfileMessaging:
		return []string{"group:messaging", "sessions_list", "sessions_history", "sessions_send", "session_status"}
	case ProfileCoding:
		return []string{"group:fs", "group:runtime", "group:sessions", "group:memory", "group:web", "group:media", "update_plan"}
	}
	return []string{"*"}
}

// others is what people who are not the owner, groups and hooks may use at
// most: it reads what is public or their own, and changes nothing but what is
// remembered of them. Settings make it smaller, not larger.
func others() []string {
	return []string{"session_status", "web_search", "update_plan", "memory_search", "memory_get", "memory_note"}
}

// ofPeople need a person's own words: what another session passes on, a
// sub-agent's result above all, does not write to people and changes no settings.
func ofPeople() []string { return []string{"message", "gateway", "cron"} }

// Layer is one set of rules. Empty lists say nothing.
type Layer struct {
	Profile   string   // "" = as the layer before says
	Allow     []string // when not empty: only these
	AlsoAllow []string // beside the profile
	Deny      []string
}

// Settings are all layers. Every one that is about a run must agree.
type Settings struct {
	Layer
	ByProvider map[string]Layer // "anthropic", or "anthropic/claude-…"
	ByAgent    map[string]Layer // agent id
	BySession  map[string]Layer // session key
	BySurface  map[string]Layer // webchat, messaging networks
	BySender   map[string]Layer // "network:42", or "id" on any surface
	// SpawnDepth is how many sub-agents deep there may be: the deepest start none.
	SpawnDepth int
}

// Rules are a layer of one place by itself, made ready. They are safe for concurrent use.
type Rules struct{ made *layer }

// Ready makes the rules ready; where is how settings call them.
func (l Layer) Ready(where string) Rules {
	made := compile(where, l)
	return Rules{&made}
}

// Refuses says why they refuse a tool, "" when they do not.
func (r Rules) Refuses(name string) (why string) {
	d, _ := r.made.decide(Canonical(name), new(string))
	return d.Why
}

// Decision is the answer about one tool.
type Decision struct {
	Allowed bool
	Why     string // for people, and for the model when it is a no
}

// Policy is Settings made ready. It is safe for concurrent use.
type Policy struct {
	base                                              layer
	byProvider, byAgent, bySession, bySurface, sender map[string]*layer
	others, ofPeople                                  set
	spawnDepth                                        int
}

type layer struct {
	where             string
	profile           string
	inProfile         set
	allow, also, deny set
	hasAllow          bool
}

// set is names and patterns of tools.
type set struct {
	names    map[string]bool
	patterns []string
}

// New makes settings ready.
func New(s Settings) *Policy {
	return &Policy{
		base: compile("tools", s.Layer), others: compileSet(others()), ofPeople: compileSet(ofPeople()), spawnDepth: s.SpawnDepth,
		byProvider: compileAll("tools.byProvider", s.ByProvider), byAgent: compileAll("the agent", s.ByAgent),
		bySession: compileAll("the session", s.BySession), bySurface: compileAll("the surface", s.BySurface),
		sender: compileAll("the sender", s.BySender),
	}
}

func compileAll(where string, in map[string]Layer) map[string]*layer {
	out := make(map[string]*layer, len(in))
	for name, l := range in {
		made := compile(fmt.Sprintf("%s %s", where, name), l)
		out[strings.ToLower(name)] = &made
	}
	return out
}

func compile(where string, l Layer) layer {
	return layer{
		where: where, profile: l.Profile, inProfile: compileSet(profileTools(l.Profile)),
		allow: compileSet(l.Allow), also: compileSet(l.AlsoAllow), deny: compileSet(l.Deny), hasAllow: len(l.Allow) > 0,
	}
}

func compileSet(list []string) set {
	s := set{names: map[string]bool{}}
	for _, n := range list {
		n = Canonical(n)
		if tools, ok := Groups()[n]; ok {
			for _, t := range tools {
				s.add(t)
			}
			continue
		}
		s.add(n)
	}
	return s
}

func (s *set) add(n string) {
	if strings.ContainsAny(n, "*?[\\") {
		s.patterns = append(s.patterns, n)
		return
	}
	s.names[n] = true
}

// Canonical is a tool's name as it is compared.
func Canonical(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "bash", "shell":
		return "exec"
	case "apply-patch":
		return "apply_patch"
	}
	return name
}

func (s *set) has(name string) bool {
	if s.names[name] {
		return true
	}
	for _, p := range s.patterns {
		if ok, _ := path.Match(p, name); ok {
			return true
		}
	}
	return false
}

// Decide answers whether a run may use a tool. A no of any layer wins.
func (p *Policy) Decide(name string, s tool.Scope) Decision {
	name = Canonical(name)
	if why := restricted(s); why != "" && !p.others.has(name) {
		return Decision{Why: fmt.Sprintf("%s is only for the owner in a direct chat; %s", name, why)}
	} else if why != "" && !s.Group && s.Sender == "" && GroupOf(name) == "group:memory" {
		return Decision{Why: fmt.Sprintf("%s needs somebody to remember; nobody knows who said these words", name)}
	}
	if why := p.below(name, s); why != "" {
		return Decision{Why: why}
	}
	said := "tools.profile is " + ProfileFull
	if d, ok := p.base.decide(name, &said); !ok {
		return d
	}
	for _, l := range p.layers(s) {
		if l == nil {
			continue
		}
		if d, ok := l.decide(name, &said); !ok {
			return d
		}
	}
	return Decision{Allowed: true, Why: said}
}

// below says why a tool is not for a sub-agent, or not for words that another
// session sent; "" when it is.
func (p *Policy) below(name string, s tool.Scope) string {
	switch {
	case s.Depth == 0 && !s.Relayed:
		return ""
	case p.ofPeople.has(name) && s.Depth > 0:
		return name + " is not for sub-agents; put into the result what should be done"
	case p.ofPeople.has(name):
		return name + " needs the owner's own words, and these came from another session; ask the owner first"
	case s.Depth > 0 && name == "sessions_send":
		return name + " is not for sub-agents; their result is reported by itself"
	case s.Depth > 0 && s.Depth >= p.spawnDepth && (name == "sessions_spawn" || name == "subagents"):
		return fmt.Sprintf("%s is not for sub-agents that are %d deep (agents.defaults.subagents.maxSpawnDepth)", name, s.Depth)
	}
	return ""
}

// restricted says why a run gets the smaller set, "" when it is the owner's own.
func restricted(s tool.Scope) string {
	switch {
	case !s.Owner:
		return "these words are not the owner's own"
	case s.Group:
		return "these words were said in a group"
	}
	return ""
}

// layers are those that are about a run.
func (p *Policy) layers(s tool.Scope) [7]*layer {
	find := func(m map[string]*layer, key string) *layer {
		if len(m) == 0 {
			return nil
		}
		return m[strings.ToLower(key)]
	}
	return [7]*layer{
		find(p.byProvider, s.Model.Provider), find(p.byProvider, s.Model.String()), find(p.byAgent, s.AgentID),
		find(p.bySession, s.SessionKey), find(p.bySurface, s.Surface), find(p.sender, s.Surface+":"+s.Sender), find(p.sender, s.Sender),
	}
}

// decide is one layer's answer; ok is false when it says no. said becomes what
// of the layer allowed it.
func (l *layer) decide(name string, said *string) (d Decision, ok bool) {
	switch {
	case l.deny.has(name):
		return Decision{Why: fmt.Sprintf("%s is denied by %s.deny", name, l.where)}, false
	case l.also.has(name):
		*said = l.where + ".alsoAllow names it"
	case !l.inProfile.has(name):
		return Decision{Why: fmt.Sprintf("%s is not in the profile %q of %s", name, l.profile, l.where)}, false
	case l.hasAllow && !l.allow.has(name):
		return Decision{Why: fmt.Sprintf("%s is not in %s.allow", name, l.where)}, false
	case l.hasAllow:
		*said = l.where + ".allow names it"
	case l.profile != "":
		*said = fmt.Sprintf("it is in the profile %q of %s", l.profile, l.where)
	}
	return d, true
}
