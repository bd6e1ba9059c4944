package messaging_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// killPoints are the places between a message of a person and the network's receipt
// for its answer.
var killPoints = []string{
	"inboundAccepted", "inboundSealed", "inboundSubmitted", "beforeAcceptCommit", "afterAcceptCommit", "afterClaim", "midStream",
	"afterFinalCommit", "beforeSend", "afterSend", "afterReceipt",
}

// previewPoints are those where an answer is shown while it is written.
var previewPoints = []string{"beforePreview", "afterPreview", "afterPreviewReceipt", "afterPreviewEdit", "midStream", "beforeRemoval",
	"afterRemoval"}

// TestFault_F_CH_ProcessKills: the real gateway and the real hearth-channels are
// killed, at random instants and at every place between a message and the receipt
// for its answer, while people write all the time. Each message stands in the
// conversation once and is answered once; what nobody knows to have arrived is shown
// to the owner, is there once or not at all, and once after their decision. Where
// answers are shown while they are written, as they are unless the settings say
// otherwise, nothing half-written stays that the owner is not shown. 120 kills, 2,000
// with HEARTH_LONG=1.
func TestFault_F_CH_ProcessKills(t *testing.T) {
	for _, c := range []struct {
		name  string
		open  func(t *testing.T, v *gatewaytest.Victim, account map[string]any) network
		shown bool // while they are written
	}{{"mattermost", onMattermost, true}, {"mattermost, at once", onMattermost, false}, {"telegram", onTelegram, true}} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && c.name != "telegram" {
				t.Skip("the programs of a gateway are found in /proc, which only Linux has")
			}
			account, model, points := map[string]any{"streaming": map[string]any{"mode": "off"}}, "chat/stream-3-2", killPoints
			if c.shown {
				account, model, points = map[string]any{}, "chat/stream-12-10", slices.Concat(killPoints, previewPoints)
			}
			v := gatewaytest.NewVictim(t, model)
			gatewaytest.Channels(t)
			k := &killing{v: v, rnd: seed.New(t), net: c.open(t, v, account), began: time.Now(), hits: map[string]int{}, points: points,
				drafts: map[int]int{}, full: map[int]int{}}
			if c.shown {
				k.last = "w12"
			}
			k.begin(t)
			var pauses []time.Duration
			for range 100 {
				pauses = append(pauses, time.Duration(20+k.rnd.IntN(180))*time.Millisecond)
			}
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { defer close(done); k.write(ctx, pauses) }()
			for range seed.Rounds(40, 667) {
				k.kill()
			}
			stop()
			<-done
			if v.Cmd == nil {
				v.Start("")
			}
			gatewaytest.WaitFor(t, "the last connection", k.net.listening)
			k.sayOne() // everything that comes twice comes before it
			k.settle(t)
			k.check(t)
		})
	}
}

// network is where people write and read.
type network interface {
	say(person int, text string)
	sent() []string  // all that the bot wrote and that is there
	sends() int      // how often it wrote
	listening() bool // the gateway or its program is connected
}

// people write to the assistant, each in a conversation of their own: networks let
// a bot write once a second in one.
const people = 24

// killing is one gateway with its programs, and what is known of its messages.
type killing struct {
	v     *gatewaytest.Victim
	rnd   *rand.Rand
	net   network
	began time.Time
	said  int // messages 1…said were written; the writer's, until it has ended

	points []string    // where it is killed
	last   string      // word of a whole answer; "": answers are not shown before they are whole
	drafts map[int]int // of which message a beginning was shown as uncertain, and how often
	full   map[int]int // and the beginning was all of the answer
	stale  map[int]int // of which message the owner was told that a beginning stands beside the answer

	alone int // kills in a row that the gateway survived
	hits  map[string]int

	asked map[int]int                   // how often a message stands in a conversation
	ended map[int]protocol.ReceiptState // and how it ended
	runs  map[int]string                // which run was to answer it
	there int                           // answers that were shown as uncertain and had arrived
	lost  int                           // and had not
	mute  int                           // shown as uncertain, and nobody can see of which message they are
	aside int                           // messages that were shown as put aside
}

func number(n int) string { return fmt.Sprintf("number %d.", n) }

