package inbound

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/internal/seed"
)

func no() *bool { return new(bool) }

func TestWhoMayTalk(t *testing.T) {
	direct, grp, room := dm("1", "hi"), group("1", "hi", true), group("1", "hi", true)
	room.Chat = channel.Room
	bot := direct
	bot.SenderIsBot = true
	silent := group("1", "hi", false)
	listedGroup := map[string]GroupRule{"-100": {}}
	tests := []struct {
		name  string
		p     Policy
		in    channel.Inbound
		known *contact.Contact
		want  Rule
	}{
		{"pairing is the default", Policy{}, direct, nil, RulePairing},
		{"pairing, approved", Policy{DM: DMPairing}, direct, &contact.Contact{}, RuleAccepted},
		{"pairing, in allowFrom", Policy{DM: DMPairing, AllowFrom: []string{"42"}}, direct, nil, RuleAccepted},
		{"allowlist, listed", Policy{DM: DMAllowlist, AllowFrom: []string{"7", "telegram:42"}}, direct, nil, RuleAccepted},
		{"allowlist, not listed", Policy{DM: DMAllowlist, AllowFrom: []string{"7"}}, direct, nil, RuleDMAllowlist},
		{"allowlist does not look at approvals", Policy{DM: DMAllowlist}, direct, &contact.Contact{}, RuleDMAllowlist},
		{"allowlist, everybody", Policy{DM: DMAllowlist, AllowFrom: []string{"*"}}, direct, nil, RuleAccepted},
		{"open", Policy{DM: DMOpen}, direct, nil, RuleAccepted},
		{"disabled", Policy{DM: DMDisabled, AllowFrom: []string{"*"}}, direct, &contact.Contact{Owner: true}, RuleDMDisabled},
		{"a policy nobody knows", Policy{DM: "opne"}, direct, nil, RuleDMDisabled},
		{"bots are ignored", Policy{DM: DMOpen}, bot, nil, RuleBot},
		{"bots if wanted", Policy{DM: DMOpen, AllowBots: true}, bot, nil, RuleAccepted},

		{"no group is the default", Policy{DM: DMOpen}, grp, nil, RuleGroupAllowlist},
		{"a listed group", Policy{Groups: listedGroup}, grp, nil, RuleAccepted},
		{"all groups listed", Policy{Groups: map[string]GroupRule{"*": {}}}, grp, nil, RuleAccepted},
		{"another group", Policy{Groups: map[string]GroupRule{"-200": {}}}, grp, nil, RuleGroupAllowlist},
		{"rooms follow the same rules", Policy{Groups: map[string]GroupRule{"-200": {}}}, room, nil, RuleGroupAllowlist},
		{"open groups", Policy{Group: GroupOpen}, grp, nil, RuleAccepted},
		{"groups disabled", Policy{Group: GroupDisabled, Groups: listedGroup}, grp, nil, RuleGroupDisabled},
		{"a group policy nobody knows", Policy{Group: "opne", Groups: listedGroup}, grp, nil, RuleGroupDisabled},
		{"one group switched off", Policy{Group: GroupOpen, Groups: map[string]GroupRule{"-100": {Disabled: true}}}, grp, nil, RuleGroupDisabled},
		{"senders of groups", Policy{Groups: listedGroup, GroupAllowFrom: []string{"42"}}, grp, nil, RuleAccepted},
		{"other senders of groups", Policy{Groups: listedGroup, GroupAllowFrom: []string{"7"}}, grp, nil, RuleGroupSender},
		{"senders of one group", Policy{Groups: map[string]GroupRule{"-100": {AllowFrom: []string{"42"}}}, GroupAllowFrom: []string{"7"}}, grp,
			nil, RuleAccepted},
		{"a mention is needed", Policy{Groups: listedGroup}, silent, nil, RuleMention},
		{"a mention is needed in open groups", Policy{Group: GroupOpen}, silent, nil, RuleMention},
		{"a topic that is switched off", Policy{Groups: map[string]GroupRule{"-100": {Topics: map[string]GroupRule{"1": {Disabled: true}}}}}, grp,
			nil, RuleGroupDisabled},
		{"another topic is", Policy{Groups: map[string]GroupRule{"-100": {Topics: map[string]GroupRule{"5": {Disabled: true}}}}}, grp, nil,
			RuleAccepted},
		{"a mention is not needed", Policy{Groups: map[string]GroupRule{"-100": {RequireMention: no()}}}, silent, nil, RuleAccepted},
	}
	for _, tc := range tests {
		if v := tc.p.admit(tc.in, tc.known); v.rule != tc.want || v.rule != RuleAccepted && v.detail == "" {
			t.Errorf("%s: %+v, want %s", tc.name, v, tc.want)
		}
	}
}

