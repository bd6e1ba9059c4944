//go:build desktop && linux

package window

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/app/desktoptest"
)

// These tests open the real window on a real gateway and X server, and look
// into it through WebKit's own inspector. build/test starts the display.
func needDesktop(t *testing.T) {
	t.Helper()
	desktoptest.Need(t, desktoptest.Session()...)
}

func TestTheWindowStartsHearthSendsAMessageAndShowsTheAnswer(t *testing.T) {
	needDesktop(t)
	bin := built(t, "hearth", "hearth-window")
	s := show(t, bin, home(t))
	s.until("the page", `document.querySelector("#composer") && !document.querySelector(".banner.link")`)
	s.until("its knowledge of the window", "window.hearthShell")
	if v, err := s.eval("location.href"); err != nil || strings.Contains(string(v), "launch") {
		t.Errorf("the address holds the code: %s, %v", v, err)
	}
	if _, err := s.eval(`{
		const c = document.querySelector("#composer");
		c.value = "what is 12.5% of 80?";
		c.dispatchEvent(new Event("input", { bubbles: true }));
		c.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
	}`); err != nil {
		t.Fatal(err)
	}
	s.until("the answer", `[...document.querySelectorAll(".row.text .md")].at(-1)?.innerText.includes("10")`)

	// A second start shows a place in the window that is open and ends.
	second := exec.Command(filepath.Join(bin, "hearth-window"), "settings/usage")
	second.Env = s.env()
	_ = second.Run() // Wails ends the second one with 1
	s.until("the settings", `/Allowance & usage/.test(document.querySelector("dialog section h2")?.innerText)`)

	// The gateway is gone and back; the page finds it again.
	s.gateway("KILL")
	s.until("the notice", `document.querySelector(".banner.link")`)
	again := exec.Command(filepath.Join(bin, "hearth"), "gateway", "--quiet")
	again.Env = s.env()
	if err := again.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = again.Process.Kill(); _ = again.Wait() })
	s.until("the connection", `!document.querySelector(".banner.link")`)
}

// The small window beside the large one: above the others, ready for words, gone
// with Escape.
func TestTheQuickWindow(t *testing.T) {
	needDesktop(t)
	bin, at := built(t, "hearth", "hearth-window"), home(t)
	s := show(t, bin, at)
	s.until("the page", `document.querySelector("#composer") && !document.querySelector(".banner.link")`)
	q := show(t, bin, at, "--quick")
	q.until("its page, ready for words", `document.activeElement?.id === "composer" && innerWidth < 500`)
	// It may be gone before it answers the inspector.
	_, _ = q.eval(`document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true }))`)
	select {
	case <-q.done:
	case <-time.After(10 * time.Second):
		t.Fatal("Escape did not close it")
	}
	if _, err := s.eval("0"); err != nil {
		t.Errorf("the large one is gone as well: %v", err)
	}
}

// The window is killed while an answer comes: the answer goes on without it, and
// is there when it is opened again.
func TestFault_TheWindowIsKilledInTheMiddleOfAnAnswer(t *testing.T) {
	needDesktop(t)
	goOn, began := make(chan struct{}), make(chan struct{}, 1)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(text string) {
			_, _ = fmt.Fprintf(w, "data: "+
				"{\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", text)
			w.(http.Flusher).Flush()
		}
		say("The first half, ")
		select {
		case began <- struct{}{}:
		default:
		}
		select {
		case <-goOn:
		case <-r.Context().Done():
			return
		}
		say("and the second.")
		_, _ = io.WriteString(w, "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer model.Close()
	at := home(t)
	conf := fmt.Sprintf(`{ gateway: { port: %s }, models: { providers: { slow: { baseUrl: "%s/v1", api: "openai-completions", models: [{ id: "m", contextWindow: 32000 }] } } },
  agents: { defaults: { model: { primary: "slow/m" }, skipBootstrap: true } },
  features: { titles: false } }`, desktoptest.Port(t), model.URL)
	if err := os.WriteFile(filepath.Join(at, "state", "hearth.json"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	bin := built(t, "hearth", "hearth-window")
	s := show(t, bin, at)
	s.until("the page", `document.querySelector("#composer") && !document.querySelector(".banner.link")`)
	if _, err := s.eval(`{
		const c = document.querySelector("#composer");
		c.value = "tell me";
		c.dispatchEvent(new Event("input", { bubbles: true }));
		c.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
	}`); err != nil {
		t.Fatal(err)
	}
	select {
	case <-began:
	case <-time.After(30 * time.Second):
		t.Fatal("the model was not asked")
	}
	s.until("the first half", `document.body.textContent.includes("The first half")`)
	_ = s.cmd.Process.Kill()
	<-s.done
	close(goOn)
	again := show(t, bin, at)
	again.until("the chat", `document.querySelector("#composer") && !document.querySelector(".banner.link")`)
	again.until("the whole answer", `document.querySelector("[role=log]")?.textContent.includes("The first half, and the second.")`)
}

func TestTheWindowSaysWhenHearthCannotBeStarted(t *testing.T) {
	needDesktop(t)
	s := show(t, built(t, "hearth-window"), home(t))
	s.until("what is wrong", `/is not running/.test(document.querySelector("h1")?.innerText) && /install Hearth again/.test(document.querySelector("#why").innerText)`)
	if _, err := s.eval("0"); err != nil {
		t.Fatal(err)
	}
}

func TestWithoutADisplayTheWindowSaysSo(t *testing.T) {
	needDesktop(t)
	cmd := exec.Command(filepath.Join(built(t, "hearth-window"), "hearth-window"))
	cmd.Env = []string{"HOME=" + desktoptest.Folder(t)}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "there is no display here") {
		t.Errorf("%v: %s", err, out)
	}
}
