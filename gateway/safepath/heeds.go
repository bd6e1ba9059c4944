package safepath

import (
	"slices"
	"strings"
)

// Heeds says why a file in the workspace is more than data: what stands in it is
// told to the assistant in later conversations, or run by what is started later.
// "" = it is not.
func (p *Path) Heeds() string {
	if !p.Inside {
		return ""
	}
	rel := fold(p.Rel)
	base := rel[len(rel)-1]
	switch {
	case len(rel) == 1 && slices.Contains(promptFiles(), base), slices.Contains(agentFiles(), base), has(rel, ".cursor/rules"),
		has(rel, ".claude"):
		return "what stands in it is told to the assistant, or to others, in later conversations"
	case slices.Contains(buildFiles(), base),
		slices.ContainsFunc(buildFolders(), func(part string) bool { return has(rel[:len(rel)-1], part) }), configured(base):
		return "programs that are started later do what stands in it"
	}
	return ""
}

// promptFiles are read at the beginning of conversations, from the top of the
// workspace.
func promptFiles() []string {
	return []string{"agents.md", "soul.md", "tools.md", "identity.md", "user.md", "heartbeat.md", "bootstrap.md", "boot.md", "memory.md"}
}

// agentFiles are those of assistants in any folder.
func agentFiles() []string {
	return []string{"agents.md", "claude.md", "claude.local.md", "gemini.md", ".cursorrules", ".windsurfrules", ".clinerules",
		"copilot-instructions.md", ".mcp.json", "skill.md"}
}

// buildFiles are run, or say what is run, when somebody builds or tests.
func buildFiles() []string {
	return []string{
		"makefile", "gnumakefile", "justfile", ".justfile", "taskfile.yml", "taskfile.yaml", "package.json", "conftest.py", "setup.py",
		"setup.cfg",
		"pyproject.toml", "noxfile.py", "tox.ini", "pytest.ini", "build.rs", "cargo.toml", "build.zig", "build.sbt", "build.gradle",
		"build.gradle.kts",
		"settings.gradle", "settings.gradle.kts", "gradlew", "mvnw", "pom.xml", "rakefile", "gemfile", "cmakelists.txt", "meson.build", "dune",
		"flake.nix",
		"default.nix", "shell.nix", "dockerfile", "containerfile", "docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml",
		"procfile",
		"vagrantfile", "jenkinsfile", ".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "gulpfile.js", "gruntfile.js", "go.work",
		"deno.json",
		"turbo.json", "nx.json", "wscript", "sconstruct", "configure",
	}
}

// buildFolders hold such files, and programs that others find before the system's.
func buildFolders() []string {
	return []string{".github/workflows", ".github/actions", ".circleci", ".venv", "venv", "node_modules", ".bundle", ".gradle", ".mvn",
		".yarn"}
}

// configured: vite.config.ts, eslint.config.mjs and their kin are programs.
func configured(base string) bool {
	for _, end := range []string{".config.js", ".config.ts", ".config.mjs", ".config.cjs", ".config.mts", ".pth"} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	return false
}
