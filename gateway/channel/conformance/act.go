package conformance

import (
	"errors"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

// actRows are about what people and assistants do besides writing.
func actRows() []Row {
	able := func(a channel.Ability, why string) func(*Setup) string {
		return func(s *Setup) string { return unless(can(s, a), why) }
	}
	return []Row{
		{Name: "Choices", What: "buttons are shown, one that is pressed comes in, words are said to who pressed, and the buttons go",
			Do: "show choices of send as buttons; tell of a press with choice in inbound; answer answer, and settle by taking the " +
				"buttons away",
			run: testChoices, hears: true, cannot: able(channel.CanChoose, "it has no buttons")},
		{Name: "ChoiceComesAgain", What: "a press that was not accepted is offered again, with the same ids, or who pressed is told",
			Do:  "offer it again after an error, or say that it did not arrive",
			run: testChoiceAgain, alone: true, cannot: func(s *Setup) string { return unless(can(s, channel.CanChoose), "it has no buttons") }},
		{Name: "ReactionIn", What: "an emoji that somebody puts on a message comes in, and names the message",
			Do:  "set reaction of inbound, with the id that send was answered with",
			run: testReactionIn, hears: true, cannot: func(s *Setup) string {
				return unless(s.Channel.Limits().Heard, "it is not told of reactions")
			}},
		{Name: "Poll", What: "a poll is shown with its answers",
			Do:  "answer poll with the id of its message",
			run: testPoll, cannot: able(channel.CanPoll, "it has no polls")},
		{Name: "Silently", What: "a message comes without a sound when that is wished, and with one when not",
			Do:  "obey manner.silent of send, or leave it out of the limits",
			run: testSilently, cannot: func(s *Setup) string {
				return unless(s.Channel.Limits().Manner.Silent, "every message comes with a sound")
			}},
		{Name: "Pin", What: "a message is pinned, and let go",
			Do:  "answer pin when the network took it",
			run: testPin, cannot: able(channel.CanPin, "it pins nothing")},
		{Name: "Menu", What: "commands stand in the network's menu, in the languages that it has, and make way for the next ones",
			Do:  "answer menu when the network took the list",
			run: testMenu, cannot: able(channel.CanMenu, "it has no menu of commands")},
		{Name: "Read", What: "what was said before is read, the newest last, and no more than asked for",
			Do:  "answer read with the newest messages before the one that is named",
			run: testRead, cannot: able(channel.CanRead, "it cannot read what was said before")},
		{Name: "Search", What: "words are found in what was said, the newest last, and no more than asked for",
			Do:  "answer search with the newest messages that have the words",
			run: testSearch, cannot: able(channel.CanSearch, "it cannot search; what it reads is searched here")},
	}
}

func someChoices() []channel.Choice {
	return []channel.Choice{{Data: "q1.Ab-c_0", Label: "Yes, do it", Tone: channel.Good},
		{Data: "q1.Ab-c_1", Label: "No", Tone: channel.Danger}}
}

// press is somebody pressing a button of a message.
func (s *Setup) press(n int, messageID, data string) {
	in := s.Inbound
	in.MessageID = s.id(n)
	in.Press = channel.Press{ID: s.id(n), Data: data, MessageID: messageID}
	s.Net.Receive(in)
}

func (s *Setup) seen(t T, messageID string) loopback.Message {
	t.Helper()
	for _, m := range s.Net.Messages() {
		if m.ID == messageID {
			return m
		}
	}
	t.Fatalf("people do not see message %q: %+v", messageID, s.Net.Messages())
	return loopback.Message{}
}

func testChoices(t T, s *Setup) {
	chooser, _ := channel.AsChooser(s.Channel)
	ask := channel.Message{To: s.Target, Text: "May I?", Choices: someChoices()}
	r, err := s.Channel.Send(bounded(t, s), ask)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if m := s.seen(t, r.MessageID); m.Text != ask.Text || len(m.Choices) != 2 || m.Choices[0].Label != "Yes, do it" ||
		m.Choices[1].Data != "q1.Ab-c_1" {
		t.Fatalf("people see %+v", m)
	}
	s.press(1, r.MessageID, "q1.Ab-c_1")
	in := next(t, s, s.got)
	if in.Press.Data != "q1.Ab-c_1" || in.Press.MessageID != r.MessageID || in.Press.ID == "" || in.SenderID == "" || in.MessageID == "" ||
		in.Text != "" || in.Conversation == "" || in.Chat == "" {
		t.Fatalf("the press came in as %+v", in)
	}
	s.press(2, r.MessageID, "q1.Ab-c_0")
	if more := next(t, s, s.got); more.Press.Data != "q1.Ab-c_0" || more.MessageID == in.MessageID || more.Press.ID == in.Press.ID {
		t.Errorf("another press came in as %+v after %+v", more, in)
	}
	if err := chooser.Answer(bounded(t, s), s.Target, in.SenderID, in.Press, "It is noted."); err != nil {
		t.Errorf("words for who pressed: %v", err)
	}
	s.eventually(t, "who pressed was not told", func() bool { return slices.Contains(s.seen(t, r.MessageID).Words, "It is noted.") })
	if err := chooser.Settle(bounded(t, s), s.Target, r.MessageID, "May I? No."); err != nil {
		t.Fatalf("take the buttons away: %v", err)
	}
	if m := s.seen(t, r.MessageID); len(m.Choices) != 0 || m.Text != "May I? No." {
		t.Errorf("after the buttons were taken away people see %+v", m)
	}
	if err := chooser.Settle(bounded(t, s), s.Target, "987654321", "x"); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("buttons of no message: %v", err)
	}
	ask.Text, ask.Choices = "More than fit", nil
	for range s.Channel.Limits().Choices + 1 {
		ask.Choices = append(ask.Choices, channel.Choice{Data: "x" + strings.Repeat("y", len(ask.Choices)%8), Label: "a"})
	}
	if _, err := s.Channel.Send(bounded(t, s), ask); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("more buttons than its limits say: %v", err)
	}
}

