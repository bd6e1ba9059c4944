package hooks_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/transcription/transcriptiontest"
)

// putHook writes a hook into a folder of hooks.
func putHook(t *testing.T, dir, name, events string, files map[string]string) string {
	t.Helper()
	at := filepath.Join(dir, name)
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	files["HOOK.md"] = "---\nname: " + name + "\ndescription: \"A test\"\nmetadata: { \"openclaw\": { \"events\": [" + events +
		"] } }\n---\n\n# It\n"
	for f, text := range files {
		if err := os.WriteFile(filepath.Join(at, f), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

func hookOf(p *gatewaytest.Peer, name string) (h protocol.HookInfo) {
	p.T.Helper()
	var all protocol.HooksStatus
	p.Do(protocol.MethodHooksStatus, nil, &all)
	i := slices.IndexFunc(all.Hooks, func(h protocol.HookInfo) bool { return h.Name == name })
	if i < 0 {
		p.T.Fatalf("there is no hook %s among %d", name, len(all.Hooks))
	}
	return all.Hooks[i]
}

// enable switches a hook on as it is.
func enable(p *gatewaytest.Peer, name string) (h protocol.HookInfo) {
	p.T.Helper()
	was := hookOf(p, name)
	if was.Hearth.Form == "script" { // which takes its time on a machine that does much else
		p.Patch(map[string]any{"hooks": map[string]any{"internal": map[string]any{"entries": map[string]any{
			name: map[string]any{"timeoutSeconds": 300}}}}})
	}
	p.Do(protocol.MethodHookEnable, protocol.HookEnableParams{Name: name, Enabled: true, SHA256: was.Hearth.SHA256}, &h)
	return h
}

// patiently waits for what a script does.
func patiently(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(4 * time.Minute); !ok(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

func noted(p *gatewaytest.Peer, key, text string) bool {
	return slices.ContainsFunc(p.History(key).Messages, func(m protocol.Message) bool { return strings.Contains(m.Text(), text) })
}

// troubled waits for something that a person should know.
func troubled(p *gatewaytest.Peer, part string) {
	p.T.Helper()
	gatewaytest.WaitFor(p.T.(*testing.T), "the trouble: "+part, func() bool {
		var health protocol.Health
		p.Do(protocol.MethodHealth, nil, &health)
		return slices.ContainsFunc(health.Hearth.Problems, func(q protocol.Problem) bool { return strings.Contains(q.Message, part) })
	})
}

// greets is a module of OpenClaw's: one handler, exported.
const greets = `
export const handler = async (event) => {
  if (event.type !== "command") return;
  event.messages.push("heard " + event.action + " of " + event.context.commandSource + " at " + event.timestamp.getFullYear());
};
export default handler;
`

// A handler that nobody enabled never runs, wherever it came from; a script hears of
// its events, and what it says is told in the conversation.
func TestSec_A_SKILL_06_HandlersOfAWorkspaceWaitForAYes(t *testing.T) {
	r := gatewaytest.NewForScripts(t, "chat/echo")
	p := r.Connect()
	dir := gatewaytest.Workspace(t, p)
	p.Patch(map[string]any{"hooks": map[string]any{"internal": map[string]any{"enabled": true}}})
	putHook(t, filepath.Join(dir, "hooks"), "greeter", `"command:new"`, map[string]string{"handler.js": greets})
	putHook(t, filepath.Join(string(r.Dir), "hooks"), "managed", `"command:new"`, map[string]string{"handler.js": greets})
	putHook(t, filepath.Join(dir, "hooks"), "command-logger", `"command"`, map[string]string{"handler.js": greets})
	p.Say("main", "a", "hello")
	p.Say("main", "b", "/new")
	if h := hookOf(p, "greeter"); h.Loadable || h.EnabledByConfig || h.BlockedReason != "workspace hook (disabled by default)" ||
		h.Source != "openclaw-workspace" || h.Hearth.Runs != 0 {
		t.Errorf("%+v", h)
	}
	if h := hookOf(p, "managed"); h.Loadable || h.Hearth.Runs != 0 || h.BlockedReason != "disabled in config" {
		t.Errorf("%+v", h)
	}
	if h := hookOf(p, "command-logger"); h.Source != "openclaw-bundled" {
		t.Errorf("a workspace took the place of what comes with Hearth: %+v", h)
	}
	if why := p.Refused(protocol.MethodHookEnable, protocol.HookEnableParams{
		Name: "greeter", Enabled: true, SHA256: "0"}); !strings.Contains(why, "look at them again") {
		t.Error(why)
	}
	// The settings alone are no yes: nobody has looked at the files.
	p.Patch(map[string]any{"hooks": map[string]any{"internal": map[string]any{"entries": map[string]any{"greeter": map[string]any{
		"enabled": true}}}}})
	if h := hookOf(p, "greeter"); h.Loadable || h.Hearth.Seen {
		t.Errorf("%+v", h)
	}
	if h := enable(p, "greeter"); !h.Loadable || !h.Hearth.Seen || h.Hearth.Form != "script" {
		t.Errorf("%+v", h)
	}
	p.Say("main", "c", "/new")
	patiently(t, "the words of the hook", func() bool { return noted(p, "main", "heard new of webchat at 20") })
	p.Do(protocol.MethodHookEnable, protocol.HookEnableParams{Name: "greeter"}, nil)
	if h := hookOf(p, "greeter"); h.Loadable || h.BlockedReason != "disabled in config" || h.Hearth.Runs != 1 {
		t.Errorf("%+v", h)
	}
}

// A handler whose files changed after it was enabled does not run, says so, and does
// again once its owner has looked; also another file of its folder counts.
func TestSec_A_SKILL_08_AChangedHandlerDoesNotRun(t *testing.T) {
	r := gatewaytest.NewForScripts(t, "chat/echo")
	p := r.Connect()
	dir := gatewaytest.Workspace(t, p)
	at := putHook(t, filepath.Join(dir, "hooks"), "greeter", `"command:new"`, map[string]string{
		"handler.js": "return { messages: ['first words'] }", "data.txt": "1"})
	enable(p, "greeter")
	p.Say("main", "a", "hello")
	p.Say("main", "b", "/new")
	patiently(t, "the words of the hook", func() bool { return noted(p, "main", "first words") })
	if err := os.WriteFile(filepath.Join(at, "handler.js"), []byte("return { messages: ['second words'] }"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.Say("main", "c", "/new")
	p.Say("main", "d", "hello again")
	h := hookOf(p, "greeter")
	if h.Loadable || h.Hearth.Seen || h.Hearth.Runs != 1 || noted(p, "main", "second words") || !strings.Contains(h.BlockedReason, "changed") {
		t.Errorf("%+v", h)
	}
	troubled(p, "has other files than those that you enabled")
	enable(p, "greeter")
	p.Say("main", "e", "/new")
	patiently(t, "the new words", func() bool { return noted(p, "main", "second words") })
	if err := os.WriteFile(filepath.Join(at, "data.txt"), []byte("2"), 0o700); err != nil {
		t.Fatal(err)
	}
	if h := hookOf(p, "greeter"); h.Loadable {
		t.Errorf("%+v", h)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(at, "link")); err != nil {
		t.Fatal(err)
	}
	if h := hookOf(p, "greeter"); h.Loadable || !strings.Contains(h.BlockedReason, "link") {
		t.Errorf("%+v", h)
	}
}

// A hook that asks for what never happens is refused in words; one that asks for
// other things too runs, and the doctor says what it waits for in vain.
func TestHooksThatWaitInVain(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	dir := filepath.Join(string(r.Dir), "hooks")
	putHook(t, dir, "voices", `"message:dictated"`, map[string]string{"handler.js": greets})
	putHook(t, dir, "both", `"message:dictated", "command:new"`, map[string]string{"handler.js": greets})
	h := hookOf(p, "voices")
	if h.Loadable || !strings.Contains(h.BlockedReason, "no event message:dictated") ||
		!slices.Equal(h.UnknownEvents, []string{"message:dictated"}) {
		t.Errorf("%+v", h)
	}
	why := p.Refused(protocol.MethodHookEnable, protocol.HookEnableParams{Name: "voices", Enabled: true, SHA256: h.Hearth.SHA256})
	if !strings.Contains(why, "would never be told: there is no event message:dictated") {
		t.Error(why)
	}
	if h := enable(p, "both"); !h.Loadable || !strings.Contains(h.Hearth.NeverTold, "message:dictated") {
		t.Errorf("%+v", h)
	}
	doctor := func(part string) bool {
		var report protocol.Doctor
		p.Do(protocol.MethodDoctor, protocol.DoctorParams{}, &report)
		return slices.ContainsFunc(report.Checks, func(c protocol.HealthCheck) bool {
			return c.Area == "hooks" && c.State == protocol.CheckWarn && strings.Contains(c.What, part) && c.Advice != ""
		})
	}
	if !doctor("the hook both is told of some of its events only: there is no event message:dictated") {
		t.Error("the doctor does not say what a hook waits for in vain")
	}
	p.Patch(map[string]any{"hooks": map[string]any{"internal": map[string]any{"entries": map[string]any{"voices": map[string]any{
		"enabled": true}}}}})
	if !doctor("the hook voices is enabled and never told: there is no event message:dictated") {
		t.Error("the doctor does not say that a hook is never told")
	}
}

// The hooks that come with Hearth do what they say.
func TestBundledHooks(t *testing.T) {
	r := gatewaytest.NewForScripts(t, "chat/echo")
	p := r.Connect()
	dir := gatewaytest.Workspace(t, p)
	for _, name := range []string{"command-logger", "session-memory", "bootstrap-extra-files", "boot-md", "compaction-notifier"} {
		if h := hookOf(p, name); h.Loadable || h.EnabledByConfig || !h.RequirementsSatisfied || len(h.UnknownEvents) > 0 {
			t.Errorf("before: %+v", h)
		}
		if h := enable(p, name); !h.Loadable {
			t.Errorf("after: %+v", h)
		}
	}
	gatewaytest.PutFile(t, filepath.Join(dir, "packages", "sky"), "AGENTS.md", []byte("Look at the stars."))
	gatewaytest.PutFile(t, filepath.Join(dir, "packages", "sky"), "OTHER.md", []byte("Not this."))
	p.Patch(map[string]any{"hooks": map[string]any{"internal": map[string]any{"entries": map[string]any{
		"bootstrap-extra-files": map[string]any{"paths": []string{"packages/*/*.md"}}}}}})
	p.Say("main", "a", "the tulips are red")
	if sent := r.Model.Snapshot().System; !strings.Contains(sent, "Look at the stars.") || strings.Contains(sent, "Not this.") ||
		!strings.Contains(sent, "packages/sky/AGENTS.md") {
		t.Error("the file of the workspace was not shown, or another was")
	}
	p.Say("main", "b", "/new")
	var memories []string
	gatewaytest.WaitFor(t, "the memory", func() bool {
		memories, _ = filepath.Glob(filepath.Join(dir, "memory", "*.md"))
		return len(memories) == 1
	})
	gatewaytest.WaitFor(t, "what it says", func() bool {
		raw, err := os.ReadFile(memories[0])
		text := string(raw)
		return err == nil && strings.Contains(text, "user: the tulips are red") &&
			strings.Contains(text, "assistant: echo: the tulips are red") &&
			strings.Contains(text, "**Session Key**: agent:main:main") && strings.Contains(text, "**Source**: webchat")
	})
	var line struct{ Action, SessionKey, SenderID, Source, Timestamp string }
	gatewaytest.WaitFor(t, "the line of the log", func() bool {
		raw, err := os.ReadFile(filepath.Join(string(r.Dir), "logs", "commands.log"))
		return err == nil && json.Unmarshal(raw, &line) == nil
	})
	if line.Action != "new" || line.SessionKey != "agent:main:main" || line.SenderID != "unknown" || line.Source != "webchat" {
		t.Errorf("%+v", line)
	}
	gatewaytest.PutFile(t, dir, "BOOT.md", []byte("Say good morning."))
	r.Restart()
	p = r.Connect()
	gatewaytest.WaitFor(t, "what the start has to tell", func() bool { return noted(p, "main", "Say good morning.") })
	for i := range 4 {
		p.Say("main", string(rune('m'+i)), "one more thing")
	}
	p.Do(protocol.MethodSessionsCompact, protocol.SessionsCompactParams{Key: "main"}, nil)
	gatewaytest.WaitFor(t, "the notices", func() bool {
		return noted(p, "main", "Compacting context (") && noted(p, "main", "Context compacted")
	})
}

// A hook hears of messages of networks and of answers that were sent there; what it
// says goes there only where the event is one that is answered.
func TestHandlersAndNetworks(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	gatewaytest.CompileScripts(t, r.Dir)
	p := r.Connect()
	gatewaytest.Workspace(t, p)
	putHook(t, filepath.Join(string(r.Dir), "hooks"), "hears", `"message", "command:reset"`, map[string]string{"handler.js": `
		if (hook.type === "command") return { messages: ["reset by " + hook.context.senderId] };
		const kept = await tools.session_status({}).then(() => 1, () => 0);
		return { messages: ["not told"] };`})
	enable(p, "hears")
	gatewaytest.AnnaSays(api, "hello")
	gatewaytest.WaitFor(t, "an answer", func() bool { return len(gatewaytest.Texts(api, gatewaytest.Anna)) > 0 })
	patiently(t, "received, preprocessed and sent", func() bool { return hookOf(p, "hears").Hearth.Runs >= 3 })
	if h := hookOf(p, "hears"); h.Hearth.LastError != "" {
		t.Errorf("%+v", h)
	}
	for _, text := range gatewaytest.Texts(api, gatewaytest.Anna) {
		if strings.Contains(text, "not told") {
			t.Error("what a hook says of a message was sent")
		}
	}
	gatewaytest.AnnaSays(api, "/reset")
	patiently(t, "the word of the hook", func() bool {
		return slices.Contains(gatewaytest.Texts(api, gatewaytest.Anna), "reset by 777")
	})
}

// A hook is told what was said in a voice note, once it was written down.
func TestHandlersHearWhatWasSaid(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	gatewaytest.CompileScripts(t, r.Dir)
	ears := transcriptiontest.New(t, "", "buy milk")
	p := r.Connect()
	gatewaytest.Workspace(t, p)
	p.Patch(map[string]any{
		"models": map[string]any{"providers": map[string]any{"ears": map[string]any{"baseUrl": ears.URL}}},
		"tools": map[string]any{"media": map[string]any{"audio": map[string]any{"models": []any{
			map[string]any{"provider": "ears", "model": "whisper-1"}}}}},
	})
	putHook(t, filepath.Join(string(r.Dir), "hooks"), "voices", `"message:transcribed"`, map[string]string{"handler.js": `
		const c = hook.context;
		if (c.transcript !== "buy milk" || !/^inbox\/.*-voice.ogg$/.test(c.mediaPath) || c.mediaType !== "audio/ogg" ||
			c.channelId !== "telegram" || !c.bodyForAgent.includes("buy milk")) throw new Error(JSON.stringify(c));
		return {};`})
	enable(p, "voices")
	gatewaytest.AnnaSays(api, "hello")
	api.AddFile("v1", telegramtest.File{Path: "files/v1", Data: append([]byte("OggS"), make([]byte, 2000)...)})
	api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "",
		map[string]any{"voice": map[string]any{"file_id": "v1", "mime_type": "audio/ogg", "file_size": 2004}})
	patiently(t, "the transcript", func() bool { return hookOf(p, "voices").Hearth.Runs > 0 })
	if h := hookOf(p, "voices"); h.Hearth.LastError != "" || h.Hearth.Runs != 1 {
		t.Errorf("%+v", h)
	}
}

// What others said in a conversation is not kept in the owner's memory.
func TestMemoriesAreTheOwnersOwn(t *testing.T) {
	_, p, c := hooked(t, "chat/echo", "")
	dir := gatewaytest.Workspace(t, p)
	p.Say("main", "a", "the tulips are red")
	if a := c.post("/hooks/wake", `{"text": "the roses are a stranger's"}`); a.status != http.StatusAccepted && a.status != http.StatusOK {
		t.Fatal(a)
	}
	gatewaytest.WaitFor(t, "the answer to it", func() bool { return noted(p, "main", "echo: ") && noted(p, "main", "stranger's") })
	enable(p, "session-memory")
	p.Say("main", "b", "and the grass is green")
	p.Do(protocol.MethodSessionsReset, protocol.SessionsResetParams{Key: "main", Reason: "reset"}, nil)
	gatewaytest.WaitFor(t, "the memory", func() bool {
		found, _ := filepath.Glob(filepath.Join(dir, "memory", "*.md"))
		if len(found) != 1 {
			return false
		}
		raw, err := os.ReadFile(found[0])
		text := string(raw)
		if strings.Contains(text, "stranger") {
			t.Errorf("a stranger's words were kept: %s", text)
		}
		return err == nil && strings.Contains(text, "tulips") && strings.Contains(text, "grass")
	})
}

// A handler may be written in TypeScript, which takes a while to be read.
func TestHandlersInTypeScript(t *testing.T) {
	r := gatewaytest.NewForScripts(t, "chat/echo")
	p := r.Connect()
	gatewaytest.Workspace(t, p)
	putHook(t, filepath.Join(string(r.Dir), "hooks"), "typed", `"command:new"`, map[string]string{
		"handler.ts": strings.Replace(greets, "(event)", "(event: { type: string; context: any; [key: string]: any })", 1)})
	enable(p, "typed")
	p.Say("main", "a", "hello")
	p.Say("main", "b", "/new")
	patiently(t, "the words of the hook", func() bool { return noted(p, "main", "heard new of webchat at 20") })
}