func TestSec_A_PAIR_15_NamesAreNoIdentity(t *testing.T) {
	p := Policy{DM: DMAllowlist, AllowFrom: []string{"Ann", "ann", "@ann", "Ann (@ann)"}, Owners: []string{"ann"}}
	if v := p.admit(dm("1", "hi"), nil); v.rule != RuleDMAllowlist {
		t.Errorf("a name let somebody in: %+v", v)
	}
	renamed := dm("1", "hi")
	renamed.SenderName, renamed.SenderHandle = "Someone else", ""
	if v := (Policy{DM: DMAllowlist, AllowFrom: []string{"42"}}).admit(renamed, nil); v.rule != RuleAccepted {
		t.Errorf("a new name locked somebody out: %+v", v)
	}
}

func TestSec_A_PAIR_16_AnEmptyListIsNobody(t *testing.T) {
	for _, list := range [][]string{nil, {}, {""}, {" "}, {"telegram:"}} {
		if v := (Policy{DM: DMAllowlist, AllowFrom: list}).admit(dm("1", "hi"), nil); v.rule != RuleDMAllowlist {
			t.Errorf("%q: %+v", list, v)
		}
		if list == nil {
			continue
		}
		if v := (Policy{Group: GroupOpen, GroupAllowFrom: list}).admit(group("1", "hi", true), nil); v.rule != RuleGroupSender {
			t.Errorf("group, %q: %+v", list, v)
		}
	}
}

func TestSec_A_PAIR_17_OnlyWholeIdsMatch(t *testing.T) {
	for _, id := range []string{"", "4", "2", "142", "421", " 42", "42 ", "+42", "４２", "42\u200b", "discord:42", "telegram:telegram:42"} {
		if v := (Policy{DM: DMAllowlist, AllowFrom: []string{id}}).admit(dm("1", "hi"), nil); v.rule == RuleAccepted {
			t.Errorf("%q let 42 in", id)
		}
		in := dm("1", "hi")
		in.SenderID = id
		if v := (Policy{DM: DMAllowlist, AllowFrom: []string{"42"}}).admit(in, nil); v.rule == RuleAccepted {
			t.Errorf("42 let %q in", id)
		}
	}
	inBubble(t, nil, func(t *testing.T, h *house) {
		nobody := dm("1", "hi")
		nobody.SenderID = ""
		h.receive(nobody)
		synctest.Wait()
		h.want("")
		if h.rules() != string(RuleMalformed) {
			t.Error(h.rules())
		}
	})
}

func TestSec_A_PAIR_18_ADirectApprovalGrantsNoGroup(t *testing.T) {
	known := &contact.Contact{Owner: true}
	if v := (Policy{}).admit(group("1", "hi", true), known); v.rule != RuleGroupAllowlist {
		t.Errorf("%+v", v)
	}
	if v := (Policy{Group: GroupOpen, GroupAllowFrom: []string{"7"}}).admit(group("1", "hi", true), known); v.rule != RuleGroupSender {
		t.Errorf("%+v", v)
	}
	if v := (Policy{Group: GroupOpen}).admit(group("1", "hi", true), known); v.owner {
		t.Error("an approval for direct chats made an owner in a group")
	}
}

