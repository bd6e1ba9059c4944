package main

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hearth-assistant/hearth/discovery"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/internal/freeport"
)

var update = flag.Bool("update", false, "write the golden parts of the scripts anew")

// noNap keeps programs built with -race from sleeping a second at their end.
const noNap = "atexit_sleep_ms=0"

// TestMain makes this test binary the program itself when a script calls it,
// and an MCP server.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"hearth": main, "mcpserver": mcpServer, "hearth-whatsapp": phoneProgram})
}

// TestScripts runs the program as people do. Commands of ours in scripts:
//
//	ready               waits until a gateway answers
//	exits CODE ARGS…    runs hearth and checks the exit code
//	within DUR ARGS…    repeats hearth until it succeeds
//	logged PATTERN      waits until the gateway's log has it, also over several lines
//	decide VERB PATTERN waits for an approval that shows PATTERN, then runs
//	                    hearth approvals VERB with its id
//	forget              removes the one rule of the approvals
//	spoil               changes a word of the audit log
//	waiting KEY N       waits until N messages of a session have no answer
//	zipped FILE NAME=FROM…
//	                    makes a zip archive; FROM is a file, or ->TARGET of a link
//	queued KEY TEXT ARGS…
//	                    runs hearth queue ARGS… with the id of the message TEXT
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Condition: func(name string) (bool, error) { // [lan]: there is a network that others could be on
			if name != "lan" {
				return false, errors.New("there is no such condition")
			}
			return len(discovery.Interfaces()) > 0, nil
		},
		Setup: func(e *testscript.Env) error {
			models := httptest.NewServer(scripted.New())
			e.Defer(models.Close)
			port, err := freePort()
			if err != nil {
				return err
			}
			e.Setenv("HEARTH_HOME", e.WorkDir+"/home")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("OLLAMA_HOST", "127.0.0.1:1") // nobody: who runs these tests may have models of their own
			e.Setenv("PORT", port)
			e.Setenv("ESCAPE", "\x1b[31mred")
			e.Setenv("GORACE", noNap)
			e.Setenv("MODELS", models.URL)
			program, err := exec.LookPath("mcpserver")
			if err != nil {
				return err
			}
			e.Setenv("MCPSERVER", program)
			return writeSettings(e.WorkDir+"/home", models.URL, "echo")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ready": func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Check(await(t.Context(), statedir.Dir(ts.Getenv("HEARTH_HOME"))))
			},
			"exits":   exits,
			"within":  within,
			"logged":  logged,
			"decide":  decide,
			"forget":  forget,
			"spoil":   spoil,
			"waiting": waiting,
			"tells":   tells,
			"queued":  queued,
			"zipped":  zipped,
		},
	})
}

func zipped(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: zipped FILE NAME=FROM…")
	}
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	w := zip.NewWriter(f)
	for _, arg := range args[1:] {
		name, from, _ := strings.Cut(arg, "=")
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		data, link := strings.CutPrefix(from, "->")
		if link {
			h.SetMode(os.ModeSymlink | 0o777)
		} else {
			data = ts.ReadFile(from)
		}
		e, err := w.CreateHeader(h)
		ts.Check(err)
		_, err = e.Write([]byte(data))
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(f.Close())
}

func freePort() (string, error) {
	port, err := freeport.Find()
	return strconv.Itoa(port), err
}

// writeSettings connects the scripted model server; model answers by default.
func writeSettings(home, models, model string) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	text := fmt.Sprintf(`// Settings of a test.
{
  models: { providers: { scripted: { baseUrl: "%s/v1", api: "openai-completions", apiKey: "sk-secret" } } },
  agents: { defaults: { model: "scripted/%s" } },
  features: { titles: false }, // calls of models are counted here
}
`, models, model)
	return os.WriteFile(home+"/hearth.json", []byte(text), 0o600)
}

