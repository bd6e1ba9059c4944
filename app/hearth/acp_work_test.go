package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
)

// watcher is an editor that notes all it is shown, and says yes.
type watcher struct {
	sdk.Client
	mu    sync.Mutex
	heard []string
}

func (w *watcher) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	u := n.Update
	switch {
	case u.AgentThoughtChunk != nil:
		w.words("thought ", u.AgentThoughtChunk.Content.Text.Text)
	case u.AgentMessageChunk != nil:
		w.words("said ", u.AgentMessageChunk.Content.Text.Text)
	case u.UserMessageChunk != nil:
		w.words("person ", u.UserMessageChunk.Content.Text.Text)
	case u.ToolCall != nil:
		w.heard = append(w.heard, "call "+u.ToolCall.Title)
	case u.ToolCallUpdate != nil && u.ToolCallUpdate.Status != nil:
		w.heard = append(w.heard, "now "+string(*u.ToolCallUpdate.Status))
	case u.Plan != nil:
		for _, e := range u.Plan.Entries {
			w.heard = append(w.heard, "plan "+e.Content+" "+string(e.Status))
		}
	case u.AvailableCommandsUpdate != nil:
		for _, c := range u.AvailableCommandsUpdate.AvailableCommands {
			w.heard = append(w.heard, "command "+c.Name)
		}
	}
	return nil
}

// words come in pieces.
func (w *watcher) words(kind, text string) {
	if n := len(w.heard); n > 0 && strings.HasPrefix(w.heard[n-1], kind) {
		w.heard[n-1] += text
		return
	}
	w.heard = append(w.heard, kind+text)
}

func (w *watcher) RequestPermission(context.Context, sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected("allow-once")}, nil
}

// all is what it was shown since it was asked last.
func (w *watcher) all() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := strings.Join(w.heard, "\n")
	w.heard = nil
	return out
}

// An editor is shown what goes on: commands, thoughts, calls of tools and plans,
// prompt after prompt, and again when the session is loaded. Tools begin in the
// folder that it works in.
func TestEditorSeesTheWork(t *testing.T) {
	h := newHouse(t, "think")
	h.gateway()
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, "main.txt"), []byte("the project's own words"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &watcher{}
	c := h.acp(w)
	id := newSession(t, c, project)
	until(t, "commands are offered", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return strings.Contains(strings.Join(w.heard, "\n"), "command status")
	})
	for _, step := range []struct{ model, say, want string }{
		{"", "hm", "thought Let me think about that.\nsaid echo: "},
		{"", "and again", "said echo: "},
		{"tool-update_plan", `{"plan":[{"step":"look","status":"completed"},{"step":"do","status":"in_progress"}]}`, "plan look completed\n" +
			"plan do in_progress\ncall update_plan"},
		{"tool-exec", `{"command":"pwd"}`, "now completed\nsaid The tool said: " + project},
		{"tool-read", `{"path":"main.txt"}`, "the project's own words"},
	} {
		if step.model != "" {
			if _, err := c.Prompt(t.Context(), prompt(id, "/model scripted/"+step.model)); err != nil {
				t.Fatal(err)
			}
			w.all()
		}
		res, err := c.Prompt(t.Context(), prompt(id, step.say))
		heard := w.all()
		if err != nil || res.StopReason != sdk.StopReasonEndTurn || !strings.Contains(heard, step.want) {
			t.Errorf("%s: %+v %v, it was shown\n%s", step.say, res, err, heard)
		}
		if strings.HasPrefix(step.model, "tool-") && !strings.Contains(heard, "call "+strings.TrimPrefix(step.model, "tool-")) {
			t.Errorf("no call of %s among\n%s", step.model, heard)
		}
	}
	c = h.acp(w)
	if _, err := c.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: project, McpServers: []sdk.McpServer{}}); err != nil {
		t.Fatal(err)
	}
	again := w.all()
	for _, want := range []string{"person hm\nthought Let me think about that.\nsaid echo: ", "call exec\nnow completed\n" +
		"said The tool said: " + project, "call read\nnow completed"} {
		if !strings.Contains(again, want) {
			t.Errorf("loaded, %q is not among\n%s", want, again)
		}
	}
}
