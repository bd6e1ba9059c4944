package conformance

import (
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

// Rows are all of them, in their order.
func Rows() []Row {
	out := []Row{
		{Name: "Identity", What: "it says which network and account it is",
			Do:  "give the channel an id without spaces, colons and slashes",
			run: testIdentity, alone: true},
		{Name: "Abilities", What: "its limits promise what it can do, and no more",
			Do:  "name in can what limits speak of, and the other way round",
			run: testAbilities},
	}
	out = append(out, sendRows()...)
	out = append(out, changeRows()...)
	out = append(out, actRows()...)
	out = append(out, fileRows()...)
	return append(out, receiveRows()...)
}

func sendRows() []Row {
	return []Row{
		{Name: "SendIsSeen", What: "what is sent is seen, and has a receipt of its own",
			Do:  "answer send with the network's id of the message, after the network confirmed it",
			run: testSend},
		{Name: "SendAtTheLimit", What: "a text as long as its limits allow is sent whole",
			Do:  "say the true limit, in the unit that the network counts in",
			run: testLimit, cannot: func(s *Setup) string {
				return unless(s.Channel.Limits().Text > 0, "this network takes any length")
			}},
		{Name: "HardText", What: "nothing that a model writes makes a send fail",
			Do:  "escape what the network's dialect means by its signs",
			run: testHardText},
		{Name: "SendWithoutConnection", What: "a send before it is connected fails as something passing: nothing was sent",
			Do:  "answer with an error of another code than 1, 2 and 3",
			run: testUnconnected, alone: true, cannot: func(s *Setup) string {
				return unless(s.Connected, "it needs no connection to send")
			}},
		fault("PassingError", loopback.Passing, "a failure of the network that passes is one, and nothing was sent",
			"answer with an error that is none of the four, and do not try again yourself"),
		fault("RateLimit", loopback.Limited, "when the network asks to wait, it says for how long, and sends nothing",
			"answer with code 4 and the network's time; do not wait yourself"),
		fault("Refusal", loopback.Refused, "what the network will never take is refused", "answer with code 1"),
		fault("BadCredential", loopback.Auth, "a credential that is not accepted is told as that", "answer with code 3"),
		{Name: "UncertainSend",
			What: "a connection that breaks between the sending and its receipt leaves the message uncertain, and it is not repeated",
			Do:   "answer with code 2, and never send it again yourself",
			run:  testUncertain, cannot: func(s *Setup) string {
				return s.Skip[loopback.Lost]
			}},
		{Name: "CancelledSend", What: "a send that was given up before it began does nothing",
			Do:  "look at the context first",
			run: testCancelled},
		{Name: "ParallelSends", What: "eight sends at the same time all arrive",
			Do:  "answer each request by its own id, in any order",
			run: testParallel},
	}
}

func changeRows() []Row {
	return []Row{
		{Name: "EditAndDelete", What: "a message is edited and deleted, and an edit that cannot be is refused",
			Do:  "answer an edit of what is gone or frozen with code 1, one that changes nothing with success",
			run: testEdit, cannot: func(s *Setup) string {
				return unless(can(s, channel.CanEdit) || can(s, channel.CanDelete), "it neither edits nor deletes")
			}},
		{Name: "EditsAreCounted", What: "as many edits as its limits say are taken, and no more",
			Do:  "say in limits how many edits the network takes",
			run: testEdits, cannot: func(s *Setup) string {
				return unless(can(s, channel.CanEdit) && s.Channel.Limits().Edits > 0, "edits are not counted on this network")
			}},
		{Name: "StreamingPace",
			What: "an answer that is shown while it is written is edited no faster than editPaceMs, slower after the network " +
				"asked to wait, and its end waits for nothing",
			Do:  "say the true pace in limits, and answer edits at once: with code 4 when the network asks to wait",
			run: testPace, cannot: cannotStream},
		{Name: "FinalInPlace", What: "the answer takes the place of what was shown of it: one message is seen",
			Do:  "let edit replace the whole text of the message",
			run: testFinalInPlace, cannot: cannotFinal},
		{Name: "FinalAfterGone", What: "when what was shown of an answer was deleted meanwhile, the answer is sent anew",
			Do:  "answer an edit of what is gone with code 1",
			run: testFinalAfterGone, cannot: cannotRemove},
		{Name: "FinalTooLate", What: "when what was shown of an answer is too old to be edited, the answer is sent anew, and the old one deleted",
			Do:  "let delete remove the message for everybody; say editWindowMs in limits where edits are taken for a while only",
			run: testFinalTooLate, cannot: cannotRemove},
		{Name: "ThreadOut", What: "a message for a thread goes there",
			Do:  "use to.thread",
			run: testThreadOut, cannot: cannotThread},
		{Name: "ThreadIn", What: "a message in a thread says which",
			Do:  "set thread of inbound",
			run: testThreadIn, hears: true, cannot: cannotThread},
		{Name: "Typing", What: "it shows that somebody is typing",
			Do:  "answer typing when the network took it",
			run: testTyping, cannot: func(s *Setup) string {
				return unless(can(s, channel.CanType), "it has no sign for typing")
			}},
		{Name: "Reactions", What: "an emoji is put on a message, and taken away",
			Do:  "answer react when the network took it; \"\" takes it away",
			run: testReactions, cannot: func(s *Setup) string { return unless(can(s, channel.CanReact), "it has no reactions") }},
	}
}

func fileRows() []Row {
	sends := func(s *Setup) string { return unless(s.Channel.Limits().Files > 0, "it sends no files") }
	fetches := func(s *Setup) string { return unless(can(s, channel.CanFetch), "it brings no files") }
	return []Row{
		{Name: "FileOut", What: "a file arrives with its name, what is in it, and the words with it",
			Do:  "send each of media with its name; path lies in the common folder",
			run: testFileOut, cannot: sends},
		{Name: "FilesTogether", What: "two files go out as one message, where its limits say so",
			Do:  "show all files of a send, or leave together out of the limits",
			run: testFilesTogether, cannot: func(s *Setup) string {
				if why := sends(s); why != "" {
					return why
				}
				return unless(s.Channel.Limits().Together > 1, "a file is a message of its own on this network")
			}},
		{Name: "FileOutTooLarge", What: "a file that is larger than its limits say is refused, and nothing is sent",
			Do:  "answer with code 1 before anything is sent",
			run: testFileOutTooLarge, cannot: sends},
		{Name: "FileIn", What: "a file that came is told with name, kind and size, and can be fetched",
			Do:  "set media of inbound, and answer fetch with its name in the common folder",
			run: testFileIn, hears: true, cannot: fetches},
		{Name: "FileInTooLarge", What: "of a file that is too large the words still come, and fetching it is refused: half a file is none",
			Do:  "answer fetch with code 1",
			run: testFileInTooLarge, hears: true, cannot: fetches},
	}
}

func receiveRows() []Row {
	return []Row{
		{Name: "RunStops", What: "it ends when it is told to, without an error",
			Do:  "answer stop, and end when your input is closed",
			run: testRunStops, alone: true},
		{Name: "InboundIsTakenOnce", What: "messages come in order, say where from, and the network is told when they were taken",
			Do:  "tell the network after inbound was answered",
			run: testInbound, alone: true},
		{Name: "RefusedInboundComesAgain", What: "a message that was not accepted is offered again, with the same id",
			Do:  "offer it again after an error",
			run: testRedelivery, alone: true},
		{Name: "SendWhileReceiving", What: "it sends and receives at the same time",
			Do:    "let no request wait for another",
			run:   testSendWhileReceiving,
			alone: true},
		{Name: "RunAgain", What: "after a restart it receives and sends, and what was taken does not come again",
			Do:  "keep what was taken with the network, or with state.put",
			run: testRunAgain, alone: true},
		{Name: "NothingIsLostBetween", What: "what was not accepted before a restart, and what was written meanwhile, comes after it, once",
			Do:  "go on after the last message that was taken",
			run: testBetween, alone: true},
		{Name: "ForgedCall", What: "a call that does not prove that it is the network's is refused, and leaves nothing",
			Do:  "answer http with a status from 400 to 499 before you read on",
			run: testForged, hears: true, cannot: func(s *Setup) string {
				return unless(can(s, channel.CanBeCalled), "its network does not call the gateway")
			}},
	}
}

// fault is the row of a kind of failure.
func fault(name string, kind loopback.Kind, what, do string) Row {
	return Row{Name: name, What: what, Do: do, run: func(t T, s *Setup) { testFault(t, s, kind) },
		cannot: func(s *Setup) string { return s.Skip[kind] }}
}

// unless is why, when something does not hold.
func unless(holds bool, why string) string {
	if holds {
		return ""
	}
	return why
}

func can(s *Setup, a channel.Ability) bool {
	for _, has := range channel.AbilitiesOf(s.Channel) {
		if has == a {
			return true
		}
	}
	return false
}

func cannotThread(s *Setup) string {
	return unless(s.Channel.Limits().Threads, "it has no threads")
}

// streamEdits is how many edits the row of streaming makes at most.
const streamEdits = 6

func cannotStream(s *Setup) string {
	l := s.Channel.Limits()
	if !can(s, channel.CanEdit) {
		return "it edits nothing, so answers are not shown while they are written"
	}
	return unless(l.Edits == 0 || l.Edits >= streamEdits, fmt.Sprintf("it edits a message only %d times", l.Edits))
}

func cannotFinal(s *Setup) string {
	return unless(can(s, channel.CanEdit), "it edits nothing, so answers are not shown while they are written")
}

func cannotRemove(s *Setup) string {
	if why := cannotFinal(s); why != "" {
		return why
	}
	return unless(can(s, channel.CanDelete), "it deletes nothing")
}
