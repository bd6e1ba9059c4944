package safepath

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// ErrPrivate means that no tool may touch the file, asked or not.
var ErrPrivate = errors.New("Hearth's tools never touch this file")

// Verdict says what it takes to touch a file.
type Verdict int

const (
	Free  Verdict = iota // just do it
	Ask                  // the owner decides
	Never                // not even then
)

// Judge says what it takes to read or to change the file, and why.
func (p *Path) Judge(change bool) (v Verdict, why string) {
	names := fold(p.Path)
	switch {
	case kernel(p.Path):
		return Never, "it belongs to the system's devices and processes"
	case p.ours || slices.ContainsFunc(p.files, func(f string) bool { _, in := below(p.Path, f); return in }):
		return Never, "it belongs to Hearth's own settings and state"
	case secret(names):
		return Never, "it holds keys or passwords"
	case change && p.Runs():
		return Ask, "programs, or the assistant, later do what stands in it"
	case !p.Inside && !change && p.open != nil && p.open(p.Path):
		return Free, ""
	case !p.Inside:
		return Ask, "it is outside of the workspace"
	case p.shared():
		return Ask, "it is a file outside of the workspace as well, by another name (a hard link)"
	}
	return Free, ""
}

// Runs reports whether what stands in the file is run or followed by something
// later, without being asked.
func (p *Path) Runs() bool {
	return protected(fold(p.Path)) || p.Inside && skill(fold(p.Rel))
}

// fold splits a path into names as a file system without case and with odd
// normal forms may see them.
func fold(p string) []string {
	p = strings.ToLower(norm.NFKC.String(filepath.ToSlash(p)))
	p = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) { // some file systems do not see these
			return -1
		}
		return r
	}, p)
	names := strings.Split(strings.Trim(p, "/"), "/")
	for i, n := range names {
		n, _, _ = strings.Cut(n, ":") // a stream of the file
		names[i] = strings.TrimRight(n, ". ")
	}
	return names
}

// has reports whether the names hold those of part one after the other.
func has(names []string, part string) bool {
	want := strings.Split(part, "/")
	for i := 0; i+len(want) <= len(names); i++ {
		if slices.Equal(names[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

// protected reports files that make programs run something.
func protected(names []string) bool {
	base := names[len(names)-1]
	if slices.Contains(runnerFiles(), base) || strings.HasSuffix(base, "profile.ps1") {
		return true
	}
	for _, n := range names {
		if strings.HasSuffix(n, ".git") {
			return true
		}
	}
	return slices.ContainsFunc(runnerFolders(), func(part string) bool { return has(names, part) })
}

// runnerFiles are names of files that shells, editors and tools run or obey
// without being asked.
func runnerFiles() []string {
	return []string{
		".envrc", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
		".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", "config.fish",
		".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment", ".gitconfig", ".gitmodules", ".gitattributes",
		".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", "authorized_keys", "authorized_keys2",
		".vimrc", ".exrc", ".nvimrc", ".nvim.lua", ".emacs", ".dir-locals.el", ".gdbinit", ".lldbinit", ".rprofile", ".irbrc",
		".pryrc", ".pythonstartup", "sitecustomize.py", "usercustomize.py", ".npmrc", ".yarnrc", ".yarnrc.yml", "bunfig.toml",
		"pip.conf", ".mise.toml", "mise.toml", ".tmux.conf", ".screenrc", ".crontab", "crontab", ".wgetrc", ".curlrc", "rc.local",
	}
}

// runnerFolders are such folders.
func runnerFolders() []string {
	return []string{
		".husky", ".githooks", ".config/git", "launchagents", "launchdaemons", "systemd", ".config/autostart",
		".config/environment.d", ".config/fish", ".config/nvim", ".config/pip", ".oh-my-zsh", ".ssh", "cron.d", "crontabs",
		"cron.daily", "cron.hourly", "init.d", "profile.d", "programs/startup", ".vscode", ".idea", ".devcontainer", ".direnv",
		".cargo/config.toml", ".cargo/config", ".local/bin", "windowspowershell", "polkit-1", "udev/rules.d", "sudoers.d",
	}
}

func skill(rel []string) bool {
	return rel[0] == "skills" || has(rel, ".agents/skills") || has(rel, ".claude/skills") || rel[len(rel)-1] == "skill.md"
}

// secret reports files that hold keys and passwords.
func secret(names []string) bool {
	base := names[len(names)-1]
	if i := slices.Index(names, ".ssh"); i >= 0 && i < len(names)-1 {
		return !slices.Contains([]string{"authorized_keys", "authorized_keys2", "config", "known_hosts"}, base) &&
			!strings.HasSuffix(base, ".pub")
	}
	if slices.Contains([]string{".netrc", "_netrc", ".pgpass", ".git-credentials", ".pypirc", "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa",
		"key4.db", "logins.json", "cookies.sqlite", "login data", "login.keychain-db"}, base) {
		return true
	}
	return slices.ContainsFunc([]string{
		".gnupg", ".aws/credentials", ".aws/sso", ".azure", ".config/gcloud", ".kube/config", ".docker/config.json", ".password-store",
		"library/keychains", ".local/share/keyrings", ".mozilla", "application support/firefox", "application support/google/chrome",
		"application support/bravesoftware", ".config/google-chrome", ".config/chromium", ".config/bravesoftware", ".config/microsoft-edge",
		".config/gh/hosts.yml", ".config/op", "google/chrome/user data", "microsoft/edge/user data", "mozilla/firefox/profiles",
		"microsoft/credentials", "microsoft/protect", "library/cookies", "etc/shadow", "etc/gshadow", "etc/sudoers", "etc/ssl/private",
		".terraform.d/credentials.tfrc.json", ".cargo/credentials.toml", ".config/rclone", ".vault-token", ".bitcoin", ".electrum",
		".ethereum/keystore",
	}, func(part string) bool { return has(names, part) })
}

// privateLink reports files with more than one name, when one of the others is
// a file of ours or a person's key.
func (p *Path) privateLink(f *os.File, st fs.FileInfo) bool {
	if links(f, st) < 2 {
		return false
	}
	dirs := p.files
	if p.home != "" {
		dirs = append(slices.Clone(dirs), filepath.Join(p.home, ".ssh"), filepath.Join(p.home, ".netrc"),
			filepath.Join(p.home, ".git-credentials"),
			filepath.Join(p.home, ".aws"), filepath.Join(p.home, ".kube"), filepath.Join(p.home, ".docker"), filepath.Join(p.home, ".pgpass"))
	}
	for _, d := range dirs {
		if o, err := os.Stat(d); err == nil && os.SameFile(o, st) {
			return true
		}
		entries, err := os.ReadDir(d)
		if err != nil {
			continue // missing, or a file
		}
		for _, e := range entries {
			if o, err := e.Info(); err == nil && os.SameFile(o, st) {
				return true
			}
		}
	}
	return false
}