func testChoiceAgain(t T, s *Setup) {
	got, stop := receiving(t, s, 1)
	r, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "May I?", Choices: someChoices()})
	if err != nil {
		t.Fatalf("%v", err)
	}
	s.press(1, r.MessageID, "q1.Ab-c_0")
	first := next(t, s, got)
	told := func() bool { return len(s.seen(t, r.MessageID).Words) > 0 }
	var again channel.Inbound
	s.eventually(t, "a press that was not accepted was neither offered again, nor was who pressed told", func() bool {
		select {
		case again = <-got:
			return true
		default:
			return told()
		}
	})
	if again.MessageID != "" && (again.MessageID != first.MessageID || again.Press != first.Press) {
		t.Errorf("first %+v, then %+v", first, again)
	}
	if err := stop(); err != nil {
		t.Errorf("%v", err)
	}
}

func testReactionIn(t T, s *Setup) {
	r, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "good?"})
	if err != nil {
		t.Fatalf("%v", err)
	}
	for n, removed := range []bool{false, true} {
		in := s.Inbound
		in.MessageID = s.id(n + 1)
		in.Reaction = channel.Reaction{MessageID: r.MessageID, Emoji: "👍", Removed: removed}
		s.Net.Receive(in)
		got := next(t, s, s.got)
		if got.Reaction.MessageID != r.MessageID || got.Reaction.Emoji != "👍" || got.Reaction.Removed != removed || got.SenderID == "" ||
			got.Text != "" || got.Conversation == "" || got.MessageID == "" {
			t.Errorf("removed %v: the reaction came in as %+v", removed, got)
		}
	}
}

func testPoll(t T, s *Setup) {
	poller, _ := channel.AsPoller(s.Channel)
	r, err := poller.Poll(bounded(t, s), s.Target, channel.Poll{Question: "Where to?", Options: []string{"Sea", "Mountains"}, Key: "p"})
	if err != nil || r.MessageID == "" {
		t.Fatalf("receipt %+v, %v", r, err)
	}
	if m := s.seen(t, r.MessageID); m.Text != "Where to?" || !slices.Equal(m.Options, []string{"Sea", "Mountains"}) {
		t.Errorf("people see %+v", m)
	}
	if _, err := poller.Poll(bounded(t, s), s.Target, channel.Poll{Question: "One?", Options: []string{"Only"}}); !errors.Is(err,
		channel.ErrRefused) {
		t.Errorf("a poll with one answer: %v", err)
	}
}

