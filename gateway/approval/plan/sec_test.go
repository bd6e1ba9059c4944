package plan

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// asks: this command must never run because of a rule. Everything that is not
// Known asks, and so does everything with a program in it that no rule names.
func asks(t *testing.T, r *Resolver, command, dir string) {
	t.Helper()
	p, err := r.Resolve(t.Context(), Request{Command: command, Dir: dir})
	if err != nil {
		return // refused
	}
	if p.Known {
		t.Errorf("%q is known: %v", command, p.Programs)
	}
	if len(p.Doubts) == 0 {
		t.Errorf("%q: no word about why", command)
	}
}

// canaries is a folder in which programs lie in wait under the names of others.
func canaries(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	raw, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Skip("no /bin/true here")
	}
	for _, at := range []string{dir, filepath.Join(dir, "node_modules/.bin"), filepath.Join(dir, ".local/bin")} {
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"pwned", "git", "ls"} {
			if err := os.WriteFile(filepath.Join(at, name), raw, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func TestSec_A_EXEC_02_Chains(t *testing.T) {
	dir := canaries(t)
	if err := errors.Join(os.Remove(filepath.Join(dir, "ls")), os.Remove(filepath.Join(dir, "git"))); err != nil {
		t.Fatal(err)
	}
	r := New(Options{Own: []string{dir}, Confined: true, Home: t.TempDir()})
	for _, command := range []string{
		"ls && pwned", "ls; pwned", "ls | pwned", "ls & pwned", "ls \n pwned", "! pwned", "{ pwned; }", "( pwned )",
		"coproc pwned", "ls || pwned", "ls |& pwned", "ls&&pwned", "ls;pwned", "if true; then pwned; fi", "while pwned; do break; done",
		"until pwned; do :; done", "for i in 1; do pwned; done", "case x in x) pwned;; esac", "select x in a; do pwned; done",
		"f() { pwned; }; f", "function f { pwned; }; f", "time pwned", "ls () { pwned; }; ls", "{ ls; pwned; } >x", "ls & { pwned & }",
	} {
		asks(t, r, command, dir)
		p := plan(t, r, command, dir)
		unread := slices.ContainsFunc(p.Doubts, func(d Doubt) bool { return d.Code == "unreadable" || d.Code == "builtin" })
		if !unread && !strings.Contains(names(p), "pwned") {
			t.Errorf("%q does not name pwned: %v", command, names(p))
		}
	}
	// Not in the positive list, even around harmless things.
	for _, command := range []string{"ls() { head; }; ls", "f() { ls; }", "if ls; then head; fi", "while ls; do head; done",
		"for x in a; do ls; done", "case a in a) ls;; esac", "until ls; do :; done", "ls # a", "ls |& head", "ls &> x"} {
		asks(t, r, command, dir)
		asks(t, resolver(t), command, t.TempDir())
	}
}

func TestSec_A_EXEC_03_Substitutions(t *testing.T) {
	r, dir := resolver(t), t.TempDir()
	for _, command := range []string{
		"ls `pwned`", `ls "$(pwned)"`, "ls <(pwned)", "ls >(pwned)", "ls $\\\n(pwned)", "ls ${x:-$(pwned)}", "ls $((a[$(pwned)]))",
		"[[ -v a[$(pwned)] ]]", "cat <<<$(pwned)", "ls ${x}", `ls "$x"`, "ls $'a'", `ls $"a"`, "ls {a,b}", "ls *", "ls ?", "ls [a]",
		"ls ~", "ls ~root", "ls $((1))", "ls $[1]", "ls !(a)", "ls $IFS", "$x", "${x}", `"$@"`, "$0", "test -v 'a[$(pwned)]'",
		"printf -v 'a[$(pwned)]' x", "printf '%n' 'a[$(pwned)]'", "printf '%5n' x", "unset 'a[$(pwned)]'", "read 'a[$(pwned)]'",
		"export 'a[$(pwned)]=1'",
		"let 'a[$(pwned)]'", "(( a[$(pwned)] ))", `[ -v 'a[$(pwned)]' ]`, "eval pwned", "source x", ". x", "trap pwned EXIT", "alias ls=pwned",
		"hash -p x ls",
		"PROMPT_COMMAND=pwned ls", "enable -f x y", "builtin eval pwned", "command eval pwned", "command . x", "exec -a ls pwned",
		"command -p pwned",
	} {
		asks(t, r, command, dir)
	}
}

func TestSec_A_EXEC_04_Heredocs(t *testing.T) {
	r, dir := resolver(t), t.TempDir()
	for _, command := range []string{
		"cat <<EOF\n$(pwned)\nEOF", "cat <<EOF\nx\nEOF", "cat <<'EOF'\n$(pwned)\nEOF", "cat <<-EOF\n\tx\n\tEOF", "cat <<EOF\n$(pwned)",
		"cat <<<x",
		"cat <<A <<B\n$(pwned)\nA\nx\nB", "cat <<\\EOF\nx\nEOF\npwned", "cat <<''\nx\n\npwned",
	} {
		asks(t, r, command, dir)
	}
}

func TestSec_A_EXEC_06_Depth(t *testing.T) {
	r, dir := resolver(t), t.TempDir()
	for n := 1; n <= 50; n++ {
		p := plan(t, r, strings.Repeat("env ", n)+"ls", dir)
		if want := n <= maxDepth; p.Known != want {
			t.Errorf("%d times env: known %v", n, p.Known)
		}
		if p.Lasting {
			t.Errorf("%d times env can be remembered", n)
		}
	}
}

func TestSec_A_EXEC_07_Multiplexers(t *testing.T) {
	r, dir := resolver(t), t.TempDir()
	for _, command := range []string{"busybox sh -c pwned", "toybox sh -c pwned", "busybox ls", "sh -c pwned", "bash -c ls", "bash -lc ls",
		"dash -c 'ls'", "env bash", "sh", "nice sh -c ls", "bash script", "coreutils --coreutils-prog=env pwned"} {
		asks(t, r, command, dir)
		if p := plan(t, r, command, dir); p.Lasting {
			t.Errorf("%q can be remembered", command)
		}
	}
	// A link to a shell under a harmless name is the shell.
	link := filepath.Join(dir, "ls")
	if err := os.Symlink("/bin/bash", link); err != nil {
		t.Fatal(err)
	}
	asks(t, r, "./ls -c pwned", dir)
}

func TestSec_A_EXEC_08_NotLasting(t *testing.T) {
	r, dir := resolver(t), t.TempDir()
	for _, command := range []string{
		`bash -lc "echo a"`, "python3 -c 1", "node -e 1", "perl -e 1", "env ls", "nice ls", "timeout 1 ls", "npm run x", "npx x", "make",
		"cargo build",
		"go run .", "git commit", "sudo ls", "xargs ls", "find . -exec ls {} +", "ssh host", "awk 1", "sed e", "./x", "pip install x", "ls $(x)",
		"ls *",
		"eval ls", "A=b ls", "PATH=. ls", "docker run x", "python3 x.py",
	} {
		if p := plan(t, r, command, dir); p.Lasting {
			t.Errorf("%q can be remembered", command)
		}
	}
	for _, command := range []string{"ls", "ls -la /", "cat a b", "grep -r x .", "ls | head"} {
		if p := plan(t, r, command, dir); !p.Lasting {
			t.Errorf("%q cannot be remembered: %v", command, p.Doubts)
		}
	}
	// Another binary, another digest.
	own := canaries(t)
	mine := New(Options{Own: []string{own}, Confined: true})
	before := plan(t, mine, "pwned", dir)
	if err := os.WriteFile(filepath.Join(own, "pwned"), []byte("\x7fELF another"), 0o755); err != nil {
		t.Fatal(err)
	}
	if after := plan(t, mine, "pwned", dir); after.Digest == before.Digest {
		t.Error("a replaced binary has the same digest")
	}
}

func TestSec_A_EXEC_09_Flags(t *testing.T) {
	r, dir := resolver(t), t.TempDir()
	for _, command := range []string{
		"sort --compress-prog=pwned x", "sort --compress-program pwned x", "sort --comp=pwned", "sort --co pwned", "diff -l a b",
		"diff --pag a b", "diff -rl a b",
		"find . -exec pwned ;", "find . -execdir pwned +", "find . -ok pwned ;", "install -s a b", "install --strip-program=pwned a b",
		"file -z x", "rg --pre pwned x",
		"rg --pre=pwned", "head -n1 *", "sort $x", "grep -r x *",
	} {
		asks(t, r, command, dir)
	}
}

// TestSec_A_EXEC_09_ReadersThatWrite: a rule for a reader says nothing about
// files, so what it writes to must show.
func TestSec_A_EXEC_09_ReadersThatWrite(t *testing.T) {
	r, dir := resolver(t), mustReal(t, t.TempDir())
	for command, want := range map[string]string{
		"sort -o f x": "f", "sort -of x": "f", "sort --output=f x": "f", "sort --output f x": "f", "sort --o=f x": "f", "sort -no f x": "…",
		"sort x":      "",
		"uniq in out": "out", "uniq in": "", "uniq -c in out": "out", "shuf -o f x": "f", "find . -fprint f": "f",
		"find . -delete": "what find finds", "find . -fls": "…",
		"sort -ro f": "…", "grep -o x f": "", "sort -o /x/f x": "/x/f",
	} {
		if want != "" && want != Unknown && want != "what find finds" && want[0] != '/' {
			want = filepath.Join(dir, want)
		}
		p := plan(t, r, command, dir)
		if got := strings.Join(p.Writes, " "); got != want || !p.Known {
			t.Errorf("%q writes to %q, not %q (%v)", command, got, want, p.Doubts)
		}
	}
}

func TestSec_A_EXEC_10_SearchPath(t *testing.T) {
	dir := canaries(t)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	r := New(Options{Confined: true, Home: t.TempDir(), Path: []string{dir, filepath.Join(dir, "node_modules/.bin"), ".", "",
		filepath.Join(dir, ".local/bin"), "/usr/bin", "/bin"}})
	if strings.Contains(r.SearchPath(), dir) || strings.Contains(":"+r.SearchPath()+":", "::") || strings.Contains(r.SearchPath(), ".:") {
		t.Fatalf("searched: %s", r.SearchPath())
	}
	p := plan(t, r, "ls", dir)
	if len(p.Programs) != 1 || strings.HasPrefix(p.Programs[0].Path, dir) || !filepath.IsAbs(p.Programs[0].Path) {
		t.Errorf("ls is %v", p.Programs)
	}
	if path, _ := p.Exec(); path != p.Programs[0].Path {
		t.Errorf("%s is started", path)
	}
	asks(t, r, "pwned", dir)
	asks(t, r, "./ls", dir)
	if p := plan(t, r, "pwned", dir); p.Programs[0].Path != "" {
		t.Errorf("pwned is %v", p.Programs)
	}
}

func TestSec_A_EXEC_14_ByteForByte(t *testing.T) {
	r, dir := resolver(t), t.TempDir()
	digests := map[[32]byte]string{}
	for _, command := range []string{"ls", "ls ", "ls\u00a0", " ls", "ls  a", "ls a", "'ls' a", "ls 'a '", "ls\ta", `sh -c '"$1"' _ pwned`,
		`sh -c '"$1"' _ ls`, "ls a b", "ls 'a b'"} {
		p := plan(t, r, command, dir)
		if old, twice := digests[p.Digest]; twice {
			t.Errorf("%q and %q have one digest", old, command)
		}
		digests[p.Digest] = command
	}
	argv := func(args ...string) [32]byte {
		p, err := r.Resolve(t.Context(), Request{Argv: args, Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return p.Digest
	}
	if argv("ls", "a", "b") == argv("ls", "a b") || argv("ls", "") == argv("ls") || argv("ls") == argv("ls ") {
		t.Error("other arguments, one digest")
	}
	asks(t, r, "'ls '", dir)
	asks(t, r, "ls\u00a0", dir)
}

func TestSec_A_EXEC_14_Verify(t *testing.T) {
	r, dir := resolver(t), t.TempDir()
	p := plan(t, r, "ls a", dir)
	if err := r.Verify(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Plan){
		"command": func(p *Plan) { p.Command += " " }, "argv": func(p *Plan) { p.Argv = []string{"ls", "b"} },
		"program": func(p *Plan) { p.Programs[0].Path = "/bin/sh" }, "digest": func(p *Plan) { p.Digest[0]++ },
		"known": func(p *Plan) { p.Known = !p.Known }, "lasting": func(p *Plan) { p.Lasting = !p.Lasting }, "dir": func(p *Plan) { p.Dir = "/" },
		"env": func(p *Plan) { p.Env = []EnvChange{{"A", "b"}} }, "request": func(p *Plan) { p.request.Command = "pwned" },
	} {
		q := p
		q.Programs = slices.Clone(p.Programs)
		change(&q)
		if err := r.Verify(t.Context(), q); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSec_A_EXEC_15_ScriptChanges(t *testing.T) {
	r, dir := resolver(t), t.TempDir()
	script := filepath.Join(dir, "x.sh")
	write := func(s string) {
		if err := os.WriteFile(script, []byte(s), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{"./x.sh", "sh x.sh"} {
		for range 500 { // same length, same second
			write("#!/bin/sh\nls aaa\n")
			p := plan(t, r, command, dir)
			if len(p.Scripts) != 1 || p.Known || p.Lasting {
				t.Fatalf("%q: %+v", command, p)
			}
			write("#!/bin/sh\npwned \n")
			if err := r.Verify(t.Context(), p); !errors.Is(err, ErrChanged) {
				t.Fatalf("%q: a changed script passes: %v", command, err)
			}
		}
	}
}

// TestSec_A_EXEC_15_FreshFiles: what was written a moment ago may be written
// again within the same tick of the clock, so its hash is not kept.
func TestSec_A_EXEC_15_FreshFiles(t *testing.T) {
	own := canaries(t)
	info, err := os.Stat(filepath.Join(own, "pwned"))
	if err != nil {
		t.Fatal(err)
	}
	for after, kept := range map[time.Duration]bool{time.Second: false, time.Hour: true} {
		r := New(Options{Own: []string{own}, Now: func() time.Time { return info.ModTime().Add(after) }})
		plan(t, r, "pwned", own)
		if _, ok := r.hashes.known[filepath.Join(mustReal(t, own), "pwned")]; ok != kept {
			t.Errorf("after %v it is kept: %v", after, ok)
		}
	}
}

func TestSec_A_EXEC_16_FolderChanges(t *testing.T) {
	r, root := resolver(t), t.TempDir()
	for _, d := range []string{"a/x", "b/x"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(root, "a", "x")
	p := plan(t, r, "ls", dir)
	if err := os.Rename(filepath.Join(root, "a"), filepath.Join(root, "c")); err != nil {
		t.Fatal(err)
	}
	if err := r.Verify(t.Context(), p); !errors.Is(err, ErrChanged) {
		t.Errorf("the folder is gone: %v", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.Verify(t.Context(), p); !errors.Is(err, ErrChanged) {
		t.Errorf("another folder of the same name: %v", err)
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(root, "a")), os.Symlink("b", filepath.Join(root, "a"))); err != nil {
		t.Fatal(err)
	}
	if err := r.Verify(t.Context(), p); !errors.Is(err, ErrChanged) {
		t.Errorf("the folder leads elsewhere: %v", err)
	}
	info, err := os.Stat(dir)
	if err != nil || p.InDir(info) {
		t.Errorf("another folder passes as the one of the plan: %v", err)
	}
}

func TestSec_A_EXEC_17_Interpreters(t *testing.T) {
	r, dir := resolver(t), t.TempDir()
	for _, command := range []string{
		"node -r x y.js", "python3 -m http.server", "perl -Mx -e1", "ruby -rx y", "npm run x", "npm test", "make", "cargo build", "go run .",
		"go test",
		"pnpm dlx x", "npx x", "uv run x", "perl -I. x", "php -d x=y z", "lua -l x", "bun x", "deno run x", "gcc -fplugin=x", "java -javaagent:x",
		"awk 'BEGIN{system(\"pwned\")}'", "sed 1e", "vim -c '!pwned'", "less +!pwned x", "man -P pwned ls", "tar --checkpoint-action=exec=pwned",
		"rsync -e pwned a b",
		"git -c alias.x=!pwned x", "ssh -oProxyCommand=pwned h", "socat - EXEC:pwned", "gdb -ex '!pwned'", "python3", "node",
	} {
		asks(t, r, command, dir)
		if p := plan(t, r, command, dir); p.Lasting {
			t.Errorf("%q can be remembered", command)
		}
	}
	asksIn := func(env map[string]string) {
		p, err := r.Resolve(t.Context(), Request{Command: "ls", Dir: dir, Env: env})
		if err == nil && (p.Known || p.Lasting) {
			t.Errorf("%v is known", env)
		}
	}
	for _, name := range strings.Fields(`NODE_OPTIONS LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES BASH_ENV ENV SHELLOPTS PS4 PROMPT_COMMAND IFS PATH CDPATH
		GIT_SSH GIT_EXEC_PATH PYTHONSTARTUP PYTHONPATH PERL5OPT RUBYOPT EDITOR PAGER LESSOPEN HOME SHELL SSH_AUTH_SOCK GLIBC_TUNABLES LOCPATH
		JAVA_TOOL_OPTIONS RUSTC_WRAPPER MAKEFLAGS CC http_proxy HTTP_PROXY AWS_PROFILE HEARTH_TOKEN ld_preload Path`) {
		asksIn(map[string]string{name: "x"})
	}
	asksIn(map[string]string{"BASH_FUNC_ls%%": "() { pwned; }"})
	asksIn(map[string]string{"LANG": "../../x"})
	asksIn(map[string]string{"LD_PRELOAD ": "x"})
}

func TestSec_A_EXEC_17_Git(t *testing.T) {
	if _, err := os.Stat("/usr/bin/git"); err != nil {
		t.Skip("no git here")
	}
	home := t.TempDir()
	r := New(Options{Confined: true, Home: home})
	repo := func(files map[string]string) string {
		dir := t.TempDir()
		for name, content := range files {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o755)); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	plain := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = x\n"
	clean := repo(map[string]string{".git/config": plain, ".git/hooks/pre-commit.sample": ""})
	for _, command := range []string{"git status", "git log --oneline -n 5", "git diff --stat", "git --no-pager log", "git branch -a"} {
		if p := plan(t, r, command, clean); !p.Known || !p.Lasting {
			t.Errorf("%q: %v", command, p.Doubts)
		}
	}
	for _, command := range []string{"git commit", "git push", "git fetch", "git checkout x", "git -c core.pager=pwned log",
		"git diff --ext-diff", "git log --output=x", "git x", "git branch -D x", "git grep -Opwned x", "git --exec-path=. status",
		"git -C /x status"} {
		asks(t, r, command, clean)
	}
	for name, files := range map[string]map[string]string{
		"fsmonitor": {".git/config": plain + "[core]\n\tfsmonitor = pwned\n"}, "alias": {".git/config": "[alias]\n\tx = !pwned\n"},
		"include": {".git/config": "[include]\n\tpath = x\n"}, "hook": {".git/config": plain, ".git/hooks/post-index-change": "#!/bin/sh\n"},
		"submodule": {".git/config": plain, ".gitmodules": ""}, "file": {".git": "gitdir: x"}, "bare": {"HEAD": "x", "config": "x"},
		"one line": {".git/config": "[core] fsmonitor = pwned\n"}, "continued": {".git/config": "[user]\nname = x\\\n"},
		"pager":      {".git/config": "[core]\npager = pwned\n"},
		"upper case": {".git/config": "[CORE]\nFsMonitor = pwned\n"}, "filter": {".git/config": "[filter \"x\"]\nclean = pwned\n"},
	} {
		dir := repo(files)
		if p := plan(t, r, "git status", dir); p.Known || p.Lasting {
			t.Errorf("%s: known", name)
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[core]\nfsmonitor=pwned\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	asks(t, r, "git status", clean)
}

func TestSec_A_EXEC_18_CleanPaths(t *testing.T) {
	r, dir := resolver(t), t.TempDir()
	for _, command := range []string{"/usr/bin/../../bin/sh -c ls", "/usr/bin/../bin/bash -c ls", "//bin//sh -c ls"} {
		p := plan(t, r, command, dir)
		if len(p.Programs) == 0 || p.Programs[0].Path != filepath.Clean(p.Programs[0].Path) || strings.Contains(p.Programs[0].Path, "..") ||
			p.Known {
			t.Errorf("%q: %+v", command, p.Programs)
		}
	}
	asks(t, r, "/USR/BIN/LS", dir)
}

func TestSec_A_EXEC_22_Windows(t *testing.T) {
	r, dir := resolver(t), t.TempDir()
	for _, command := range []string{`a.bat "\"&calc`, "cmd /c echo a & calc", "%COMSPEC%", "powershell -enc AAAA", "pwsh -EncodedCommand x",
		"cmd.exe /c calc", "PowerShell.exe -File x", "cscript x.js", "wscript x", "mshta x", "a.cmd x"} {
		asks(t, r, command, dir)
	}
	batch := filepath.Join(dir, "a.bat")
	if err := os.WriteFile(batch, []byte("MZ"), 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := r.Resolve(t.Context(), Request{Argv: []string{batch, `"&calc`}, Dir: dir})
	if err != nil || p.Known || p.Lasting ||
		!slices.ContainsFunc(p.Doubts, func(d Doubt) bool { return strings.Contains(d.Words, "batch file") }) {
		t.Errorf("%v %+v", err, p)
	}
	r.foreign = true // text on Windows is for a shell that nobody can read for certain
	asks(t, r, "ls", dir)
}

func TestRefused(t *testing.T) {
	r, dir := resolver(t), t.TempDir()
	for name, c := range map[string]struct {
		req  Request
		want error
	}{
		"long":      {Request{Command: "ls " + strings.Repeat("a", MaxBytes), Dir: dir}, ErrTooLong},
		"long argv": {Request{Argv: []string{"ls", strings.Repeat("a", MaxBytes)}, Dir: dir}, ErrTooLong},
		"long env":  {Request{Command: "ls", Env: map[string]string{"A": strings.Repeat("a", MaxBytes)}, Dir: dir}, ErrTooLong},
		"nul":       {Request{Command: "ls\x00pwned", Dir: dir}, ErrText},
		"utf8":      {Request{Command: "ls \xff", Dir: dir}, ErrText},
		"nothing":   {Request{Dir: dir}, ErrRequest},
		"both":      {Request{Command: "ls", Argv: []string{"ls"}, Dir: dir}, ErrRequest},
		"relative":  {Request{Command: "ls", Dir: "x"}, ErrRequest},
		"no folder": {Request{Command: "ls", Dir: filepath.Join(dir, "x")}, ErrRequest},
		"name":      {Request{Command: "ls", Env: map[string]string{"a=b": "c"}, Dir: dir}, ErrRequest},
		"shell":     {Request{Command: "ls", Shell: "sh", Dir: dir}, ErrRequest},
	} {
		if _, err := r.Resolve(t.Context(), c.req); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Resolve(ctx, Request{Command: "ls", Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
