package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
)

// editor is a client of the editors' SDK that answers questions with choice.
type editor struct {
	sdk.Client
	words  chan string
	choice sdk.PermissionOptionId
	asked  chan sdk.RequestPermissionRequest
}

func (e *editor) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	if c := n.Update.AgentMessageChunk; c != nil && c.Content.Text != nil {
		e.words <- c.Content.Text.Text
	}
	return nil
}

func (e *editor) RequestPermission(_ context.Context, p sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	e.asked <- p
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(e.choice)}, nil
}

// acp starts `hearth acp` as editors do, for one of them.
func (h *house) acp(e sdk.Client) *sdk.ClientSideConnection {
	h.t.Helper()
	cmd := h.hearth("acp")
	cmd.Stderr = h.t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = cmd.Wait() }) // the end of the test's context ends it
	c := sdk.NewClientSideConnection(e, in, out)
	hello, err := c.Initialize(h.t.Context(), sdk.InitializeRequest{ProtocolVersion: sdk.ProtocolVersionNumber})
	if err != nil || !hello.AgentCapabilities.LoadSession {
		h.t.Fatalf("%+v %v", hello, err)
	}
	return c
}

// editor is one that makes a choice, with a session.
func (h *house) editor(choice string) (*editor, *sdk.ClientSideConnection, sdk.SessionId) {
	h.t.Helper()
	e := &editor{words: make(chan string, 4096), choice: sdk.PermissionOptionId(choice), asked: make(chan sdk.RequestPermissionRequest, 16)}
	c := h.acp(e)
	return e, c, newSession(h.t, c, h.home)
}

// newSession is one of an editor that works in a folder.
func newSession(t *testing.T, c *sdk.ClientSideConnection, dir string) sdk.SessionId {
	t.Helper()
	s, err := c.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: dir, McpServers: []sdk.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	return s.SessionId
}

// said is what came so far.
func (e *editor) said() (text string) {
	for {
		select {
		case w := <-e.words:
			text += w
		default:
			return text
		}
	}
}

// withoutFolder takes out what tells the model where the editor works.
func (h *house) withoutFolder(said string) string {
	return strings.ReplaceAll(said, "[Working directory: "+h.home+"]\n\n", "")
}

func prompt(id sdk.SessionId, text string) sdk.PromptRequest {
	return sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}}
}

// An editor's prompt is answered, and its session can be loaded by the next
// program of the editor.
func TestEditorPrompts(t *testing.T) {
	h := newHouse(t, "echo")
	h.gateway()
	e, c, id := h.editor("")
	for _, text := range []string{"one", "two words"} {
		res, err := c.Prompt(t.Context(), prompt(id, text))
		if said := h.withoutFolder(e.said()); err != nil || res.StopReason != sdk.StopReasonEndTurn || said != "echo: "+text {
			t.Errorf("%+v %v %q", res, err, said)
		}
	}
	e, c, _ = h.editor("")
	if _, err := c.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: h.home, McpServers: []sdk.McpServer{}}); err != nil {
		t.Fatal(err)
	}
	if said := h.withoutFolder(e.said()); said != "echo: oneecho: two words" {
		t.Errorf("loaded: %q", said)
	}
}

// Cancelling in the editor ends the turn there and the answer in the gateway.
func TestEditorCancels(t *testing.T) {
	h := newHouse(t, "stream-400-20")
	h.gateway()
	e, c, id := h.editor("")
	type end struct {
		res sdk.PromptResponse
		err error
	}
	ended := make(chan end, 1)
	go func() {
		res, err := c.Prompt(t.Context(), prompt(id, "count"))
		ended <- end{res, err}
	}()
	for text := ""; !strings.Contains(text, "w2 "); {
		select {
		case w := <-e.words:
			text += w
		case got := <-ended:
			t.Fatalf("it ended early: %+v", got)
		}
	}
	if err := c.Cancel(t.Context(), sdk.CancelNotification{SessionId: id}); err != nil {
		t.Fatal(err)
	}
	if got := <-ended; got.err != nil || got.res.StopReason != sdk.StopReasonCancelled {
		t.Errorf("%+v", got)
	}
	if strings.Contains(e.said(), "w399 ") {
		t.Error("the answer went on to its end")
	}
	until(t, "the model still answers", func() bool { return h.models.Snapshot().InFlight == 0 })
}

// What waits for a yes is asked in the editor, and its answer counts.
func TestEditorIsAsked(t *testing.T) {
	for _, choice := range []struct{ id, said, wrote string }{{"allow-once", "noted x", "x\n"}, {"deny", "the owner said no", ""}} {
		h, dir := notes(t)
		h.gateway()
		h.until("mcp__notes__add", "mcp", "test", "notes")
		e, c, id := h.editor(choice.id)
		res, err := c.Prompt(t.Context(), prompt(id, `{"text":"x"}`))
		if said := e.said(); err != nil || res.StopReason != sdk.StopReasonEndTurn || !strings.Contains(said, choice.said) {
			t.Errorf("%s: %+v %v %q", choice.id, res, err, said)
		}
		if len(e.asked) != 1 {
			t.Errorf("%s: asked %d times", choice.id, len(e.asked))
		}
		if b, _ := os.ReadFile(filepath.Join(dir, "notes")); string(b) != choice.wrote {
			t.Errorf("%s: the server wrote %q", choice.id, b)
		}
	}
}
