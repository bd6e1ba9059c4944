package gateway_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
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

func newVictim(t *testing.T, primary string) *victim {
	t.Helper()
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

func (v *victim) deliverAs(ctx context.Context, c *client.Client, p protocol.ChatSendParams) (*client.Client, protocol.ChatSendResult, bool) {
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

// Killed before the accept is on disk: there was no acknowledgement, the client
// sends again, and there is one message. Killed after it: the same, although
// the first one had been stored.
func TestFault_F_CRASH_01_02_AroundTheAccept(t *testing.T) {
	for _, point := range []string{"beforeAcceptCommit", "afterAcceptCommit"} {
		t.Run(point, func(t *testing.T) {
			v := newVictim(t, "chat/echo")
			v.start(point)
			ctx := v.background()
			acked := make(chan protocol.ChatSendResult, 1)
			go func() {
				_, res, _ := v.deliver(ctx, nil, "main", "k", "remember me")
				acked <- res
			}()
			v.died()
			v.start("")
			res := <-acked
			if dup := res.Status != protocol.SendStarted; dup != (point == "afterAcceptCommit") {
				t.Errorf("the second send was answered %q", res.Status)
			}
			msgs := v.settled(mainKey)[mainKey]
			if len(msgs) != 2 || msgs[0].Text() != "remember me" || msgs[1].Text() != "echo: remember me" {
				t.Errorf("transcript: %+v", msgs)
			}
		})
	}
}

// Ten messages wait behind a running answer when the process is killed: all
// ten are answered after the start, in order, each once.
func TestFault_F_CRASH_03_QueueSurvives(t *testing.T) {
	v := newVictim(t, "chat/stream-200-20")
	v.start("")
	ctx := v.background()
	c := v.dial(ctx, nil)
	for i := range 11 {
		var ok bool
		if c, _, ok = v.deliver(ctx, c, "main", fmt.Sprintf("q%d", i), fmt.Sprintf("message %d", i)); !ok {
			t.Fatal("not acknowledged")
		}
	}
	v.kill()
	writeConfig(t, v.dir, v.url, "chat/echo")
	v.start("")
	turns := turnsOf(v.settled(mainKey)[mainKey])
	if len(turns) != 11 {
		t.Fatalf("%d turns, want 11", len(turns))
	}
	for i, turn := range turns {
		if turn[0].Text() != fmt.Sprintf("message %d", i) || len(turn) != 2 {
			t.Errorf("turn %d: %+v", i, turn)
		}
		if i > 0 && turn[1].Text() != fmt.Sprintf("echo: message %d", i) {
			t.Errorf("answer %d: %q", i, turn[1].Text())
		}
	}
}

// Killed right after the claim, or while the model has not said a word: nobody
// has seen anything, so the answer is simply made.
func TestFault_F_CRASH_04_05_BeforeTheFirstWord(t *testing.T) {
	t.Run("claimed", func(t *testing.T) {
		v := newVictim(t, "chat/echo")
		v.start("afterClaim")
		ctx := v.background()
		go v.deliver(ctx, nil, "main", "k", "hello")
		v.died()
		v.start("")
		msgs := v.settled(mainKey)[mainKey]
		if len(msgs) != 2 || msgs[1].Text() != "echo: hello" {
			t.Errorf("transcript: %+v", msgs)
		}
	})
	t.Run("requested", func(t *testing.T) {
		v := newVictim(t, "chat/fault-slowfirst-60000")
		v.start("")
		ctx := v.background()
		if _, _, ok := v.deliver(ctx, nil, "main", "k", "hello"); !ok {
			t.Fatal("not acknowledged")
		}
		for v.model.Calls("hello") == 0 && ctx.Err() == nil {
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
			}
		}
		v.kill()
		writeConfig(t, v.dir, v.url, "chat/echo")
		v.start("")
		msgs := v.settled(mainKey)[mainKey]
		if len(msgs) != 2 || msgs[1].Text() != "echo: hello" {
			t.Errorf("transcript: %+v", msgs)
		}
	})
}

// Killed in the middle of an answer: the text that was checkpointed is kept
// and marked, nothing stands twice.
func TestFault_F_CRASH_06_MidStream(t *testing.T) {
	v := newVictim(t, "chat/stream-300-10")
	v.start("midStream@150")
	ctx := v.background()
	c, _, ok := v.deliver(ctx, nil, "main", "k", "tell me")
	if !ok {
		t.Fatal("not acknowledged")
	}
	defer c.Close()
	v.died()
	v.start("")
	msgs := v.settled(mainKey)[mainKey]
	if len(msgs) != 2 {
		t.Fatalf("transcript: %+v", msgs)
	}
	text := msgs[1].Text()
	if msgs[0].Hearth.State != protocol.ReceiptInterrupted || msgs[1].StopReason != "interrupted" || msgs[1].ErrorMessage == "" {
		t.Errorf("receipt %+v, answer %+v", msgs[0].Hearth, msgs[1])
	}
	if !strings.HasPrefix(text, "re: tell me\nw1 w2 ") || strings.Count(text, "w1 ") != 1 {
		t.Errorf("partial text %q", text)
	}
	if n := v.model.Calls("tell me"); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

// Killed between a tool's intent and its result: the tool is not run again by
// itself, and both the model and the person are told that its end is unknown.
func TestFault_F_CRASH_07_ToolIntent(t *testing.T) {
	for _, point := range []string{"afterToolIntent", "beforeToolResult"} {
		t.Run(point, func(t *testing.T) {
			v := newVictim(t, "chat/tool-session_status")
			v.start(point)
			go v.deliver(v.background(), nil, "main", "k", "status?")
			v.died()
			v.start("")
			turn := v.settled(mainKey)[mainKey]
			if len(turn) != 3 || turn[1].Content[len(turn[1].Content)-1].Type != protocol.BlockToolCall {
				t.Fatalf("transcript: %+v", turn)
			}
			if !turn[2].IsError || !strings.Contains(turn[2].Text(), "Unknown") || turn[0].Hearth.State != protocol.ReceiptInterrupted {
				t.Errorf("tool result %+v, receipt %+v", turn[2], turn[0].Hearth)
			}
		})
	}
}

// Killed after the final answer is on disk: it is delivered from the outbox and
// the model is not asked again.
func TestFault_F_CRASH_10_AfterTheFinal(t *testing.T) {
	for _, point := range []string{"afterFinalCommit", "beforeDelivery"} {
		t.Run(point, func(t *testing.T) {
			v := newVictim(t, "chat/echo")
			v.start(point)
			go v.deliver(v.background(), nil, "main", "k", "once")
			v.died()
			v.start("")
			msgs := v.settled(mainKey)[mainKey]
			if len(msgs) != 2 || msgs[1].Text() != "echo: once" || msgs[0].Hearth.State != protocol.ReceiptAnswered {
				t.Errorf("transcript: %+v", msgs)
			}
			if n := v.model.Calls("once"); n != 1 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}

const (
	crashPoints  = 200 // kills of TestFault_F_CRASH_19
	crashClients = 20
	crashKeys    = 10 // sessions; two clients share each
)

// Two hundred kills at random times and at every failpoint, under twenty
// clients that send without pause: no acknowledged message is lost, none is
// doubled, each ends in one visible state, and order is kept.
func TestFault_F_CRASH_19_RandomKills(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	v := newVictim(t, "chat/stream-12-3")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()

	senders := make([]*sender, crashClients)
	var wg sync.WaitGroup
	for i := range senders {
		s := &sender{v: v, id: i, key: fmt.Sprintf("agent:main:crash-%d", i%crashKeys)}
		senders[i] = s
		wg.Go(func() { s.run(ctx) })
	}
	points := []string{"beforeAcceptCommit", "afterAcceptCommit", "afterClaim", "midStream", "afterFinalCommit", "beforeDelivery"}
	byPoint := map[string]int{}
	for n := range crashPoints {
		fp, wait := "", time.Duration(20+rnd.IntN(250))*time.Millisecond
		if n%2 == 0 {
			name := points[rnd.IntN(len(points))]
			fp = fmt.Sprintf("%s@%d", name, 1+rnd.IntN(40))
			byPoint[name]++
			wait = 2 * time.Second
		}
		v.start(fp)
		select {
		case <-v.gone: // by its failpoint
			v.cmd = nil
		case <-time.After(wait):
			v.kill()
		}
	}
	v.start("")
	stop()
	wg.Wait()

	keys := make([]string, crashKeys)
	for i := range keys {
		keys[i] = fmt.Sprintf("agent:main:crash-%d", i)
	}
	checkHistory(t, v.settled(keys...), senders)
	t.Logf("%d kills, at failpoints: %v", crashPoints, byPoint)
}

// sender sends numbered messages in order, each until it is acknowledged.
type sender struct {
	v   *victim
	id  int
	key string
	// mode, when set, says in which mode message n is sent.
	mode func(n int) string

	acked   int  // messages 0…acked-1 were acknowledged
	pending bool // message number acked was sent and not acknowledged
}

func (s *sender) text(n int) string  { return fmt.Sprintf("c%d-m%d says hello", s.id, n) }
func (s *sender) runID(n int) string { return fmt.Sprintf("run-%d-%d", s.id, n) }

func (s *sender) run(ctx context.Context) {
	var c *client.Client
	for ctx.Err() == nil {
		n := s.acked
		s.pending = true
		var ok bool
		p := protocol.ChatSendParams{SessionKey: s.key, Message: s.text(n), IdempotencyKey: s.runID(n)}
		if s.mode != nil {
			p.QueueMode = s.mode(n)
		}
		c, _, ok = s.v.deliverAs(ctx, c, p)
		if !ok {
			break
		}
		s.acked, s.pending = n+1, false
		if n%3 == 2 && c != nil { // let the queue drain now and then
			_ = c.Call(ctx, protocol.MethodAgentWait, protocol.AgentWaitParams{RunID: s.runID(n), TimeoutMs: 1000}, nil)
		}
	}
	if c != nil {
		_ = c.Close()
	}
}

// checkHistory holds the transcripts against what the clients know.
func checkHistory(t *testing.T, transcripts map[string][]protocol.Message, senders []*sender) {
	t.Helper()
	seen := map[string]int{}
	states := map[protocol.ReceiptState]int{}
	for key, msgs := range transcripts {
		last := map[int]int{} // per client, the number of its last message
		var seq int64
		for _, turn := range turnsOf(msgs) {
			asked := turn[0]
			if asked.Meta.Seq <= seq {
				t.Fatalf("%s: positions do not rise", key)
			}
			seq = asked.Meta.Seq
			var id, n int
			if _, err := fmt.Sscanf(asked.Text(), "c%d-m%d says hello", &id, &n); err != nil {
				t.Fatalf("%s holds a message nobody sent: %q", key, asked.Text())
			}
			if prev, ok := last[id]; ok && n != prev+1 || !ok && n != 0 {
				t.Errorf("client %d: message %d follows %d", id, n, prev)
			}
			last[id] = n
			seen[asked.Meta.RunID]++
			states[asked.Hearth.State]++
			checkTurn(t, turn)
		}
	}
	total := 0
	for _, s := range senders {
		total += s.acked
		for n := range s.acked {
			if c := seen[s.runID(n)]; c != 1 {
				t.Errorf("acknowledged message %s stands %d times", s.text(n), c)
			}
		}
		if s.pending && seen[s.runID(s.acked)] > 1 {
			t.Errorf("unacknowledged message %s stands twice", s.text(s.acked))
		}
	}
	if total < crashClients {
		t.Errorf("only %d messages were acknowledged", total)
	}
	t.Logf("%d messages acknowledged, 0 lost, 0 doubled; ended: %v", total, states)
}

func checkTurn(t *testing.T, turn []protocol.Message) {
	t.Helper()
	asked := turn[0]
	whole := "re: " + asked.Text() + "\n"
	for i := 1; i <= 12; i++ {
		whole += fmt.Sprintf("w%d ", i)
	}
	switch asked.Hearth.State {
	case protocol.ReceiptAnswered:
		if len(turn) != 2 || strings.TrimSpace(turn[1].Text()) != strings.TrimSpace(whole) {
			t.Errorf("%s: answered with %d entries: %q", asked.Text(), len(turn)-1, turn[len(turn)-1].Text())
		}
	case protocol.ReceiptInterrupted:
		if len(turn) != 2 || !strings.HasPrefix(whole, turn[1].Text()) {
			t.Errorf("%s: interrupted with %+v", asked.Text(), turn[1:])
		}
	case protocol.ReceiptFailed, protocol.ReceiptDropped: // given up, or gave way in a full queue
		if len(turn) != 1 || asked.Hearth.Error == "" {
			t.Errorf("%s: %s with %+v", asked.Text(), asked.Hearth.State, turn)
		}
	default:
		t.Errorf("%s: no visible end, state %q", asked.Text(), asked.Hearth.State)
	}
}
