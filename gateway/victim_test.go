package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// The crash tests run the real program, built once with the failpoints in it,
// and kill it without warning.

var crashFolder string // where it was built, "" when no test asked for it

var crashBinary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hearth-crash")
	if err != nil {
		return "", err
	}
	crashFolder = dir
	bin := filepath.Join(dir, "hearth")
	cmd := exec.Command("go", "build", "-tags", "failpoint", "-o", bin, "../app/hearth")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(noEnv("HOME"))
	if crashFolder != "" {
		_ = os.RemoveAll(crashFolder)
	}
	os.Exit(code)
}

// victim is a gateway process that is killed and started again on one state
// folder and one port.
type victim struct {
	t     *testing.T
	bin   string
	dir   statedir.Dir
	port  int
	model *scripted.Handler
	url   string

	cmd  *exec.Cmd
	gone chan struct{} // closed when the process has ended
	log  *os.File
}

// newVictim shares nothing with other victims but the program, so its test waits
// beside theirs.
func newVictim(t *testing.T, primary string) *victim {
	t.Helper()
	t.Parallel()
	bin, err := crashBinary()
	if err != nil {
		t.Fatal(err)
	}
	v := &victim{t: t, bin: bin, dir: statedir.Dir(t.TempDir()), port: freePort(t), model: scripted.New()}
	srv := httptest.NewServer(v.model)
	t.Cleanup(srv.Close)
	v.url = srv.URL
	v.log, err = os.Create(filepath.Join(t.TempDir(), "gateway.out"))
	if err != nil {
		t.Fatal(err)
	}
	writeConfig(t, v.dir, srv.URL, primary)
	t.Cleanup(func() {
		v.kill()
		if t.Failed() {
			out, _ := os.ReadFile(v.log.Name())
			if len(out) > 4000 {
				out = out[len(out)-4000:]
			}
			t.Logf("the gateway said:\n%s", out)
		}
		_ = v.log.Close()
	})
	return v
}

// start runs the gateway; failpoint names where and at which hit it dies.
func (v *victim) start(failpoint string) {
	v.t.Helper()
	v.cmd = exec.Command(v.bin, "gateway", "--port", fmt.Sprint(v.port))
	v.cmd.Env = []string{"HEARTH_HOME=" + string(v.dir), "HOME=" + string(v.dir), "PATH=" + os.Getenv("PATH"), "HEARTH_FAILPOINT=" + failpoint}
	v.cmd.Stdout, v.cmd.Stderr = io.Discard, v.log
	if err := v.cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	gone := make(chan struct{})
	v.gone = gone
	go func(cmd *exec.Cmd) {
		_ = cmd.Wait()
		close(gone)
	}(v.cmd)
}

func (v *victim) kill() {
	if v.cmd == nil {
		return
	}
	_ = v.cmd.Process.Kill()
	<-v.gone
	v.cmd = nil
}

// died waits for the process to end by its failpoint.
func (v *victim) died() {
	v.t.Helper()
	select {
	case <-v.gone:
		v.cmd = nil
	case <-time.After(30 * time.Second):
		v.t.Fatal("the gateway did not reach the failpoint")
	}
}

// dial connects as soon as the gateway answers; nil when ctx ends first.
func (v *victim) dial(ctx context.Context, onEvent func(protocol.Event)) *client.Client {
	for ctx.Err() == nil {
		token, err := os.ReadFile(v.dir.Token())
		if err == nil {
			c, err := client.Dial(ctx, client.Options{
				URL: fmt.Sprintf("http://127.0.0.1:%d", v.port), Token: strings.TrimSpace(string(token)), OnEvent: onEvent,
				Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Version: "test", Platform: "linux"},
				Scopes: []protocol.Scope{protocol.ScopeAdmin, protocol.ScopeRead, protocol.ScopeWrite},
			})
			if err == nil {
				return c
			}
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return nil
}

// deliver sends a message until it is acknowledged, through any number of
// crashes, always under the same key.
func (v *victim) deliver(ctx context.Context, c *client.Client, key, runID, text string) (*client.Client, protocol.ChatSendResult, bool) {
	return v.deliverAs(ctx, c, protocol.ChatSendParams{SessionKey: key, Message: text, IdempotencyKey: runID})
}

func (v *victim) deliverAs(ctx context.Context, c *client.Client, p protocol.ChatSendParams) (*client.Client, protocol.ChatSendResult,
	bool) {
	for ctx.Err() == nil {
		if c == nil {
			if c = v.dial(ctx, nil); c == nil {
				break
			}
		}
		var res protocol.ChatSendResult
		err := c.Call(ctx, protocol.MethodChatSend, p, &res)
		if err == nil {
			return c, res, true
		}
		_ = c.Close()
		c = nil
	}
	return c, protocol.ChatSendResult{}, false
}

// settled waits until nothing is queued or running and returns the transcript.
func (v *victim) settled(keys ...string) map[string][]protocol.Message {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.t.Context(), time.Minute)
	defer cancel()
	c := v.dial(ctx, nil)
	if c == nil {
		v.t.Fatal("the gateway does not answer")
	}
	defer c.Close()
	for {
		var st protocol.Status
		if err := c.Call(ctx, protocol.MethodStatus, nil, &st); err != nil {
			v.t.Fatalf("status: %v", err)
		}
		if st.Hearth.ActiveRuns == 0 && st.Hearth.QueuedRuns == 0 && st.Hearth.Undelivered == 0 {
			break
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			v.t.Fatalf("still %d runs active, %d queued, %d undelivered", st.Hearth.ActiveRuns, st.Hearth.QueuedRuns, st.Hearth.Undelivered)
		}
	}
	out := make(map[string][]protocol.Message)
	for _, key := range keys {
		var after int64
		for {
			var page protocol.TranscriptExport
			if err := c.Call(ctx, protocol.MethodTranscriptExport, protocol.TranscriptExportParams{Key: key, After: after}, &page); err != nil {
				v.t.Fatalf("export %s: %v", key, err)
			}
			out[key] = append(out[key], page.Messages...)
			if !page.HasMore {
				break
			}
			after = page.Messages[len(page.Messages)-1].Meta.Seq
		}
	}
	return out
}

// turnsOf groups a transcript by question.
func turnsOf(msgs []protocol.Message) (turns [][]protocol.Message) {
	for _, m := range msgs {
		if m.Role == protocol.MessageUser {
			turns = append(turns, nil)
		}
		if n := len(turns); n > 0 {
			turns[n-1] = append(turns[n-1], m)
		}
	}
	return turns
}

func (v *victim) background() context.Context {
	ctx, cancel := context.WithTimeout(v.t.Context(), time.Minute)
	v.t.Cleanup(cancel)
	return ctx
}
