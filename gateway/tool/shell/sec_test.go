package shell_test

import (
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
		{"action": "send-keys", "literal": "touch canary\r"}, {"action": "send-keys", "keys": []string{"Up", "Enter"}}, {"action": "send-keys", "keys": []string{"C-m"}},
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
		if _, _, err := b.exec(args{"command": "touch here", "workdir": "d"}); !errors.Is(err, plan.ErrChanged) && !errors.Is(err, process.ErrMoved) {
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
	for _, id := range []string{"-1", "0", "1", strconv.Itoa(os.Getpid()), strconv.Itoa(d.PID), strconv.Itoa(-d.PID), "*", "", "p", d.SessionID + " "} {
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
		if err != nil || !d.Truncated || !d.TimedOut || len(text) > 64<<10 || !strings.Contains(text, "were not kept") || !strings.Contains(text, "its time was over") {
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
	for _, command := range []string{"cat ~/.local/share/hearth/hearth.db", "cat ~/.ssh/id", "cat ~/letter", "echo x > ~/letter", "cat < /dev/tcp/127.0.0.1/80"} {
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
	if d := b.must(b.exec(args{"command": "cat ~/letter", "elevated": true}))("canary"); !strings.HasPrefix(d.Sandbox, "not confined: the owner allowed") {
		t.Errorf("%+v", d)
	}
}

// Where nothing confines, that is asked for and said.
func TestNoSandbox(t *testing.T) {
	b := newBench(t)
	b.o.Probe = func() sandbox.Report { return sandbox.Report{Words: []string{"There is none."}} }
	e := &shell.Exec{Options: b.o}
	res, err := e.Run(t.Context(), b.call("exec", args{"command": "true"}))
	if err != nil || !strings.Contains(string(res.Details), "not confined: There is none.") || !b.wishes[0].Unconfined || b.wishes[0].NoSandbox != "There is none." {
		t.Errorf("%s %v %+v", res.Details, err, b.wishes)
	}
}
