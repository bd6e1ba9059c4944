package imports_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

// here is a gateway that something is imported into.
type here struct {
	*gatewaytest.Peer
	t  *testing.T
	ws string
}

func start(t *testing.T) here {
	t.Helper()
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	ws := gatewaytest.Workspace(t, p)
	if err := workspace.Seed(ws); err != nil {
		t.Fatal(err)
	}
	return here{p, t, ws}
}

func (h here) plan(from, path string) (rep protocol.ImportReport) {
	h.t.Helper()
	h.Do(protocol.MethodImportPlan, protocol.ImportParams{From: from, Path: path}, &rep)
	return rep
}

// take imports and waits for the end.
func (h here) take(from, path string) (rep protocol.ImportReport) {
	h.t.Helper()
	var started protocol.ImportStarted
	h.Do(protocol.MethodImportStart, protocol.ImportParams{From: from, Path: path}, &started)
	var one protocol.TaskResult
	gatewaytest.WaitFor(h.t, "the end of the import", func() bool {
		h.Do(protocol.MethodTasksGet, protocol.TaskIDParams(started), &one)
		return !one.Task.Open()
	})
	if one.Task.Status != protocol.TaskCompleted {
		h.t.Errorf("the task is %s: %s", one.Task.Status, one.Task.Error)
	}
	h.Do(protocol.MethodImportReport, protocol.ImportReportParams(started), &rep)
	return rep
}

// counts are the rows of a report: kind new/grown/here/left.
func counts(rep protocol.ImportReport) string {
	var out []string
	for _, r := range rep.Rows {
		out = append(out, fmt.Sprintf("%s %d/%d/%d/%d", r.Kind, r.New, r.Grown, r.Here, r.Left))
	}
	return strings.Join(out, ", ")
}

