package sandbox_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/sandbox"
)

// place is a home folder with a workspace, the state folder and secrets.
type place struct {
	home, work, state string
	rules             sandbox.Rules
}

func newPlace(t *testing.T) place {
	t.Helper()
	need(t)
	home := t.TempDir()
	p := place{home: home, work: filepath.Join(home, "Hearth"), state: filepath.Join(home, ".local", "share", "hearth")}
	for name, text := range map[string]string{
		"Hearth/ours": "ours", ".local/share/hearth/hearth.db": "canary", ".ssh/id_ed25519": "canary", "letter.txt": "canary",
		".local/share/keyrings/login.keyring": "canary",
	} {
		name = filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.rules = sandbox.Rules{Write: []string{p.work}, Hide: append(sandbox.Secrets(home), p.state)}
	return p
}

func (p place) sh(t *testing.T, text string) (string, error) {
	t.Helper()
	out, err := inside(t, p.rules, "/bin/sh", "-c", text).CombinedOutput()
	return string(out), err
}

// What a command needs works.
func TestInside(t *testing.T) {
	p := newPlace(t)
	for _, text := range []string{
		"cat ours; echo x > new; mkdir -p d/e; mv new d/e/; ln -s d l; rm -r d; ls -la . /usr/bin > /dev/null",
		"echo x | cat | (cat; echo y) > z; chmod 700 z; : > z",
		"head -c 10 /dev/urandom | wc -c; cat /proc/self/status > /dev/null; cat /etc/passwd > /dev/null",
		"(sleep 0 & wait); kill -0 $$; sleep 60 & kill $!",
	} {
		if out, err := p.sh(t, text); err != nil {
			t.Errorf("%s: %v %s", text, err, out)
		}
	}
	// A program may make and use pairs of sockets, which lead nowhere else.
	if python := python(); python != "" {
		if out, err := inside(t, p.rules, python, "-c", "import socket,subprocess; a,b=socket.socketpair(); a.send(b'x'); assert "+
			"b.recv(1)==b'x'; print(subprocess.check_output(['echo','hi']))").CombinedOutput(); err != nil {
			t.Errorf("%v %s", err, out)
		}
	}
}

// The canaries: nothing outside is read, changed, made or removed.
func TestSec_A_EXEC_10_FilesOutside(t *testing.T) {
	p := newPlace(t)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{outside, p.state + "/hearth.db", p.home + "/.ssh/id_ed25519", p.home + "/letter.txt",
		p.home + "/.local/share/keyrings/login.keyring"} {
		for _, text := range []string{
			"cat " + name, "cp " + name + " got", "ln " + name + " got && cat got", "ln -s " + name + " got && cat got",
			"echo x > " + name, "echo x >> " + name, ": > " + name, "rm -f " + name, "mv " + name + " got", "mv ours " + name,
			"touch " + filepath.Dir(name) + "/new", "mkdir " + filepath.Dir(name) + "/new", "ls " + filepath.Dir(name),
			"cat ../../" + filepath.Base(filepath.Dir(name)) + "/" + filepath.Base(name),
			"truncate -s 0 " + name, "cat /proc/self/root" + name, "cat /proc/$PPID/cwd/" + name,
		} {
			out, err := p.sh(t, text)
			if strings.Contains(out, "canary") || err == nil {
				t.Errorf("%s: %v %s", text, err, out)
			}
			if b, err := os.ReadFile(name); err != nil || string(b) != "canary" {
				t.Fatalf("%s changed the canary: %q %v", text, b, err)
			}
			_ = os.Remove(filepath.Join(p.work, "got"))
		}
	}
	if left, err := os.ReadDir(p.state); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}

// A workspace that holds secrets shows all but them.
func TestSecretsInsideTheWorkspace(t *testing.T) {
	p := newPlace(t)
	p.rules.Write = []string{p.home}
	for _, text := range []string{"cat .ssh/id_ed25519", "cat .local/share/hearth/hearth.db", "echo x > .ssh/config", "ls .ssh"} {
		if out, err := p.sh(t, text); err == nil || strings.Contains(out, "canary") {
			t.Errorf("%s: %s", text, out)
		}
	}
	if out, err := p.sh(t, "cat letter.txt && echo x > Hearth/x && echo y > letter.txt"); err != nil || out != "canary" {
		t.Errorf("%v %s", err, out)
	}
}

// python is the system's own: one in a home folder is out of reach.
func python() string {
	const name = "/usr/bin/python3"
	if _, err := os.Stat(name); err != nil {
		return ""
	}
	return name
}

// No network, no local service, unless it is allowed; the keychain never.
func TestSec_A_EXEC_10_Network(t *testing.T) {
	p := newPlace(t)
	python := python()
	if python == "" {
		if os.Getenv("HEARTH_REQUIRE_SANDBOX") != "" {
			t.Fatal("python3 is missing")
		}
		t.Skip("python3 is missing; on Debian: apt-get install python3")
	}
	tcp, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tcp.Close() }()
	bus := filepath.Join(p.work, "bus") // even where its file could be reached
	unix, err := new(net.ListenConfig).Listen(t.Context(), "unix", bus)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close() }()
	_, port, _ := net.SplitHostPort(tcp.Addr().String())
	const begin = "import socket,os,sys;"
	for _, c := range []struct {
		text    string
		network bool
		works   bool
	}{
		{"socket.create_connection(('127.0.0.1'," + port + "))", false, false},
		{"socket.create_connection(('127.0.0.1'," + port + "))", true, true},
		{"socket.socket(socket.AF_INET,socket.SOCK_DGRAM).sendto(b'x',('127.0.0.1',9))", false, false},
		{"socket.socket(socket.AF_INET6,socket.SOCK_STREAM)", false, false},
		{"socket.socket(socket.AF_NETLINK,socket.SOCK_RAW)", false, false},
		{"socket.socket(socket.AF_UNIX).connect('" + bus + "')", false, false},
		{"socket.socket(socket.AF_UNIX).connect('" + bus + "')", true, false},
		{"socket.socket(socket.AF_UNIX).connect('\\0abstract')", true, false},
		{"socket.socket(socket.AF_PACKET,socket.SOCK_RAW)", true, false},
	} {
		p.rules.Network = c.network
		out, err := inside(t, p.rules, python, "-c", begin+c.text).CombinedOutput()
		if (err == nil) != c.works {
			t.Errorf("network %v, %s: %v %s", c.network, c.text, err, out)
		}
		if !c.works && runtime.GOOS == "linux" && !strings.Contains(string(out), "PermissionError") {
			t.Errorf("%s: %s", c.text, out)
		}
	}
}