func TestWhoIsOwner(t *testing.T) {
	for name, tc := range map[string]struct {
		p     Policy
		known *contact.Contact
		want  bool
	}{
		"listed":            {Policy{DM: DMOpen, Owners: []string{"telegram:42"}}, nil, true},
		"approved as owner": {Policy{DM: DMPairing}, &contact.Contact{Owner: true}, true},
		"only approved":     {Policy{DM: DMPairing}, &contact.Contact{}, false},
		"everybody is none": {Policy{DM: DMOpen, Owners: []string{"*"}, AllowFrom: []string{"42"}}, nil, false},
	} {
		if v := tc.p.admit(dm("1", "/send on"), tc.known); v.rule != RuleAccepted || v.owner != tc.want {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// An edit or any other kind of message meets the same rules.
func TestSec_A_PAIR_19_EditsPassTheSameGate(t *testing.T) {
	inBubble(t, func(h *house) { debounced(h); h.policy = Policy{DM: DMAllowlist, AllowFrom: []string{"42"}} }, func(t *testing.T, h *house) {
		h.receive(dm("1", "mine"))
		h.policy.AllowFrom = nil
		in := dm("1", "changed")
		in.Edited = true
		h.receive(in)
		pass(3 * time.Second)
		h.want("mine")
		if got := h.rules(); got != "dm-allowlist accepted" {
			t.Error(got)
		}
	})
}

func TestPairingInAChat(t *testing.T) {
	inBubble(t, func(h *house) { h.policy = Policy{} }, func(t *testing.T, h *house) {
		for i := range 5 {
			h.receive(dm(fmt.Sprint(i), "let me in"))
		}
		synctest.Wait()
		h.want("")
		if len(h.told) != 1 {
			t.Fatalf("told %d times: %q", len(h.told), h.told)
		}
		waiting, err := h.Contacts.Requests()
		if err != nil || len(waiting) != 1 || !strings.Contains(h.told[0], waiting[0].Code) {
			t.Fatalf("%+v, %v; told %q", waiting, err, h.told)
		}
		if _, err := h.Contacts.Approve(t.Context(), "telegram", strings.ToLower(waiting[0].Code), contact.Rights{Owner: true}); err != nil {
			t.Fatal(err)
		}
		h.receive(dm("9", "thanks"))
		synctest.Wait()
		h.want("thanks")
		if !h.sessions.got[0].SenderIsOwner {
			t.Error("approved as owner, but is none")
		}
		if got := h.rules(); got != strings.Repeat("pairing ", 5)+"accepted" {
			t.Error(got)
		}
	})
}

// Strangers cannot fill the owner's screen or the disk.
func TestSec_A_PAIR_09_AFloodOfStrangers(t *testing.T) {
	inBubble(t, func(h *house) { h.policy = Policy{} }, func(t *testing.T, h *house) {
		for i := range 500 {
			h.receive(by(dm("1", "me too"), fmt.Sprint(1000+i), "X"))
		}
		waiting, err := h.Contacts.Requests()
		if err != nil || len(waiting) != 3 || len(h.told) != 3 {
			t.Errorf("%d wait, %d were told, %v", len(waiting), len(h.told), err)
		}
	})
}

// Every message is brought one to five times, in any order, over restarts,
// some under a new id: one turn each.
func TestFault_F_CHAN_01_Redelivery(t *testing.T) {
	for n := range uint64(5) {
		rng := seed.Fixed(t, n)
		inBubble(t, func(h *house) {
			if n%2 == 1 {
				debounced(h)
			}
		}, func(t *testing.T, h *house) {
			var all []channel.Inbound
			for i := range 40 {
				in := dm(fmt.Sprint(i), fmt.Sprintf("message %d", i))
				in.At = in.At.Add(time.Duration(i)*time.Second + 7*time.Millisecond) // a network that tells moments apart
				if i%3 == 0 {
					in = by(in, "43", "Bob")
				}
				for n := range 1 + rng.IntN(5) {
					if n == 4 {
						in.MessageID += "-again"
					}
					all = append(all, in)
				}
			}
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			for i, in := range all {
				h.receive(in)
				if i%17 == 0 {
					h.restart()
				}
				if i%29 == 0 {
					pass(time.Duration(rng.IntN(3600)) * time.Second)
				}
			}
			pass(6 * 24 * time.Hour)
			h.restart()
			for _, in := range all {
				h.receive(in)
			}
			pass(time.Minute)
			seen := map[string]int{}
			for line := range strings.FieldsFuncSeq(h.sessions.bodies(), func(r rune) bool { return r == '|' || r == '\n' }) {
				seen[line]++
			}
			for i := range 40 {
				if times := seen[fmt.Sprintf("message %d", i)]; times != 1 {
					t.Errorf("seed %d: message %d came through %d times", n, i, times)
				}
			}
			if t.Failed() {
				t.Log(h.rules(), h.Waiting())
			}
		})
	}
}

func TestDedupe(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, h *house) {
		in := dm("1", "hello")
		h.receive(in)
		h.receive(in)
		h.receive(by(in, "43", "Bob")) // another person's message of that id
		other := in
		other.Account = "work"
		h.receive(other)
		noID := in
		noID.MessageID, noID.Text = "", "no id"
		h.receive(noID)
		h.receive(noID)
		noID.At = noID.At.Add(time.Minute) // said again
		h.receive(noID)
		noID.At, noID.Text = time.Time{}, "neither id nor time"
		h.receive(noID)
		h.receive(noID)
		pass(time.Minute)
		again := dm("2", "hello") // the same words a moment later: answered, and marked
		h.receive(again)
		pass(time.Hour)
		h.receive(dm("3", "hello")) // and an hour later, as people do
		synctest.Wait()
		h.want("hello|hello|hello|no id|no id|neither id nor time|hello|hello")
		var marks []bool
		for _, a := range h.sessions.got {
			marks = append(marks, a.PossibleRepeat)
		}
		if diff := cmp.Diff([]bool{false, false, false, false, true, false, true, false}, marks); diff != "" {
			t.Error(diff)
		}
		if got := h.rules(); strings.Count(got, string(RuleDuplicate)) != 2 || strings.Count(got, string(RulePossibleRepeat)) != 1 {
			t.Error(got)
		}
		pass(8 * 24 * time.Hour) // what is a week old is forgotten
		in.Text, in.At = "an id that comes again", time.Now()
		h.receive(in)
		pass(time.Minute)
		if got := h.sessions.bodies(); !strings.HasSuffix(got, "|an id that comes again") {
			t.Error(got)
		}
	})
}

// A network that tells whole seconds: whoever writes the same words twice in one
// of them wrote two messages, and the network says so by their ids. Both are
// answered; neither coming again is.
func TestTheSameWordsInOneSecondAreTwoMessages(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, h *house) {
		first, second, overheard := dm("1", "yes"), dm("2", "yes"), group("3", "yes", false)
		again := overheard
		again.MessageID = "4"
		for range 3 {
			for _, in := range []channel.Inbound{first, second, overheard, again} {
				in.At = first.At
				h.receive(in)
			}
			h.restart()
		}
		asked := group("5", "what did they say?", true)
		h.receive(asked)
		synctest.Wait()
		h.want("yes|yes|what did they say?")
		if a := h.sessions.got; a[0].PossibleRepeat || !a[1].PossibleRepeat || len(a[2].Prompt.History) != 2 {
			t.Errorf("marked %v and %v, history %q", a[0].PossibleRepeat, a[1].PossibleRepeat, a[2].Prompt.History)
		}
	})
}

