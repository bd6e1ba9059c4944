// Package tailscale asks the program of that name how this machine is known in
// its tailnet, and whether `tailscale serve` leads from there to the gateway.
//
// It owns the two questions, their reading, and how long an answer is believed.
// It changes nothing: whoever wants the way opens it, with Tailscale's own
// command. It does not decide who may come by it.
package tailscale

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	patience = 2 * time.Second
	believed = time.Minute
	longest  = 4 << 20 // of an answer; big tailnets have long ones
)

// Status is what a person can be told. All is empty without Tailscale.
type Status struct {
	// Name is that of this machine in its tailnet.
	Name string
	// Host is the name, with the port where it needs one, under which browsers
	// reach the gateway by `tailscale serve`; empty when they do not.
	Host string
	// Public: the same name is open to the whole internet (Funnel). Hearth is not
	// served there.
	Public bool
}

// Options of a Watch. Port is needed.
type Options struct {
	Port int
	// Run asks the program; nil: the one that is installed.
	Run func(ctx context.Context, args ...string) ([]byte, error)
	Now func() time.Time
}

// Watch is the latest answer. Its methods may be called at the same time.
type Watch struct {
	o Options

	asking sync.Mutex // one question at a time; taken before mu
	mu     sync.Mutex // guards the two
	state  Status
	asked  time.Time
}

// New asks nothing yet.
func New(o Options) *Watch {
	if o.Run == nil {
		o.Run = run
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Watch{o: o}
}

// State is at most a minute old.
func (w *Watch) State(ctx context.Context) Status {
	if s, fresh := w.latest(); fresh {
		return s
	}
	w.asking.Lock()
	defer w.asking.Unlock()
	if s, fresh := w.latest(); fresh {
		return s
	}
	s := w.ask(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state, w.asked = s, w.o.Now()
	return s
}

func (w *Watch) latest() (Status, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state, !w.asked.IsZero() && w.o.Now().Sub(w.asked) < believed
}

// Forget makes the next question a real one: a person has just changed something.
func (w *Watch) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = time.Time{}
}

// ask never fails: a machine without Tailscale, or with one that does not
// answer, has no such way.
func (w *Watch) ask(ctx context.Context) Status {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	status, err := w.o.Run(ctx, "status", "--json", "--peers=false")
	if err != nil {
		return Status{}
	}
	name, err := parseStatus(status)
	if err != nil || name == "" {
		return Status{}
	}
	serve, err := w.o.Run(ctx, "serve", "status", "--json")
	if err != nil {
		return Status{Name: name}
	}
	s, err := parseServe(serve, name, w.o.Port)
	if err != nil {
		return Status{Name: name}
	}
	return s
}

// run starts the program that is installed, with arguments of ours only.
func run(ctx context.Context, args ...string) ([]byte, error) {
	path, err := exec.LookPath("tailscale")
	if err != nil {
		return nil, fmt.Errorf("find tailscale: %w", err)
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdout = &bounded{&out}
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("ask tailscale: %w", err)
	}
	return out.Bytes(), nil
}

type bounded struct{ b *bytes.Buffer }

func (w *bounded) Write(p []byte) (int, error) {
	if w.b.Len()+len(p) > longest {
		return 0, errors.New("the answer is too long")
	}
	return w.b.Write(p)
}

// parseStatus reads the name of this machine, "" when Tailscale is not on.
func parseStatus(b []byte) (string, error) {
	var s struct {
		BackendState string
		Self         struct{ DNSName string }
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return "", fmt.Errorf("read tailscale's status: %w", err)
	}
	name := strings.ToLower(strings.TrimSuffix(s.Self.DNSName, "."))
	if s.BackendState != "Running" || !isName(name) {
		return "", nil
	}
	return name, nil
}

// parseServe finds the name and port under which everything, and not just a
// part, is handed on to the gateway on this machine.
func parseServe(b []byte, name string, port int) (Status, error) {
	var s struct {
		Web map[string]struct {
			Handlers map[string]struct{ Proxy string }
		}
		AllowFunnel map[string]bool
	}
	out := Status{Name: name}
	if len(bytes.TrimSpace(b)) == 0 {
		return out, nil
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return out, fmt.Errorf("read what tailscale serves: %w", err)
	}
	for _, at := range []string{"443", "8443", "10000"} {
		key := net.JoinHostPort(name, at)
		if !leadsTo(s.Web[key].Handlers["/"].Proxy, port) {
			continue
		}
		if s.AllowFunnel[key] {
			out.Public = true
			continue
		}
		if out.Host = name; at != "443" {
			out.Host = key
		}
		return out, nil
	}
	return out, nil
}

// leadsTo reports whether a target of `tailscale serve` is our port on this
// machine: as Tailscale writes it, which is an address without a path.
func leadsTo(target string, port int) bool {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "http" || strings.Trim(u.Path, "/") != "" {
		return false
	}
	return slices.Contains([]string{"127.0.0.1", "localhost", "::1"}, u.Hostname()) && u.Port() == strconv.Itoa(port)
}

// isName: such names come into links and into comparisons with Host.
func isName(s string) bool {
	if len(s) == 0 || len(s) > 253 || !strings.Contains(s, ".") {
		return false
	}
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' {
			return false
		}
	}
	return true
}