// tree is the hash of every file below a folder, with its time.
func tree(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		st, err := d.Info()
		fmt.Fprintf(h, "%s %v %x\n", p, st.ModTime(), sha256.Sum256(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// home is a folder of OpenClaw as its versions until 2026.6 leave it.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name, text string) { gatewaytest.PutFile(t, dir, name, []byte(text)) }
	put("openclaw.json", `{ // its own
		gateway: { port: 1, auth: { token: "gw-secret-token-000" } },
		models: { providers: { other: { baseUrl: "http://127.0.0.1:9/v1", api: "openai-completions", models: [{ id: "m" }] } } },
		messages: { responsePrefix: "[claw]" }, plugins: { x: 1 }, agents: { defaults: { workspace: "~/.openclaw/workspace", userTimezone: "Europe/Vienna" } },
		mcp: { servers: { "My Files": { command: "npx", args: ["-y", "files"], env: { MODE: "ro" } } } },
	}`)
	put("agents/main/sessions/sessions.json", `{"agent:main:main":{"sessionId":"s-1","updatedAt":1777600000000},"agent:main:work":{"sessionId":"s-2","label":"Work"}}`)
	put("agents/main/sessions/s-1.jsonl", lines(
		`{"type":"session","version":3,"id":"s-1","timestamp":"2026-05-01T08:00:00Z"}`,
		`{"type":"message","id":"a","timestamp":"2026-05-01T08:00:01Z","message":{"role":"user","content":[{"type":"text","text":"The wifi is Seeschwalbe"}]}}`,
		`{"type":"message","id":"b","timestamp":"2026-05-01T08:00:02Z","message":{"role":"assistant","provider":"p","model":"m","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Noted, Seeschwalbe."},{"type":"toolCall","id":"t1","name":"exec","arguments":{"command":"rm -rf /"}}]}}`,
		`{"type":"message","id":"c","timestamp":"2026-05-01T08:00:03Z","message":{"role":"toolResult","toolCallId":"t1","toolName":"exec","content":[{"type":"text","text":"gone"}]}}`,
		`{"type":"message","id":"d","timestamp":"2026-05-01T08:00:04Z","message":{"role":"assistant","content":[{"type":"text","text":"It is done, Kirschbaum."}]}}`,
		`this is no JSON`,
	))
	put("agents/main/sessions/s-2.jsonl", lines(
		`{"type":"message","id":"a","timestamp":"2026-05-02T08:00:01Z","message":{"role":"user","content":"Quarterly report on the ninth"}}`,
	))
	put("workspace/MEMORY.md", "# Memory\n\n- The dentist is Hagebutte.\n")
	put("workspace/memory/2026-05-01.md", "# 1 May\n\nA hammock for the veranda.\n")
	put("workspace/SOUL.md", "Be like Brombeere.\n")
	put("workspace/notes/list.txt", "quince\n")
	put("skills/tea/SKILL.md", "---\nname: tea\ndescription: How long tea steeps.\n---\nTwo minutes.\n")
	put("cron/jobs.json", `{"version":1,"jobs":[{"id":"j1","name":"morning","enabled":true,"schedule":{"kind":"cron","expr":"0 9 * * *"},"sessionTarget":"isolated","wakeMode":"now","payload":{"kind":"agentTurn","message":"What is on?"}},
		{"id":"j2","name":"danger","enabled":true,"schedule":{"kind":"every","everyMs":60000},"sessionTarget":"isolated","wakeMode":"now","payload":{"kind":"command","argv":["rm"]}}]}`)
	put("credentials/telegram-allowFrom.json", `{"version":1,"allowFrom":["4711"]}`)
	put("devices/paired.json", `{"d1":{"deviceId":"d1"}}`)
	return dir
}

func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }

func TestOpenClawHomeComesInOnce(t *testing.T) {
	h, dir := start(t), home(t)
	before := tree(t, dir)
	const first = "setting 5/0/0/3, person 1/0/0/0, file 2/0/0/0, memory 2/0/0/0, skill 1/0/0/0, " +
		"server 1/0/0/0, job 1/0/0/1, chat 2/0/0/0, other 0/0/0/1"
	if got := counts(h.plan("", dir)); got != first {
		t.Errorf("the plan is\n%s, want\n%s", got, first)
	}
	if got := counts(h.plan("openclaw", dir)); got != first {
		t.Errorf("a plan changed something: %s", got)
	}
	rep := h.take("openclaw", dir)
	if got := counts(rep); got != first {
		t.Errorf("it brought\n%s, want\n%s\n%+v", got, first, rep.Left)
	}
	if after := tree(t, dir); after != before {
		t.Error("something in the source was changed")
	}
	if r := row(rep, "chat"); r.Messages != 5 || r.NewSaid != 5 || !strings.Contains(fmt.Sprint(rep.Notes), "could not be read") {
		t.Errorf("the line that is no message: %+v, %q", r, rep.Notes)
	}
	for query, want := range map[string]int{"Seeschwalbe": 2, "Kirschbaum": 1, "quarterly report": 1, "Not imported": 1} {
		if got := h.Found(query, ""); len(got) != want {
			t.Errorf("%q finds %q", query, got)
		}
	}
	for query, want := range map[string]string{"dentist": "Hagebutte", "hammock": "veranda"} {
		var found protocol.MemoryFound
		h.Do(protocol.MethodMemorySearch, protocol.MemorySearchParams{Query: query}, &found)
		if len(found.Results) == 0 || !strings.Contains(fmt.Sprint(found.Results), want) {
			t.Errorf("%q is not found in the memory: %+v", query, found)
		}
	}
	h.checkChats()
	h.checkRest(t)

	// What came since, and nothing else.
	f, err := os.OpenFile(filepath.Join(dir, "agents/main/sessions/s-2.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"type":"message","id":"b","timestamp":"2026-05-03T08:00:01Z","message":{"role":"assistant","content":"It was sent on Tuesday"}}` + "\n")
	if cerr := f.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	const second = "setting 0/0/5/3, person 0/0/1/0, file 0/0/2/0, memory 0/0/2/0, skill 0/0/1/0, " +
		"server 0/0/1/0, job 0/0/1/1, chat 0/1/1/0, other 0/0/0/1"
	if got := counts(h.take("openclaw", dir)); got != second {
		t.Errorf("the second time it brought\n%s, want\n%s", got, second)
	}
	if got := h.Found("Tuesday", ""); len(got) != 1 {
		t.Errorf("what came since: %q", got)
	}
	if got := h.Found("Seeschwalbe", ""); len(got) != 2 {
		t.Errorf("taken twice: %q", got)
	}
}

// checkChats looks at order, dates, titles and what is kept of tools.
func (h here) checkChats() {
	h.t.Helper()
	var list protocol.SessionsList
	h.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	if len(list.Sessions) != 2 || list.Sessions[0].DerivedTitle != "Work" || list.Sessions[0].UpdatedAt != 1777708801000 {
		h.t.Fatalf("the chats are %+v", list.Sessions)
	}
	var said []string
	for _, m := range h.History(list.Sessions[1].Key).Messages {
		said = append(said, m.Role+" "+m.Text())
	}
	want := "user The wifi is Seeschwalbe|assistant Noted, Seeschwalbe.|toolResult gone|assistant It is done, Kirschbaum.|" +
		"system [Not imported: line 6: it is not the JSON that it should be]"
	if got := strings.Join(said, "|"); got != want {
		h.t.Errorf("it reads\n%s, want\n%s", got, want)
	}
}

func (h here) checkRest(t *testing.T) {
	t.Helper()
	var jobs protocol.CronList
	h.Do(protocol.MethodCronList, protocol.CronListParams{IncludeDisabled: true}, &jobs)
	found := false
	for _, j := range jobs.Jobs {
		if j.Name == "morning" {
			found = j.Enabled != nil && !*j.Enabled
		}
		if j.Name == "danger" {
			t.Error("a job that runs a program came in")
		}
	}
	if !found {
		t.Errorf("the job is not there, or is switched on: %+v", jobs.Jobs)
	}
	var people protocol.ContactsList
	h.Do(protocol.MethodContactsList, nil, &people)
	if len(people.Contacts) != 1 || people.Contacts[0].ID != "4711" || people.Contacts[0].Owner || people.Contacts[0].Shared {
		t.Errorf("people: %+v", people.Contacts)
	}
	if b, err := os.ReadFile(filepath.Join(h.ws, "SOUL.md")); err != nil || string(b) != "Be like Brombeere.\n" {
		t.Errorf("SOUL.md, which was ours untouched, is %q, %v", b, err)
	}
}

// What is there already stays, and the other lies beside it.
func TestYoursStays(t *testing.T) {
	h, dir := start(t), home(t)
	ws := h.ws
	gatewaytest.PutFile(t, ws, "SOUL.md", []byte("mine"))
	gatewaytest.PutFile(t, ws, "memory/2026-05-01.md", []byte("mine too"))
	h.take("openclaw", dir)
	for name, want := range map[string]string{
		"SOUL.md": "mine", "memory/2026-05-01.md": "mine too", "imported/openclaw/SOUL.md": "Be like Brombeere.\n",
		"memory/imported/openclaw/2026-05-01.md": "# 1 May\n\nA hammock for the veranda.\n",
	} {
		if b, err := os.ReadFile(filepath.Join(ws, filepath.FromSlash(name))); err != nil || string(b) != want {
			t.Errorf("%s is %q, %v", name, b, err)
		}
	}
}

// Links that lead out of the folder, pipes and hidden names come to nothing.
func TestSec_NothingIsReadOutsideOfTheFolder(t *testing.T) {
	h, dir := start(t), home(t)
	secret := gatewaytest.PutFile(t, t.TempDir(), "secret.md", []byte("canary-outside"))
	for _, name := range []string{"workspace/memory/link.md", "agents/main/sessions/s-9.jsonl", "skills/tea/more.md"} {
		if err := os.Symlink(secret, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	gatewaytest.PutFile(t, dir, "workspace/memory/turned\u202etxt.md", []byte("x"))
	gatewaytest.PutFile(t, dir, "workspace/.ssh/id", []byte("x"))
	rep := h.take("openclaw", dir)
	ws := h.ws
	err := filepath.WalkDir(ws, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil || bytes.Contains(b, []byte("canary")) || strings.Contains(p, "\u202e") || strings.Contains(p, ".ssh") {
			t.Errorf("%s came in: %v", p, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprint(rep); strings.Contains(s, "canary") || strings.Contains(s, "\u202e") {
		t.Errorf("the report has %s", s)
	}
}

func TestExportsBecomeChats(t *testing.T) {
	h := start(t)
	gpt := `[{"title":"Trip to \u202eGraz","create_time":1777600000.5,"conversation_id":"c1","current_node":"n3","mapping":{
		"n0":{"id":"n0","parent":null,"message":null},
		"n1":{"id":"n1","parent":"n0","message":{"id":"n1","author":{"role":"user"},"create_time":1777600001,"content":{"content_type":"text","parts":["Where is the clock tower?"]},"metadata":{"attachments":[{"name":"map.pdf"}]}}},
		"n2":{"id":"n2","parent":"n1","message":{"id":"n2","author":{"role":"assistant"},"create_time":1777600002,"content":{"content_type":"text","parts":["The abandoned branch"]}}},
		"n3":{"id":"n3","parent":"n1","message":{"id":"n3","author":{"role":"assistant"},"create_time":1777600003,"content":{"content_type":"text","parts":["On the Schlossberg."]}}}}}]`
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("conversations.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(gpt)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	archive := gatewaytest.PutFile(t, t.TempDir(), "export.zip", b.Bytes())
	for range 2 {
		h.take("", archive)
	}
	claude := gatewaytest.PutFile(t, t.TempDir(), "conversations.json", []byte(`
		[{"uuid":"u1","name":"Soup","created_at":"2026-05-01T08:00:00Z","chat_messages":[
		{"uuid":"m1","sender":"human","text":"How long for lentils?","created_at":"2026-05-01T08:00:01Z"},
		{"uuid":"m2","sender":"assistant","content":[{"type":"text","text":"Half an hour."}],"created_at":"2026-05-01T08:00:02Z"}]}]`))
	if rep := h.take("", claude); rep.From != "claude" {
		t.Errorf("it is taken for one of %s", rep.Program)
	}
	for query, want := range map[string]int{
		"clock tower": 1, "map pdf": 1, "Schlossberg": 1, "abandoned": 0, "lentils": 1, "half an hour": 1,
	} {
		if got := h.Found(query, ""); len(got) != want {
			t.Errorf("%q finds %q", query, got)
		}
	}
	var list protocol.SessionsList
	h.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	titles := fmt.Sprint(list.Sessions[0].DerivedTitle, "|", list.Sessions[1].DerivedTitle)
	if len(list.Sessions) != 2 || !strings.Contains(titles, "Soup") || !strings.Contains(titles, "Trip to Graz") {
		t.Errorf("%+v", list.Sessions)
	}
}

func TestWhatCannotBeImportedIsSaid(t *testing.T) {
	h := start(t)
	for _, p := range []protocol.ImportParams{
		{From: "nobody", Path: t.TempDir()}, {From: "openclaw", Path: t.TempDir()}, {Path: "relative"},
		{Path: filepath.Join(t.TempDir(), "absent")},
		{From: "chatgpt", Path: gatewaytest.PutFile(t, t.TempDir(), "x.zip", []byte("PK\x03\x04 nothing"))},
	} {
		if said := h.Refused(protocol.MethodImportPlan, p); len(said) < 20 {
			t.Errorf("%+v: %q", p, said)
		}
	}
}