// Where senders choose the ids of their messages, nobody can take another's.
func TestSec_A_CHAN_NobodyTakesAnothersMessageID(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, h *house) {
		h.receive(by(group("1", "first", true), "66", "Eve"))
		h.receive(group("1", "mine", true))
		synctest.Wait()
		h.want("first|mine")
	})
}

func TestFault_F_CHAN_07_PoisonIsPutAside(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, h *house) {
		tries := 0
		h.sessions.try = func(a Accepted) error {
			switch {
			case strings.Contains(a.CommandBody, "poison"):
				tries++
				panic("boom")
			case strings.Contains(a.CommandBody, "refused"):
				return fmt.Errorf("%w: the queue is full", ErrRefused)
			}
			return nil
		}
		h.receive(dm("1", "poison "+strings.Repeat("x", 1000)))
		h.receive(by(dm("2", "bob is not held back"), "43", "Bob"))
		h.receive(dm("3", "ann waits"))
		h.receive(dm("4", "refused"))
		synctest.Wait()
		h.want("bob is not held back")
		pass(time.Minute)
		h.want("bob is not held back|ann waits")
		list, err := h.Quarantine()
		if err != nil || len(list) != 1 || tries != 3 {
			t.Fatalf("%d put aside after %d tries, %v", len(list), tries, err)
		}
		if q := list[0]; !strings.HasPrefix(q.Preview, "poison xxx") || len(q.Preview) > 250 || !strings.Contains(q.Reason, "boom") ||
			q.MessageIDs[0] != "1" {
			t.Errorf("%+v", q)
		}
		if got := h.rules(); got != "accepted quarantined accepted refused" {
			t.Error(got)
		}
		h.restart()
		pass(time.Minute)
		if tries != 3 {
			t.Error("it was tried again after a restart")
		}
	})
}

