package shell_test

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
	"github.com/hearth-assistant/hearth/gateway/tool/shell"
)

// Nothing starts without a yes.
func TestSec_A_EXEC_01_NoStartWithoutPermission(t *testing.T) {
	b := newBench(t)
	canary := filepath.Join(b.workspace, "canary")
	b.answer = func(w shell.Wish) error {
		if w.Plan.Command != "touch canary" || w.Plan.Dir != b.workspace || w.Why != "to see" {
			t.Errorf("%+v", w)
		}
		return errNo
	}
	for _, extra := range []string{"", "elevated", "background", "pty"} {
		a := args{"command": "touch canary", "why": "to see", "ask": "off", "security": "full"}
		if extra != "" {
			a[extra] = true
		}
		if _, _, err := b.exec(a); !errors.Is(err, errNo) {
			t.Error(err)
		}
		if w := b.wishes[len(b.wishes)-1]; w.Unconfined != (extra == "elevated" || !sandbox.Probe().Confined) {
			t.Errorf("%s: %+v", extra, w)
		}
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("it ran")
	}
	b.answer = nil
	if _, _, err := b.exec(args{"command": "touch canary"}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(canary); err != nil {
		t.Error("it did not run when it was allowed")
	}
}

// Input is a command too.
func TestSec_A_EXEC_01_NoInputWithoutPermission(t *testing.T) {
	b := newBench(t)
	_, d, err := b.exec(args{"command": "sh", "background": true})
	if err != nil {
		t.Fatal(err)
	}
	b.answer = func(shell.Wish) error { return errNo }
	for _, a := range []args{
		{"action": "write", "data": "touch canary\n"}, {"action": "paste", "text": "touch canary"}, {"action": "submit"},
		{"action": "send-keys", "literal": "touch canary\r"}, {"action": "send-keys", "keys": []string{"Up", "Enter"}},
		{"action": "send-keys", "keys": []string{"C-m"}},
	} {
		a["sessionId"] = d.SessionID
		if _, _, err := b.run("process", a); !errors.Is(err, errNo) {
			t.Errorf("%v: %v", a, err)
		}
	}
	b.must(b.run("process", args{"action": "write", "sessionId": d.SessionID, "eof": true}))("")
	<-b.ended
	if _, err := os.Stat(filepath.Join(b.workspace, "canary")); err == nil {
		t.Error("it ran")
	}
}

// The real programs run, wherever others of their name are put.
func TestSec_A_EXEC_10_PathHijack(t *testing.T) {
	canary := filepath.Join(t.TempDir(), "canary")
	var dirs []string
	b := newBench(t, "PATH=/evil")
	for _, d := range []string{"Hearth", "Hearth/node_modules/.bin", ".local/bin", "bin"} {
		for _, name := range []string{"ls", "git", "true"} {
			b.write(d+"/"+name, "#!/bin/sh\necho pwned\ntouch "+canary+"\n", 0o755)
		}
		dirs = append(dirs, filepath.Join(b.home, d))
	}
	for _, command := range []string{"ls", "true", "command ls", "env ls", "git --version"} {
		text, _, err := b.exec(args{"command": command, "elevated": true})
		if strings.Contains(text, "pwned") {
			t.Errorf("%s: %q %v", command, text, err)
		}
	}
	b.must(b.exec(args{"command": "echo $PATH"}))(b.o.Resolver.SearchPath())
	if path := b.o.Resolver.SearchPath(); path == "" || slices.ContainsFunc(dirs, func(d string) bool { return strings.Contains(path, d) }) {
		t.Error(path)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("a program of the workspace ran")
	}
}

// hostile is Appendix A.2: what must never reach a command by itself.
var hostile = strings.Fields(`LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES GCONV_PATH GLIBC_TUNABLES MALLOC_CHECK_ LOCPATH NLSPATH IFS ENV
BASH_ENV BASH_FUNC_ls%% SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND CDPATH ZDOTDIR SHELL NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_V8_COVERAGE
NPM_CONFIG_PREFIX npm_execpath DENO_DIR BUN_INSTALL PYTHONPATH PYTHONSTARTUP PYTHONHOME PIP_INDEX_URL UV_INDEX VIRTUAL_ENV PERL5LIB PERL5OPT PERL5DB RUBYOPT
RUBYLIB GEM_HOME BUNDLE_GEMFILE PHPRC PHP_INI_SCAN_DIR LUA_PATH LUA_INIT JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH MAVEN_OPTS GRADLE_OPTS
GOFLAGS GOPROXY GOTOOLCHAIN CGO_CFLAGS CARGO_HOME RUSTC_WRAPPER RUSTUP_HOME CC CXX LDFLAGS MAKEFLAGS CMAKE_PREFIX_PATH GIT_EXEC_PATH GIT_SSH GIT_SSH_COMMAND
GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_CONFIG_GLOBAL GIT_CONFIG_COUNT GIT_ALLOW_PROTOCOL SSH_ASKPASS SSH_AUTH_SOCK EDITOR VISUAL PAGER LESSOPEN MANPAGER BROWSER
TERMINFO TERMINFO_DIRS SSLKEYLOGFILE SSL_CERT_FILE CURL_HOME REQUESTS_CA_BUNDLE HTTP_PROXY HTTPS_PROXY http_proxy ALL_PROXY NO_PROXY KUBECONFIG DOCKER_HOST
AWS_SECRET_ACCESS_KEY GOOGLE_APPLICATION_CREDENTIALS AZURE_CLIENT_SECRET CLOUDSDK_PYTHON HOMEBREW_PREFIX COMSPEC SystemRoot WINDIR PATHEXT PROGRAMFILES
LOCALAPPDATA PSModulePath STATE_DIRECTORY HEARTH_HOME HEARTH_CONFIG ANTHROPIC_API_KEY OPENAI_API_KEY DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR DISPLAY
ld_preload Ld_Preload PATH path TMPDIR TERM HOME PWD OLDPWD`)

func TestSec_A_EXEC_11_Environment(t *testing.T) {
	var environ []string
	for _, name := range hostile {
		environ = append(environ, name+"=canary", name+" =canary", "\uff2c"+name+"=canary", name+"=canary")
	}
	b := newBench(t, append(environ, "USER=me", "LC_ALL=C", "TZ=UTC", "LANG=evil\nX=canary")...)
	allowed := strings.Fields("HOME USER LOGNAME LANG LANGUAGE LC_ALL TERM TZ TMPDIR PATH")
	for _, a := range []args{{"command": "exec env"}, {"command": "env", "pty": true}, {"command": "env", "elevated": true}} {
		text, _, err := b.exec(a)
		if err != nil || strings.Contains(text, "canary") {
			t.Errorf("%v %v: %q", a, err, text)
		}
		for _, l := range strings.Split(text, "\n") {
			// bash itself sets the last three.
			if name, _, _ := strings.Cut(l, "="); !slices.Contains(append(allowed, "PWD", "SHLVL", "_", "OLDPWD"), name) {
				t.Errorf("%v: %q", a, l)
			}
		}
		if !strings.Contains(text, "HOME="+b.home) || !strings.Contains(text, "USER=me") {
			t.Errorf("%q", text)
		}
	}
	// What is asked for is in the plan, and in no other command.
	b.must(b.exec(args{"command": "echo $LD_PRELOAD_X-$FOO", "env": args{"FOO": "1"}}))("-1")
	w := b.wishes[len(b.wishes)-1]
	if len(w.Plan.Env) != 1 || w.Plan.Env[0] != (plan.EnvChange{Name: "FOO", Value: "1"}) {
		t.Errorf("%+v", w.Plan.Env)
	}
	b.must(b.exec(args{"command": "echo [$FOO]"}))("[]")
}

// The script that runs is the one that was approved, whoever writes to it
// meanwhile.
func TestSec_A_EXEC_15_ScriptRace(t *testing.T) {
	b := newBench(t)
	script := b.write("Hearth/s.sh", "#!/bin/sh\necho original\n", 0o755)
	// Changed between the yes and the start: refused.
	for _, command := range []string{"sh s.sh", "./s.sh", "sh ./s.sh && true"} {
		b.write("Hearth/s.sh", "#!/bin/sh\necho original\n", 0o755)
		b.answer = func(shell.Wish) error { b.write("Hearth/s.sh", "#!/bin/sh\necho pwned\n", 0o755); return nil }
		if text, _, err := b.exec(args{"command": command}); !errors.Is(err, plan.ErrChanged) || strings.Contains(text, "pwned") {
			t.Errorf("%s: %q %v", command, text, err)
		}
	}
	b.answer = nil
	// Changed at any moment: the old content or a refusal, never the new one.
	rounds := 1000
	if testing.Short() || raceEnabled {
		rounds = 20
	}
	ran, refused := 0, 0
	for i := range rounds {
		b.write("Hearth/s.sh", "#!/bin/sh\necho original\n", 0o755)
		var swap sync.WaitGroup
		b.answer = func(shell.Wish) error {
			swap.Go(func() {
				for range i % 20 * 20 {
					_ = syscall.Getppid() // a little later each time
				}
				next := script + ".new"
				if os.WriteFile(next, []byte("#!/bin/sh\necho pwned\n"), 0o755) == nil {
					_ = os.Rename(next, script)
				}
			})
			return nil
		}
		text, _, err := b.exec(args{"command": []string{"./s.sh", "sh s.sh"}[i%2]})
		swap.Wait()
		switch {
		case strings.Contains(text, "pwned"):
			t.Fatalf("round %d: %q", i, text)
		case err != nil:
			refused++
		case strings.HasPrefix(text, "original"):
			ran++
		default:
			t.Fatalf("round %d: %q", i, text)
		}
	}
	t.Logf("%d ran, %d were refused", ran, refused)
}

// Every way in which people and models run scripts works, for whoever runs the
// tests: by name and by path, from other folders, through other programs. The
// script knows what it is called and finds what lies beside it.
func TestSec_A_EXEC_15_EveryWayToRunAScript(t *testing.T) {
	b := newBench(t)
	for name, text := range map[string]string{
		"a.sh": "#!/bin/sh\necho $0 $(cat \"$(dirname \"$0\")/beside\")\n", "beside": "beside", "sub/x": "",
		"a.py": "import sys, helper\nprint(sys.argv[0], __file__, helper.x)\n", "helper.py": "x = 'beside'\n",
		"a.js": "console.log(__filename, require('./h.js').x)\n", "h.js": "exports.x = 'beside'\n", "a.pl": "print \"$0 beside\\n\";\n",
	} {
		b.write("Hearth/"+name, text, 0o755)
	}
	ws := b.workspace
	for command, want := range map[string]string{
		"bash a.sh": "a.sh beside", "sh ./a.sh": "./a.sh beside", "./a.sh": ws + "/a.sh beside", ws + "/a.sh": ws + "/a.sh beside",
		"bash " + ws + "/a.sh": ws + "/a.sh beside", "bash a.sh && echo ok": "a.sh beside\nok", "cd sub && bash ../a.sh": "../a.sh beside",
		"./a.sh | cat": "./a.sh beside", "timeout 50 bash a.sh": "a.sh beside", "cd sub; ../a.sh": "../a.sh beside",
		"python3 a.py": "a.py " + ws + "/a.py beside", "python3 " + ws + "/a.py": ws + "/a.py " + ws + "/a.py beside",
		"timeout 50 python3 a.py": "a.py " + ws + "/a.py beside", "node a.js": ws + "/a.js beside", "node " + ws + "/a.js": ws + "/a.js beside",
		"perl a.pl": "a.pl beside",
	} {
		program := strings.Fields(strings.TrimPrefix(command, "timeout 50 "))[0]
		if program == "python3" || program == "node" || program == "perl" {
			if _, err := os.Stat("/usr/bin/" + program); err != nil {
				t.Logf("no %s here", program)
				continue
			}
		}
		for _, elevated := range []bool{false, true} {
			b.must(b.exec(args{"command": command, "elevated": elevated, "env": args{"PYTHONDONTWRITEBYTECODE": "1"}}))(want)
			if w := b.wishes[len(b.wishes)-1]; w.Loose != "" {
				t.Errorf("%s: %s", command, w.Loose)
			}
		}
	}
}

// A confined command that was allowed exchanges the script of one that is
// allowed to run outside of the sandbox, all the time: what runs there is what
// was allowed, or nothing.
func TestSec_A_EXEC_15_AConfinedCommandExchangesIt(t *testing.T) {
	b := newBench(t)
	b.write("Hearth/deploy.sh", "echo original\n", 0o755)
	_, d, err := b.exec(args{"background": true, "command": "while :; do echo 'echo original' > g; mv g deploy.sh; echo 'echo pwned; touch " +
		"../PWNED' > e; mv e deploy.sh; done"})
	if err != nil {
		t.Fatal(err)
	}
	rounds := 60
	if testing.Short() || raceEnabled {
		rounds = 10
	}
	ran := 0
	for range rounds {
		// The yes is for what was harmless when it was shown.
		b.answer = func(w shell.Wish) error {
			if len(w.Plan.Scripts) != 1 || w.Plan.Scripts[0].Hash != sha256.Sum256([]byte("echo original\n")) {
				return errNo
			}
			return nil
		}
		text, _, err := b.exec(args{"command": "bash deploy.sh", "elevated": true})
		if strings.Contains(text, "pwned") {
			t.Fatalf("%q", text)
		}
		if err == nil && strings.HasPrefix(text, "original") {
			ran++
		}
	}
	t.Logf("%d of %d ran", ran, rounds)
	if _, err := os.Stat(filepath.Join(b.home, "PWNED")); err == nil {
		t.Error("it got out of the sandbox")
	}
	b.answer = nil
	b.must(b.run("process", args{"action": "kill", "sessionId": d.SessionID}))("stopped")
	<-b.ended
}

// The folder that was approved, or none.
func TestSec_A_EXEC_16_FolderRace(t *testing.T) {
	b := newBench(t)
	for name, swap := range map[string]func(dir string) error{
		"a link": func(dir string) error { return os.Symlink(b.home, dir) },
		"another folder": func(dir string) error {
			return os.Mkdir(dir, 0o700)
		},
	} {
		dir := filepath.Join(b.workspace, "d")
		_ = os.RemoveAll(dir)
		_ = os.RemoveAll(dir + ".was")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		b.answer = func(shell.Wish) error {
			if err := os.Rename(dir, dir+".was"); err != nil {
				return err
			}
			return swap(dir)
		}
		if _, _, err := b.exec(args{"command": "touch here", "workdir": "d"}); !errors.Is(err, plan.ErrChanged) &&
			!errors.Is(err, process.ErrMoved) {
			t.Errorf("%s: %v", name, err)
		}
		for _, d := range []string{dir, dir + ".was", b.home} {
			if _, err := os.Stat(filepath.Join(d, "here")); err == nil {
				t.Errorf("%s: it ran in %s", name, d)
			}
		}
	}
}

// Only commands of ours, by our names for them, can be stopped.
func TestSec_A_EXEC_23_KillTakesNoNumbers(t *testing.T) {
	b := newBench(t)
	text, d, err := b.exec(args{"command": "sleep 100", "background": true})
	if err != nil {
		t.Fatal(text, err)
	}
	for _, id := range []string{"-1", "0", "1", strconv.Itoa(os.Getpid()), strconv.Itoa(d.PID), strconv.Itoa(-d.PID), "*", "", "p",
		d.SessionID + " "} {
		for _, action := range []string{"kill", "remove", "clear", "poll", "write"} {
			if text, _, err := b.run("process", args{"action": action, "sessionId": id, "data": "x"}); err == nil {
				t.Errorf("%s %q: %q", action, id, text)
			}
		}
	}
	b.must(b.run("process", args{"action": "poll", "sessionId": d.SessionID}))("still running")
	b.must(b.run("process", args{"action": "kill", "sessionId": d.SessionID}))("stopped")
	<-b.ended
}

func TestSec_A_EXEC_25_FloodIsCounted(t *testing.T) {
	b := newBench(t)
	for _, command := range []string{"yes", "cat /dev/urandom | base64"} {
		text, d, err := b.exec(args{"command": command, "timeout": 1})
		if err != nil || !d.Truncated || !d.TimedOut || len(text) > 64<<10 || !strings.Contains(text, "were not kept") ||
			!strings.Contains(text, "its time was over") {
			t.Errorf("%s: %d bytes, %+v %v", command, len(text), d, err)
		}
	}
}

// The canaries from inside the tool: the sandbox is really there.
func TestSec_A_EXEC_10_Confined(t *testing.T) {
	if r := sandbox.Probe(); !r.Confined {
		if os.Getenv("HEARTH_REQUIRE_SANDBOX") != "" {
			t.Fatal(r.Summary())
		}
		t.Skip(r.Summary())
	}
	b := newBench(t)
	b.write(".local/share/hearth/hearth.db", "canary", 0o600)
	b.write(".ssh/id", "canary", 0o600)
	b.write("letter", "canary", 0o600)
	for _, command := range []string{"cat ~/.local/share/hearth/hearth.db", "cat ~/.ssh/id", "cat ~/letter", "echo x > ~/letter",
		"cat < /dev/tcp/127.0.0.1/80"} {
		text, d, err := b.exec(args{"command": command})
		if err != nil || d.ExitCode == nil || *d.ExitCode == 0 || strings.Contains(text, "canary") {
			t.Errorf("%s: %q %+v %v", command, text, d, err)
		}
	}
	// Nor may a folder be chosen that gives more.
	for _, dir := range []string{"~/.ssh", "~/.local/share/hearth", "~", "/"} {
		text, _, err := b.exec(args{"command": "cat id hearth.db letter; touch new", "workdir": dir})
		if err != nil || strings.Contains(text, "canary") {
			t.Errorf("%s: %q %v", dir, text, err)
		}
		for _, d := range []string{".ssh/new", ".local/share/hearth/new", "new"} {
			if _, err := os.Stat(filepath.Join(b.home, d)); err == nil {
				t.Errorf("%s: made %s", dir, d)
			}
		}
	}
	b.must(b.exec(args{"command": "touch mine $TMPDIR/t && echo $TMPDIR", "workdir": b.workspace}))("hearth-run-")
	if d := b.must(b.exec(args{"command": "cat ~/letter", "elevated": true}))("canary"); !strings.HasPrefix(d.Sandbox,
		"not confined: the owner allowed") {
		t.Errorf("%+v", d)
	}
}

// A confined command that may change the folder above the workspace cannot put
// something else in its place; and when something else stands there all the
// same, no command runs.
func TestSec_A_EXEC_10_TheWorkspaceStays(t *testing.T) {
	if r := sandbox.Probe(); !r.Confined {
		t.Skip(r.Summary())
	}
	b := newBench(t)
	b.write("letter", "canary", 0o600)
	b.write("projects/deep/ws/a", "mine", 0o600)
	b.write("projects/other/x", "1", 0o600)
	b.workspace = filepath.Join(b.home, "projects", "deep", "ws")
	b.must(b.exec(args{"command": "cat a"}))("mine")
	for _, command := range []string{
		"mv deep/ws deep/was", "mv deep was", "rm -rf deep; ls deep/ws", "mkdir n && mv -T n deep/ws", "mv -T --exchange other deep/ws",
		"rmdir deep/ws",
	} {
		text, _, err := b.exec(args{"command": command + " && ln -s .. deep/ws", "workdir": filepath.Join(b.home, "projects")})
		if info, serr := os.Lstat(b.workspace); err != nil || serr != nil || !info.IsDir() {
			t.Fatalf("%s: %q %v %v", command, text, err, serr)
		}
	}
	// All else may be done there.
	b.must(b.exec(args{
		"command": "mkdir new && touch new/f && rm new/f other/x && mv other/../new/ new2 2>/dev/null; mkdir -p other/s && mv other/s other/t " +
			"&& rmdir other/t && touch f && mv f g && rm g && echo well",
		"workdir": filepath.Join(b.home, "projects"),
	}))("well")
	b.must(b.exec(args{"command": "mkdir d && mv d e && rmdir e && echo well"}))("well")
	// Somebody else does it.
	if err := os.Rename(b.workspace, b.workspace+".was"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(b.home, b.workspace); err != nil {
		t.Fatal(err)
	}
	asked := len(b.wishes)
	for _, a := range []args{{"command": "cat letter; touch new"}, {"command": "cat letter", "elevated": true},
		{"command": "ls", "workdir": "/"}} {
		if text, _, err := b.exec(a); !errors.Is(err, safepath.ErrReplaced) || strings.Contains(text, "canary") {
			t.Errorf("%q %v", text, err)
		}
	}
	if len(b.wishes) != asked {
		t.Error("somebody was asked")
	}
}

// The workspace, or a folder that was allowed, is exchanged after the yes: the
// sandbox is around what was allowed, or nothing starts.
func TestSec_A_EXEC_16_TheSandboxIsAroundTheSameFolders(t *testing.T) {
	if r := sandbox.Probe(); !r.Confined {
		t.Skip(r.Summary())
	}
	b := newBench(t)
	b.write("letter", "canary", 0o600)
	b.write("projects/x/a", "1", 0o600)
	b.settings.Write = []string{filepath.Join(b.home, "out")}
	b.write("out/a", "1", 0o600)
	b.must(b.exec(args{"command": "touch ~/out/b && echo well"}))("well")
	for _, dir := range []string{b.workspace, filepath.Join(b.home, "projects", "x"), b.settings.Write[0]} {
		b.answer = func(shell.Wish) error {
			return errors.Join(os.Rename(dir, dir+".was"), os.Symlink(b.home, dir))
		}
		text, _, err := b.exec(args{"command": "cat ~/letter; touch ~/made", "workdir": filepath.Join(b.home, "projects", "x")})
		if strings.Contains(text, "canary") || err == nil {
			t.Errorf("%s: %q %v", dir, text, err)
		}
		if _, err := os.Stat(filepath.Join(b.home, "made")); err == nil {
			t.Fatalf("%s: the home could be changed", dir)
		}
		if err := errors.Join(os.Remove(dir), os.Rename(dir+".was", dir)); err != nil {
			t.Fatal(err)
		}
	}
}

// A confined command makes no second name of a file that it may not read or
// change, in either direction.
func TestSec_A_FILE_02_ConfinedCommandsMakeNoLinksOut(t *testing.T) {
	if r := sandbox.Probe(); !r.Confined {
		t.Skip(r.Summary())
	}
	b := newBench(t)
	b.write("letter", "canary", 0o600)
	b.write("Documents/tax", "canary", 0o600)
	b.write("Hearth/mine", "1", 0o600)
	for _, command := range []string{
		"ln ~/letter l", "ln ~/Documents/tax l", "ln -L ~/letter l", "cp -l ~/letter l", "mv ~/letter l", "ln mine ~/Documents/mine",
		"ln /etc/shadow l",
		"perl -e 'link(\"$ENV{HOME}/letter\", \"l\") or die'",
	} {
		text, d, err := b.exec(args{"command": command})
		if err != nil || d.ExitCode == nil || *d.ExitCode == 0 {
			t.Errorf("%s: %q %+v %v", command, text, d, err)
		}
		for _, name := range []string{"Hearth/l", "Documents/mine"} {
			if _, err := os.Lstat(filepath.Join(b.home, name)); err == nil {
				t.Fatalf("%s: made %s", command, name)
			}
		}
	}
}

// Where nothing confines, that is asked for and said.
func TestNoSandbox(t *testing.T) {
	b := newBench(t)
	b.o.Probe = func() sandbox.Report { return sandbox.Report{Words: []string{"There is none."}} }
	e := &shell.Exec{Options: b.o}
	res, err := e.Run(t.Context(), b.call("exec", args{"command": "true"}))
	if err != nil || !strings.Contains(string(res.Details), "not confined: There is none.") || !b.wishes[0].Unconfined ||
		b.wishes[0].NoSandbox != "There is none." {
		t.Errorf("%s %v %+v", res.Details, err, b.wishes)
	}
}

// What confines commands can go away while Hearth runs, or fail: from then on
// nothing is started without the question that says so, a no starts nothing, and
// other tools are not affected.
func TestFault_F_NODE_07_TheSandboxGoesAway(t *testing.T) {
	b := newBench(t)
	there := true
	b.o.Probe = func() sandbox.Report {
		if there {
			return sandbox.Probe()
		}
		return sandbox.Report{Words: []string{"It is gone."}}
	}
	e := &shell.Exec{Options: b.o}
	run := func(command string) error {
		_, err := e.Run(t.Context(), b.call("exec", args{"command": command}))
		return err
	}
	if err := run("true"); err != nil {
		t.Fatal(err)
	}
	there = false
	asked := len(b.wishes)
	made := filepath.Join(b.workspace, "made")
	b.answer = func(shell.Wish) error { return errors.New("no") }
	if err := run("touch " + made); err == nil {
		t.Error("it ran after a no")
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("it ran outside of the sandbox without a yes")
	}
	if len(b.wishes) != asked+1 || !b.wishes[asked].Unconfined || b.wishes[asked].NoSandbox != "It is gone." {
		t.Errorf("asked for %+v", b.wishes[asked:])
	}
}