func testSilently(t T, s *Setup) {
	for _, silent := range []bool{true, false} {
		r, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "hush", Manner: channel.Manner{Silent: silent}})
		if err != nil {
			t.Fatalf("silent %v: %v", silent, err)
		}
		if m := s.seen(t, r.MessageID); m.Silent != silent {
			t.Errorf("silent %v: people see %+v", silent, m)
		}
	}
}

func testPin(t T, s *Setup) {
	pinner, _ := channel.AsPinner(s.Channel)
	r, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "keep"})
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, on := range []bool{true, false} {
		if err := pinner.Pin(bounded(t, s), s.Target, r.MessageID, on); err != nil {
			t.Fatalf("pin %v: %v", on, err)
		}
		if m := s.seen(t, r.MessageID); m.Pinned != on {
			t.Errorf("pin %v: people see %+v", on, m)
		}
	}
}

func testRead(t T, s *Setup) {
	reader, _ := channel.AsReader(s.Channel)
	var ids []string
	for _, text := range []string{"one", "two", "three"} {
		r, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: text})
		if err != nil {
			t.Fatalf("%v", err)
		}
		ids = append(ids, r.MessageID)
	}
	got, err := reader.Read(bounded(t, s), s.Target, "", 2)
	if err != nil || len(got) != 2 || got[0].Text != "two" || got[1].Text != "three" || got[1].MessageID != ids[2] || got[1].SenderID == "" {
		t.Errorf("the last two: %+v, %v", got, err)
	}
	got, err = reader.Read(bounded(t, s), s.Target, ids[1], 5)
	if err != nil || len(got) != 1 || got[0].Text != "one" {
		t.Errorf("before the second: %+v, %v", got, err)
	}
}

func testSearch(t T, s *Setup) {
	searcher, _ := channel.AsSearcher(s.Channel)
	for _, text := range []string{"a harbour", "the sea", "Harbour two", "harbour three"} {
		if _, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: text}); err != nil {
			t.Fatalf("%v", err)
		}
	}
	got, err := searcher.Search(bounded(t, s), s.Target, "harbour", 2)
	if err != nil || len(got) != 2 || got[0].Text != "Harbour two" || got[1].Text != "harbour three" || got[1].MessageID == "" {
		t.Errorf("the newest two with a word: %+v, %v", got, err)
	}
	if got, err = searcher.Search(bounded(t, s), s.Target, "mountain", 5); err != nil || len(got) != 0 {
		t.Errorf("a word that nobody said: %+v, %v", got, err)
	}
}

func testMenu(t T, s *Setup) {
	menu, _ := channel.AsMenu(s.Channel)
	all := []channel.Command{
		{Name: "status", Description: "Show what is running", Local: map[string]string{"de": "Zeigt, was läuft", "zh": "显示状态"}},
		{Name: "think", Description: strings.Repeat("How long the model thinks. ", 20), Args: "[low|high]"},
		{Name: "a-skill", Description: "Something of a skill"},
	}
	for _, list := range [][]channel.Command{all, all, all[:1]} {
		if err := menu.Menu(bounded(t, s), list); err != nil {
			t.Fatalf("%d commands: %v", len(list), err)
		}
	}
	seen, can := s.Net.(MenuNetwork)
	if !can {
		return
	}
	if got := seen.Menu(""); len(got) != 1 || got[0] != [2]string{"status", "Show what is running"} {
		t.Errorf("people see %q", got)
	}
	if got := seen.Menu("de"); len(got) != 1 || got[0] != [2]string{"status", "Zeigt, was läuft"} {
		t.Errorf("in German people see %q", got)
	}
	if err := menu.Menu(bounded(t, s), nil); err != nil {
		t.Fatalf("no commands: %v", err)
	}
	for _, language := range []string{"", "de", "zh"} {
		if got := seen.Menu(language); len(got) != 0 {
			t.Errorf("when there are none, people who use %q still see %q", language, got)
		}
	}
}
