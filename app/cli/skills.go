package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

func newSkills(a *app) *cobra.Command {
	var eligible, yes, force bool
	var agent string
	list := func(ctx context.Context, _ []string) error { return listSkills(ctx, a, agent, eligible) }
	install := &cobra.Command{
		Use: "install PATH", Short: "Install a skill, or another version of it, after you have seen it",
		Long: "Install a skill from a folder, a .zip or a git bundle on this computer. What it is\n" +
			"made of, what it needs and what is different to the one that is there is shown first.\n" +
			"Nothing of it is run. From then on it is used only while no file of it changes.",
		Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			path, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			return acceptSkill(ctx, a, protocol.SkillAcceptParams{Path: path, Force: force}, yes)
		}),
	}
	install.Flags().BoolVar(&force, "force", false, "also an older version, or other files of the same version")
	confirm := &cobra.Command{
		Use: "trust NAME", Aliases: []string{"confirm"}, Short: "Accept the files of a skill as they are, after you have seen them",
		Args: cobra.ExactArgs(1),
		Long: "Accept the files of a skill as they are: one that waits because a command of the\n" +
			"assistant's may have written it is used then, and gets what the settings keep for\nits name until one of its files changes.",
		RunE: a.run(func(ctx context.Context, args []string) error {
			return acceptSkill(ctx, a, protocol.SkillAcceptParams{Name: args[0], AgentID: agent}, yes)
		}),
	}
	for _, c := range []*cobra.Command{install, confirm} {
		c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	}
	listCmd := &cobra.Command{Use: "list", Short: "List the skills and whether they can be used here", Args: cobra.NoArgs, RunE: a.run(list)}
	listCmd.Flags().BoolVar(&eligible, "eligible", false, "only those that can be used here")
	c := group("skills", "See, install and remove skills: folders that teach the assistant how to do something",
		listCmd,
		&cobra.Command{Use: "info NAME", Short: "Show what a skill needs and what is missing", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return skillInfo(ctx, a, agent, args[0]) })},
		&cobra.Command{Use: "check", Short: "Show what is missing for the skills that cannot be used", Args: cobra.NoArgs,
			RunE: a.run(func(ctx context.Context, _ []string) error { return checkSkills(ctx, a, agent) })},
		install, confirm,
		&cobra.Command{Use: "remove NAME", Short: "Remove a skill that was installed", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error {
				var res protocol.OKResult
				if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodSkillRemove, protocol.SkillNameParams{Name: args[0]}, &res); err != nil {
					return err
				}
				return a.done(res, "Removed.")
			})},
	)
	c.PersistentFlags().StringVar(&agent, "agent", "", "whose skills: the id of an agent (the default one)")
	c.RunE = a.run(list)
	return c
}

func skillsStatus(ctx context.Context, a *app, agent string) (res protocol.SkillsStatus, err error) {
	err = a.call(ctx, protocol.ScopeRead, protocol.MethodSkillsStatus, protocol.SkillsStatusParams{AgentID: agent}, &res)
	return res, err
}

