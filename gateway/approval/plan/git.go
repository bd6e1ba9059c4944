package plan

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// git is a program like no other: settings in the folder, hooks and attributes
// make it start others, and it looks upwards for them. It is understood only when
// it looks at things, with options from a list, where no setting can start
// anything and there are no hooks.
func (w *walker) git(argv []string) bool {
	args := argv[1:]
	paged := w.p.request.Terminal
	if len(args) > 0 && args[0] == "--no-pager" {
		args, paged = args[1:], false
	}
	if len(args) == 1 && args[0] == "--version" {
		return true
	}
	if len(args) == 0 || !gitReads(args) || paged && args[0] != "status" && args[0] != "rev-parse" {
		return false
	}
	dir, ok := w.dir()
	if !ok {
		return false
	}
	for _, e := range w.p.Env {
		if strings.HasPrefix(e.Name, "GIT_") {
			return false
		}
	}
	settings := []string{"/etc/gitconfig"}
	if w.r.home == "" {
		return false
	}
	settings = append(settings, filepath.Join(w.r.home, ".gitconfig"), filepath.Join(w.r.home, ".config", "git", "config"))
	repo, ok := repository(dir)
	if !ok {
		return false
	}
	if repo != "" {
		if exists(filepath.Join(repo, ".gitmodules")) || exists(filepath.Join(repo, ".git", "modules")) ||
			hooks(filepath.Join(repo, ".git", "hooks")) {
			return false
		}
		settings = append(settings, filepath.Join(repo, ".git", "config"), filepath.Join(repo, ".git", "config.worktree"))
	}
	for _, file := range settings {
		if !w.r.settings.harmless(file, w.r.now()) {
			return false
		}
	}
	// A setting of tomorrow is a doubt tomorrow, but one that an earlier part of
	// this command writes would be read today.
	w.loose = append(w.loose, loose{w.step, "what git starts"})
	return true
}

// gitReads: a part of git that only looks, with options that only show.
func gitReads(args []string) bool {
	switch args[0] {
	case "status", "log", "diff", "show", "rev-parse", "ls-files", "ls-tree", "blame", "shortlog":
	case "branch", "tag", "remote":
		for _, a := range args[1:] { // with a name they change something
			if !strings.HasPrefix(a, "-") {
				return false
			}
		}
	default:
		return false
	}
	for i, a := range args[1:] {
		if a == "--" {
			return !unknown(args[i+1:])
		}
		if !strings.HasPrefix(a, "-") {
			if a == Unknown {
				return false
			}
			continue
		}
		name, _, _ := strings.Cut(a, "=")
		if !slices.Contains(gitShows, name) && !(len(a) > 1 && digits(a[1:])) {
			return false
		}
	}
	return true
}

var gitShows = strings.Fields(`-s -b -sb -v -vv -a -r -n -p -w -1 -u -z --short --branch --porcelain --long
	--oneline --stat --numstat --shortstat --name-only --name-status --graph --all --decorate --cached
	--staged --patch --no-color --color --follow --reverse --author --since --until --after --before
	--grep --merges --no-merges --max-count --abbrev-commit --date --list --show-current --abbrev-ref
	--show-toplevel --is-inside-work-tree --git-dir --verify --others --exclude-standard --modified
	--deleted --untracked-files --ignored --no-renames --summary --no-ext-diff --no-textconv`)

// repository walks up like git does. A .git that is a file leads elsewhere, and a
// bare repository is one itself: both are not understood.
func repository(dir string) (string, bool) {
	for {
		if exists(dir + "/.git") {
			info, err := os.Lstat(dir + "/.git")
			return dir, err == nil && info.IsDir()
		}
		if exists(dir + "/HEAD") {
			return "", false
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", true
		}
		dir = up
	}
}

// hooks: there is a hook, or nobody can tell.
func hooks(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return !os.IsNotExist(err)
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !strings.HasSuffix(e.Name(), ".sample") })
}

// settingsCache keeps which files of settings are harmless.
type settingsCache struct {
	mu    sync.Mutex
	known map[string]identity
}

func (c *settingsCache) harmless(path string, now time.Time) bool {
	id, ok := identifyPath(path)
	if !ok {
		return !exists(path)
	}
	c.mu.Lock()
	kept, hit := c.known[path]
	c.mu.Unlock()
	if hit && kept == id {
		return true
	}
	if !harmlessSettings(path) {
		return false
	}
	if again, ok := identifyPath(path); ok && again == id && id.old(now) {
		c.mu.Lock()
		if c.known == nil || len(c.known) >= maxCached {
			c.known = make(map[string]identity)
		}
		c.known[path] = id
		c.mu.Unlock()
	}
	return true
}

// harmlessSettings: every setting in a file of git's is one that starts nothing.
// The file is read more strictly than git reads it; what it does differently
// (continued lines, quoted sections) is not harmless.
func harmlessSettings(path string) bool {
	f, err := open(path)
	if os.IsNotExist(err) {
		return true
	}
	if err != nil {
		return false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return false
	}
	section := ""
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
			continue
		case strings.ContainsAny(line, "\\\r\x00"):
			return false
		case line[0] == '[':
			head, rest, ok := strings.Cut(line[1:], "]")
			if !ok || strings.TrimSpace(rest) != "" {
				return false
			}
			section, _, _ = strings.Cut(strings.ToLower(head), " ")
			continue
		}
		key, _, _ := strings.Cut(line, "=")
		if !slices.Contains(gitSettings, section+"."+strings.ToLower(strings.TrimSpace(key))) {
			return false
		}
	}
	return lines.Err() == nil
}

// gitSettings start nothing while git only looks: it does not sign in, edit or sign.
var gitSettings = strings.Fields(`core.repositoryformatversion core.filemode core.bare core.logallrefupdates
	core.ignorecase core.precomposeunicode core.symlinks core.autocrlf core.eol core.quotepath
	core.compression user.name user.email init.defaultbranch branch.remote branch.merge branch.rebase
	remote.fetch remote.url remote.pushurl push.default push.autosetupremote pull.rebase pull.ff color.ui color.status color.diff
	color.branch fetch.prune rerere.enabled merge.conflictstyle advice.detachedhead
	credential.helper credential.username credential.usehttppath safe.directory user.signingkey
	commit.gpgsign tag.gpgsign gpg.format core.editor advice.statushints status.short status.branch log.date diff.algorithm diff.renames`)
