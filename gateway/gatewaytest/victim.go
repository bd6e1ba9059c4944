package gatewaytest

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Victim is a gateway process that is killed and started again on one state
// folder and one port.
type Victim struct {
	T        *testing.T
	bin      string
	Dir      statedir.Dir
	Port     int
	Model    *scripted.Handler
	ModelURL string

	Cmd  *exec.Cmd
	Gone chan struct{} // closed when the process has ended
	log  *os.File
}

// NewVictim shares nothing with other victims but the program, so its test waits
// beside theirs.
func NewVictim(t *testing.T, primary string) *Victim {
	t.Helper()
	t.Parallel()
	v := &Victim{T: t, bin: Binary(t), Dir: statedir.Dir(t.TempDir()), Port: FreePort(t), Model: scripted.New()}
	srv := httptest.NewServer(v.Model)
	t.Cleanup(srv.Close)
	v.ModelURL = srv.URL
	var err error
	v.log, err = os.Create(filepath.Join(t.TempDir(), "gateway.out"))
	if err != nil {
		t.Fatal(err)
	}
	WriteConfig(t, v.Dir, srv.URL, primary)
	t.Cleanup(func() {
		v.Kill()
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

// Start runs the gateway; failpoint names where and at which hit it dies.
func (v *Victim) Start(failpoint string) {
	v.T.Helper()
	v.Cmd = exec.Command(v.bin, "gateway", "--port", fmt.Sprint(v.Port))
	v.Cmd.Env = []string{"HEARTH_HOME=" + string(v.Dir), "HOME=" + string(v.Dir), "PATH=" + os.Getenv("PATH"), "HEARTH_FAILPOINT=" + failpoint}
	v.Cmd.Stdout, v.Cmd.Stderr = io.Discard, v.log
	if err := v.Cmd.Start(); err != nil {
		v.T.Fatal(err)
	}
	gone := make(chan struct{})
	v.Gone = gone
	go func(cmd *exec.Cmd) {
		_ = cmd.Wait()
		close(gone)
	}(v.Cmd)
}

// Kill ends the process without warning.
func (v *Victim) Kill() {
	if v.Cmd == nil {
		return
	}
	_ = v.Cmd.Process.Kill()
	<-v.Gone
	v.Cmd = nil
}

// Died waits for the process to end by its failpoint.
func (v *Victim) Died() {
	v.T.Helper()
	select {
	case <-v.Gone:
		v.Cmd = nil
	case <-time.After(30 * time.Second):
		v.T.Fatal("the gateway did not reach the failpoint")
	}
}

// Dial connects as soon as the gateway answers; nil when ctx ends first.
func (v *Victim) Dial(ctx context.Context, onEvent func(protocol.Event)) *client.Client {
	for ctx.Err() == nil {
		token, err := os.ReadFile(v.Dir.Token())
		if err == nil {
			c, err := client.Dial(ctx, client.Options{
				URL: fmt.Sprintf("http://127.0.0.1:%d", v.Port), Token: strings.TrimSpace(string(token)), OnEvent: onEvent,
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

// Deliver sends a message until it is acknowledged, through any number of
// crashes, always under the same key.
func (v *Victim) Deliver(ctx context.Context, c *client.Client, key, runID, text string) (*client.Client, protocol.ChatSendResult, bool) {
	return v.DeliverAs(ctx, c, protocol.ChatSendParams{SessionKey: key, Message: text, IdempotencyKey: runID})
}

// DeliverAs is Deliver with all that a message may say.
func (v *Victim) DeliverAs(ctx context.Context, c *client.Client, p protocol.ChatSendParams) (*client.Client, protocol.ChatSendResult,
	bool) {
	for ctx.Err() == nil {
		if c == nil {
			if c = v.Dial(ctx, nil); c == nil {
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

// Settled waits until nothing is queued or running and returns the transcript.
func (v *Victim) Settled(keys ...string) map[string][]protocol.Message {
	v.T.Helper()
	ctx, cancel := context.WithTimeout(v.T.Context(), time.Minute)
	defer cancel()
	c := v.Dial(ctx, nil)
	if c == nil {
		v.T.Fatal("the gateway does not answer")
	}
	defer c.Close()
	for {
		var st protocol.Status
		if err := c.Call(ctx, protocol.MethodStatus, nil, &st); err != nil {
			v.T.Fatalf("status: %v", err)
		}
		if st.Hearth.ActiveRuns == 0 && st.Hearth.QueuedRuns == 0 && st.Hearth.Undelivered == 0 {
			break
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			v.T.Fatalf("still %d runs active, %d queued, %d undelivered", st.Hearth.ActiveRuns, st.Hearth.QueuedRuns, st.Hearth.Undelivered)
		}
	}
	out := make(map[string][]protocol.Message)
	for _, key := range keys {
		var after int64
		for {
			var page protocol.TranscriptExport
			if err := c.Call(ctx, protocol.MethodTranscriptExport, protocol.TranscriptExportParams{Key: key, After: after}, &page); err != nil {
				v.T.Fatalf("export %s: %v", key, err)
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

// Background is a context for all that a test does with it, dozens of starts on a busy
// machine too.
func (v *Victim) Background() context.Context {
	ctx, cancel := context.WithTimeout(v.T.Context(), 5*time.Minute)
	v.T.Cleanup(cancel)
	return ctx
}
