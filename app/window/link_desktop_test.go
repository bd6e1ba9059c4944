//go:build desktop && linux

package window

import (
	"encoding/json"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/app/desktoptest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// A link is handed to the window that is open; its words are shown and not sent.
func TestSec_A_LINK_01_WordsOfALinkAreShownAndNotSent(t *testing.T) {
	needDesktop(t)
	bin := built(t, "hearth", "hearth-window")
	s := show(t, bin, home(t))
	s.until("the page", `document.querySelector("#composer") && !document.querySelector(".banner.link")`)
	text := "rm -rf / <b>now</b>\n" + strings.Repeat("long ", 700) + "end"
	second := exec.Command(filepath.Join(bin, "hearth-window"),
		"hearth://chat/agent:main:other?auto=1&send=1&key=agent:main:other&model=x&text="+url.QueryEscape(text))
	second.Env = s.env()
	_ = second.Run() // Wails ends the second one with 1
	want, _ := json.Marshal(text)
	s.until("the offer", `document.querySelector("dialog pre")?.textContent === `+string(want))
	if _, err := s.eval(`document.querySelector("dialog .actions button.primary").click()`); err != nil {
		t.Fatal(err)
	}
	s.until("the words in the message", `document.querySelector("#composer").value === `+string(want))
	if v, err := s.eval(`document.querySelectorAll(".row").length + " " + /other/.test(location.href)`); err != nil ||
		string(v) != `"0 false"` {
		t.Errorf("the link did more: %s, %v", v, err)
	}
}

// A link that offers to pair asks in a dialog of the system; what is not said
// yes to is not done.
func TestSec_A_LINK_03_PairingAsksFirst(t *testing.T) {
	needDesktop(t)
	if _, err := exec.LookPath("xdotool"); err != nil {
		if os.Getenv("HEARTH_REQUIRE_DESKTOP") != "" {
			t.Fatal(err)
		}
		t.Skip("needs xdotool")
	}
	reached := make(chan struct{}, 8)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
			reached <- struct{}{}
		}
	}()
	code := protocol.SetupCode{URL: "wss://" + l.Addr().String(), BootstrapToken: "evil", Pin: "sha256/" + strings.Repeat("A", 43) + "="}
	text, err := code.Encode()
	if err != nil {
		t.Fatal(err)
	}
	bin := built(t, "hearth", "hearth-window")
	s := show(t, bin, home(t), "hearth://pair/"+text)
	dialog := func(title string) string {
		t.Helper()
		for range 200 {
			if out, err := exec.Command("xdotool", "search", "--onlyvisible", "--name", title).Output(); err == nil {
				return strings.Fields(string(out))[0]
			}
			desktoptest.Pause(t, 100*time.Millisecond)
		}
		t.Fatalf("no dialog %q", title)
		return ""
	}
	press := func(window, key string) {
		t.Helper()
		if out, err := exec.Command("xdotool", "windowfocus", window, "key", "--clearmodifiers", key).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	press(dialog("Pair with another Hearth?"), "Escape")
	desktoptest.Pause(t, time.Second)
	select {
	case <-reached:
		t.Error("it connected without a yes")
	default:
	}
	second := exec.Command(filepath.Join(bin, "hearth-window"), "hearth://pair/"+text)
	second.Env = s.env()
	_ = second.Run()
	press(dialog("Pair with another Hearth?"), "alt+y")
	select {
	case <-reached:
	case <-time.After(20 * time.Second):
		t.Error("it did not connect after a yes")
	}
	press(dialog("Not paired"), "Escape") // it is not the gateway of that key
}