var numbered = regexp.MustCompile(`number (\d+)\.`)

// numbersIn are the numbers of the messages that a text names.
func numbersIn(text string) (out []int) {
	for _, m := range numbered.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		if err == nil {
			out = append(out, n)
		}
	}
	return out
}

// begin waits until the network knows the bot: what is written before its first
// connection is for nobody.
func (k *killing) begin(t *testing.T) {
	t.Helper()
	k.v.Start("")
	c := k.v.Dial(t.Context(), nil)
	if c == nil {
		t.Fatal("the gateway does not answer")
	}
	defer c.Close()
	gatewaytest.WaitFor(t, "the first connection", func() bool {
		var st protocol.ChannelsStatus
		if err := c.Call(t.Context(), protocol.MethodChannelsStatus, nil, &st); err != nil {
			t.Fatal(err)
		}
		for _, list := range st.ChannelAccounts {
			for _, a := range list {
				if a.Connected && k.net.listening() {
					return true
				}
			}
		}
		return false
	})
}

// write is what people do who see nothing of the kills.
func (k *killing) write(ctx context.Context, pauses []time.Duration) {
	for {
		k.sayOne()
		select {
		case <-time.After(pauses[k.said%len(pauses)]):
		case <-ctx.Done():
			return
		}
	}
}

func (k *killing) sayOne() {
	k.said++
	k.net.say(k.said%people, number(k.said))
}

// kill is one: of the gateway, of a program of its, or of both, at a place of the
// gateway's, while answers are sent, or at any time.
func (k *killing) kill() {
	point, moment, victim := "", k.rnd.IntN(3), k.rnd.IntN(3)
	if k.v.Cmd == nil {
		if k.rnd.IntN(3) == 0 {
			point = fmt.Sprintf("%s@%d", k.points[k.rnd.IntN(len(k.points))], 1+k.rnd.IntN(4))
		}
		k.v.Start(point)
	}
	wait, after := time.Duration(20+k.rnd.IntN(500))*time.Millisecond, time.Duration(k.rnd.IntN(15_000))*time.Microsecond
	more := 1 + k.rnd.IntN(4)
	if point != "" {
		wait = 1500 * time.Millisecond
	} else if moment > 0 {
		k.answers(more, 1500*time.Millisecond)
		wait = after
	}
	select {
	case <-k.v.Gone:
		if point == "" {
			k.v.T.Error("the gateway has ended by itself")
		}
		k.v.Cmd = nil
		k.hits["at "+strings.Split(point, "@")[0]]++
		k.alone = 0
		return
	case <-time.After(wait):
	}
	programs := k.programs()
	if len(programs) == 0 || k.alone > 2 || point != "" {
		victim = 0 // a program that dies again and again is left alone for longer and longer
	}
	switch victim {
	case 0:
		k.v.Kill()
		k.hits["gateway"]++
	case 1:
		end(programs[k.rnd.IntN(len(programs))])
		k.hits["program"]++
		k.alone++
		return
	case 2:
		end(programs[k.rnd.IntN(len(programs))])
		k.v.Kill()
		k.hits["both"]++
	}
	k.alone = 0
}

// answers waits until so many more were sent, and not longer than most.
func (k *killing) answers(more int, most time.Duration) {
	late := time.After(most)
	for want := k.net.sends() + more; k.net.sends() < want; {
		select {
		case <-time.After(2 * time.Millisecond):
		case <-k.v.Gone:
			return
		case <-late:
			return
		}
	}
}

func end(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Signal(syscall.SIGKILL)
	}
}

// programs are the processes that the gateway has started: hearth-channels, and who
// watches over it.
func (k *killing) programs() (out []int) {
	if k.v.Cmd == nil {
		return nil
	}
	parents := map[int]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range dirs {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(raw), ") ") // pid (name) state parent
		var state string
		var parent int
		pid, bad := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if _, err := fmt.Sscan(rest, &state, &parent); err == nil && bad == nil && state != "Z" {
			parents[pid] = parent
		}
	}
	for pid := range parents {
		for up := parents[pid]; up > 1; up = parents[up] {
			if up == k.v.Cmd.Process.Pid {
				out = append(out, pid)
				break
			}
		}
	}
	slices.Sort(out)
	return out
}