// A message that cannot even be kept is refused twice, so that the network
// brings it again, and then put aside.
func TestFault_F_CHAN_07_PoisonBeforeItIsKept(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, h *house) {
		h.Gate.IsCommand = func(text string) bool {
			if text == "poison" {
				panic("boom")
			}
			return false
		}
		for i := range 2 {
			if err := h.Receive(t.Context(), dm("1", "poison")); err == nil {
				t.Fatalf("delivery %d was acknowledged", i)
			}
		}
		h.receive(dm("1", "poison"))
		h.receive(dm("2", "next"))
		synctest.Wait()
		h.want("next")
		if list, err := h.Quarantine(); err != nil || len(list) != 1 {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

// A crash in the middle of one message, again and again, costs that message
// and no other.
func TestFault_F_CHAN_07_ACrashLoopEnds(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, h *house) {
		hang := make(chan struct{})
		defer close(hang)
		h.sessions.try = func(a Accepted) error {
			if a.CommandBody == "crash" {
				return context.Canceled // as if the process ended here
			}
			return nil
		}
		h.receive(dm("1", "crash"))
		h.receive(dm("2", "next"))
		synctest.Wait()
		for range maxAttempts {
			h.stop()
			h.open() // and ends before the session answers
			if err := h.recover(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		h.sessions.try = nil
		h.restart()
		pass(time.Minute)
		h.want("next")
	})
}

func TestBusyIsNotTheMessagesFault(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, h *house) {
		h.sessions.try = func(Accepted) error { return fmt.Errorf("%w: stopping", ErrBusy) }
		h.receive(dm("1", "patience"))
		pass(10 * time.Minute)
		h.sessions.mu.Lock()
		h.sessions.try = nil
		h.sessions.mu.Unlock()
		pass(time.Minute)
		h.want("patience")
	})
}

func TestMalformedAndEmpty(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, h *house) {
		long, noChat, empty := dm("1", "x"), dm("2", "x"), dm("3", "")
		long.Conversation = strings.Repeat("x", 1000)
		noChat.Chat = "party"
		for _, in := range []channel.Inbound{{}, long, noChat, empty} {
			h.receive(in)
		}
		huge := dm("4", strings.Repeat("ß", 1<<20))
		h.receive(huge)
		synctest.Wait()
		if got := h.rules(); got != "malformed malformed malformed empty accepted" {
			t.Error(got)
		}
		if n := len(h.sessions.got[0].CommandBody); n > longestText+100 {
			t.Errorf("%d bytes of text", n)
		}
	})
}

func TestAcceptFailsWhenTheStoreIsClosed(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, h *house) {
		h.stop()
		if err := h.Receive(t.Context(), dm("1", "x")); err == nil {
			t.Error("a message was acknowledged that is nowhere")
		} else if errors.Is(err, ErrRefused) {
			t.Error(err)
		}
	})
}