// Other programs are neither looked into nor signalled, and no way leads out
// through the kernel.
func TestSec_A_EXEC_10_OtherProgramsAndTheKernel(t *testing.T) {
	p := newPlace(t)
	other := exec.CommandContext(t.Context(), "/bin/sleep", "1000")
	other.Env = []string{"HEARTH_SECRET=canary"}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(other.Process.Pid)
	texts := []string{"cat /proc/" + pid + "/environ", "cat /proc/" + pid + "/root/etc/passwd", "cat /proc/" + pid + "/mem", "kill -9 " + pid,
		"kill -0 " + pid}
	if runtime.GOOS == "linux" {
		texts = append(texts, "unshare -Urm true", "unshare -p true", "mount -t tmpfs x .", "/usr/sbin/chroot . true",
			"nsenter -t "+pid+" -m true")
	}
	for _, text := range texts {
		out, err := p.sh(t, text)
		if err == nil || strings.Contains(out, "canary") || strings.Contains(out, "not found") {
			t.Errorf("%s: %v %s", text, err, out)
		}
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Error("the other program is gone")
	}
	_ = other.Process.Kill()
	_ = other.Wait()
}

// The canaries of the tests above are reachable when nothing confines: they
// test the sandbox, not the weather.
func TestCanariesWithoutSandbox(t *testing.T) {
	p := newPlace(t)
	if out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", "cat "+p.state+"/hearth.db").CombinedOutput(); err != nil ||
		string(out) != "canary" {
		t.Errorf("%v %s", err, out)
	}
}

func TestProbe(t *testing.T) {
	r := sandbox.Probe()
	if len(r.Words) == 0 || r.Confined != (r.Backend != "") {
		t.Errorf("%+v", r)
	}
	t.Log(strings.Join(r.Words, "\n"))
}