func listSkills(ctx context.Context, a *app, agent string, eligible bool) error {
	res, err := skillsStatus(ctx, a, agent)
	if err != nil {
		return err
	}
	if eligible {
		kept := []protocol.SkillInfo{}
		for _, s := range res.Skills {
			if s.Eligible {
				kept = append(kept, s)
			}
		}
		res.Skills = kept
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if len(res.Skills) == 0 {
		return a.out().print("There are no skills.\n")
	}
	var rows [][]string
	for _, s := range res.Skills {
		rows = append(rows, []string{skillMark(s), line(s.Name), strings.TrimPrefix(s.Source, "hearth-"), text.Ellipsis(line(s.Description), 60),
			text.Ellipsis(line(whyNot(s)), 60)})
	}
	if err := a.out().table([]string{"", "SKILL", "FROM", "WHAT IT DOES", "WHY NOT"}, rows); err != nil {
		return err
	}
	for _, s := range res.Skills {
		for _, w := range s.Warnings {
			if err := a.out().print(line(s.Name), ": ", line(w), "\n"); err != nil {
				return err
			}
		}
	}
	return nil
}

func skillMark(s protocol.SkillInfo) string {
	switch {
	case s.Eligible:
		return "ready"
	case s.Disabled:
		return "off"
	case s.Trust == "new":
		return "new"
	case s.Problem != "":
		return "broken"
	}
	return "missing"
}

// whyNot says why a skill is not used, "" when it is.
func whyNot(s protocol.SkillInfo) string {
	var why []string
	add := func(words string, list []string) {
		if len(list) > 0 {
			why = append(why, words+strings.Join(list, ", "))
		}
	}
	switch {
	case s.Problem != "":
		return s.Problem
	case s.Disabled:
		return "switched off in skills.entries." + s.SkillKey
	case s.BlockedByAllowlist:
		return "not in skills.allowBundled"
	case s.BlockedByAgentFilter:
		return "not among the skills of this agent"
	}
	var systems []string
	for _, os := range s.Missing.OS {
		systems = append(systems, cmp.Or(map[string]string{"darwin": "macOS", "linux": "Linux", "win32": "Windows"}[os], os))
	}
	add("is for ", systems)
	add("needs the programs ", s.Missing.Bins)
	add("needs one of the programs ", s.Missing.AnyBins)
	add("needs the variables ", s.Missing.Env)
	add("needs the settings ", s.Missing.Config)
	return strings.Join(why, "; ")
}

func skillInfo(ctx context.Context, a *app, agent, name string) error {
	res, err := skillsStatus(ctx, a, agent)
	if err != nil {
		return err
	}
	for _, s := range res.Skills {
		if !strings.EqualFold(s.Name, name) && s.SkillKey != name {
			continue
		}
		if a.asJSON {
			return a.out().json(s)
		}
		rows := [][]string{
			{"Name", line(s.Name)}, {"State", skillMark(s)}, {"What it does", line(s.Description)},
			{"From", strings.TrimPrefix(s.Source, "hearth-")},
			{"Files", line(s.BaseDir)}, {"Trust", trustWords(s.Trust)},
		}
		for _, r := range [][]string{
			{"Version", s.Version}, {"Homepage", s.Homepage}, {"Why not", whyNot(s)},
			{"Programs", strings.Join(append(s.Requirements.Bins, s.Requirements.AnyBins...), ", ")},
			{"Variables", strings.Join(s.Requirements.Env, ", ")}, {"Key", s.PrimaryEnv}, {"Instead of", strings.Join(s.Shadowed, ", ")},
		} {
			if r[1] != "" {
				rows = append(rows, []string{r[0], line(r[1])})
			}
		}
		for _, w := range s.Warnings {
			rows = append(rows, []string{"Note", line(w)})
		}
		for _, i := range s.Install {
			if i.Command != "" && !s.Eligible {
				rows = append(rows, []string{"To get it", line(i.Command)})
			}
		}
		return a.out().table([]string{"", ""}, rows)
	}
	return &failure{exitFailure, "there is no skill " + line(name), "`hearth skills list` lists them"}
}

func trustWords(t string) string {
	switch t {
	case "shipped":
		return "came with Hearth"
	case "confirmed":
		return "every file is as you have seen it"
	case "changed":
		return "changed since you have seen it"
	case "unknown":
		return "nobody has looked at it"
	case "new":
		return "new or changed, and you have not looked at it"
	}
	return "in a folder of yours"
}

func checkSkills(ctx context.Context, a *app, agent string) error {
	res, err := skillsStatus(ctx, a, agent)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	ready := 0
	var rows [][]string
	for _, s := range res.Skills {
		if s.Eligible {
			ready++
			continue
		}
		get := ""
		for _, i := range s.Install {
			if i.Command != "" && get == "" {
				get = i.Command
			}
		}
		rows = append(rows, []string{line(s.Name), line(whyNot(s)), line(get)})
	}
	if err := a.out().print(fmt.Sprintf("%d of %d skills can be used here.\n", ready, len(res.Skills))); err != nil || len(rows) == 0 {
		return err
	}
	return a.out().table([]string{"SKILL", "WHAT IS MISSING", "TO GET IT"}, rows)
}

// acceptSkill shows what installing or confirming means, asks, and does exactly
// that.
func acceptSkill(ctx context.Context, a *app, p protocol.SkillAcceptParams, yes bool) error {
	var plan protocol.SkillPlan
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodSkillPlan, protocol.SkillPlanParams{Path: p.Path, Name: p.Name,
		AgentID: p.AgentID}, &plan); err != nil {
		return err
	}
	if plan.Same {
		return a.done(plan, "Nothing to do: every file is as you have seen it.")
	}
	if plan.Refused != "" && !p.Force {
		return &failure{exitFailure, line(plan.Refused), "install it with --force if that is meant"}
	}
	if !a.asJSON {
		if err := showPlan(a, plan); err != nil {
			return err
		}
	}
	if !yes {
		ok, err := a.agree("Use this skill? [y/N] ")
		if err != nil {
			return err
		}
		if !ok {
			return &failure{exitFailure, "nothing was changed", "--yes accepts it without a question"}
		}
	}
	p.Hash = plan.Hash
	var res protocol.SkillPlan
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodSkillAccept, p, &res); err != nil {
		return err
	}
	return a.done(res, "Done: "+line(res.Name)+". It is used from the next message on, while no file of it changes.")
}

func showPlan(a *app, p protocol.SkillPlan) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n", line(strings.TrimSpace(p.Name+" "+p.Version)), line(p.Description))
	for _, f := range p.Files {
		mark := ""
		if f.Executable {
			mark = ", a program or script"
		}
		if f.Change != "same" {
			fmt.Fprintf(&b, "  %-8s %s (%d bytes%s)\n", f.Change, line(f.Path), f.Bytes, mark)
		}
	}
	for _, r := range []struct {
		words string
		list  []string
	}{
		{"It runs the programs: ", append(p.Requires.Bins, p.Requires.AnyBins...)}, {"It wants the variables: ", p.Requires.Env},
		{"It wants the settings: ", p.Requires.Config},
	} {
		if len(r.list) > 0 {
			b.WriteString(r.words + line(strings.Join(r.list, ", ")) + "\n")
		}
	}
	if p.Dispatch != "" {
		b.WriteString("Its command calls the tool " + line(p.Dispatch) + " directly.\n")
	}
	if len(p.Findings) > 0 {
		b.WriteString("\nLook at this first:\n")
		for _, f := range p.Findings {
			b.WriteString("  ! " + line(f) + "\n")
		}
	}
	if p.Diff != "" {
		b.WriteString("\nWhat is different:\n")
		for _, l := range strings.Split(strings.TrimSuffix(p.Diff, "\n"), "\n") {
			b.WriteString(line(l) + "\n")
		}
	}
	b.WriteString("\n")
	return a.out().print(b.String())
}