// await waits until a gateway answers for the folder.
func await(ctx context.Context, dir statedir.Dir) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	retry := time.NewTicker(10 * time.Millisecond)
	defer retry.Stop()
	for {
		c, err := client.Open(ctx, dir, client.Options{Client: protocol.ClientInfo{ID: "cli", Mode: "probe", Version: "test"}})
		if err == nil {
			return c.Close()
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return fmt.Errorf("the gateway does not answer: %w", err)
		}
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARGS…")
	}
	err := ts.Exec("hearth", args[1:]...)
	code := 0
	var ee *exec.ExitError
	switch {
	case errors.As(err, &ee):
		code = ee.ExitCode()
	case err != nil:
		ts.Fatalf("hearth: %v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

func within(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: within DURATION ARGS…")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	deadline := time.After(d)
	retry := time.NewTicker(50 * time.Millisecond)
	defer retry.Stop()
	for {
		if err = ts.Exec("hearth", args[1:]...); err == nil {
			return
		}
		select {
		case <-retry.C:
		case <-deadline:
			ts.Fatalf("hearth %v: %v", args[1:], err)
		}
	}
}

func logged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: logged PATTERN")
	}
	pattern, err := regexp.Compile("(?s)" + args[0])
	ts.Check(err)
	deadline := time.After(30 * time.Second)
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		log, err := os.ReadFile(ts.Getenv("HEARTH_HOME") + "/gateway.log")
		if err == nil && pattern.Match(log) {
			return
		}
		select {
		case <-retry.C:
		case <-deadline:
			ts.Fatalf("the log never has %s: %v\n%s", args[0], err, log)
		}
	}
}

func decide(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: decide VERB PATTERN")
	}
	deadline := time.After(20 * time.Second)
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	var open []struct{ ID string }
	for len(open) == 0 {
		ts.Check(ts.Exec("hearth", "approvals", "list", "--json"))
		ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &open))
		select {
		case <-retry.C:
		case <-deadline:
			ts.Fatalf("nothing was asked")
		}
	}
	ts.Check(ts.Exec("hearth", "approvals", "show", open[0].ID))
	if shown := ts.ReadFile("stdout"); !regexp.MustCompile(args[1]).MatchString(shown) {
		ts.Fatalf("the request shows no %s:\n%s", args[1], shown)
	}
	ts.Check(ts.Exec("hearth", append(append([]string{"approvals"}, strings.Fields(args[0])...), open[0].ID)...))
}

// forget removes the one rule that there is.
func forget(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Check(ts.Exec("hearth", "approvals", "rules", "--json"))
	var out struct{ Rules []struct{ ID string } }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &out))
	if len(out.Rules) != 1 {
		ts.Fatalf("%d rules", len(out.Rules))
	}
	ts.Check(ts.Exec("hearth", "approvals", "forget", out.Rules[0].ID[:8]))
}

// spoil changes one word of the audit log.
func spoil(ts *testscript.TestScript, _ bool, _ []string) {
	path := ts.Getenv("HEARTH_HOME") + "/audit.jsonl"
	raw, err := os.ReadFile(path)
	ts.Check(err)
	ts.Check(os.WriteFile(path, []byte(strings.Replace(string(raw), "denied: Run touch", "allowed: Run touch", 1)), 0o600))
}

// inQueue are the messages of a session that have no answer yet: id by text.
func inQueue(ts *testscript.TestScript, key string) map[string]string {
	if err := ts.Exec("hearth", "queue", "list", "--json", "--session", key); err != nil {
		if !strings.Contains(ts.ReadFile("stderr"), "there is no session") { // the message that makes it is on its way
			ts.Check(err)
		}
		return nil
	}
	var out struct {
		Messages []struct{ ID, Text string }
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &out))
	ids := make(map[string]string)
	for _, m := range out.Messages {
		ids[m.Text] = m.ID
	}
	return ids
}

// tells waits until a command prints what matches a pattern.
func tells(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: tells PATTERN ARGS…")
	}
	want := regexp.MustCompile("(?m)" + args[0])
	deadline := time.After(time.Minute)
	retry := time.NewTicker(50 * time.Millisecond)
	defer retry.Stop()
	for {
		if err := ts.Exec("hearth", args[1:]...); err == nil && want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		select {
		case <-retry.C:
		case <-deadline:
			ts.Fatalf("nothing in %q matches %q", ts.ReadFile("stdout"), args[0])
		}
	}
}

func waiting(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waiting KEY N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	deadline := time.After(20 * time.Second)
	retry := time.NewTicker(50 * time.Millisecond)
	defer retry.Stop()
	for len(inQueue(ts, args[0])) != n {
		select {
		case <-retry.C:
		case <-deadline:
			ts.Fatalf("%s: %v wait, want %d", args[0], inQueue(ts, args[0]), n)
		}
	}
}

func queued(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: queued KEY TEXT ARGS…")
	}
	id, ok := inQueue(ts, args[0])[args[1]]
	if !ok {
		ts.Fatalf("no message %q waits", args[1])
	}
	ts.Check(ts.Exec("hearth", append([]string{"queue", "--session", args[0], args[2], id}, args[3:]...)...))
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}
