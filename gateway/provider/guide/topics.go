package guide

import (
	"strings"

	"github.com/hearth-assistant/hearth/internal/text"
)

// topic is something that the guide can talk about.
type topic struct {
	exact      []string // the whole question
	contains   []string // or a part of it, at word borders
	match      func(q string) bool
	introduces bool // its answer says what the guide is
	answer     func(g *guide, c conversation) reply
}

// maxQuestion is how much of a message is looked at to find its topic.
const maxQuestion = 2 << 10

// topics returns all topics in the order in which they are tried.
func topics() []topic {
	return []topic{
		{match: isEcho, answer: (*guide).echo},
		{match: isSum, answer: (*guide).sum},
		{match: isReminder, answer: (*guide).remind},
		{exact: []string{"hi", "hello", "hey", "hallo", "hi there", "hello there", "good morning", "good evening", "good afternoon", "moin",
			"servus", "howdy", "hello hearth", "hi hearth", "hey hearth", "test", "ping", "start", "/start"}, introduces: true,
			answer: (*guide).greet},
		{exact: []string{"who are you", "what are you", "are you an ai", "are you a bot", "are you real", "what model are you",
			"which model are you", "are you an ai model", "who is this"},
			contains: []string{"are you chatgpt", "are you claude", "are you human", "introduce yourself", "what model is this",
				"which model is this"}, introduces: true, answer: (*guide).identify},
		{exact: []string{"help", "/help", "?", "what now", "what next", "commands", "what is hearth", "what is this", "tell me about hearth",
			"get started", "getting started", "show me around", "look around", "look around first"},
			contains: []string{"what can you do", "what can i do", "what do you do", "how does this work", "how does hearth work",
				"what can hearth do", "show me what you can do", "how do i start"}, introduces: true, answer: (*guide).help},
		{exact: []string{"tools", "/tools", "list tools"}, contains: []string{"which tools", "what tools", "list your tools", "show tools",
			"show me a tool", "try a tool", "tool demo", "demonstrate a tool", "run a tool", "use a tool"}, answer: (*guide).tools},
		{exact: []string{"status", "/status"}, contains: []string{"session status", "status of this session", "status of this chat",
			"status of hearth", "how is hearth doing", "check the status", "show status", "show me the status"}, answer: (*guide).status},
		{contains: []string{"shortcut", "shortcuts", "keyboard", "hotkey", "hotkeys", "key bindings"}, answer: (*guide).shortcuts},
		{exact: []string{"privacy"}, contains: []string{"is it private", "is this private", "is my data safe", "who can see", "who can read",
			"leave my computer", "leaves my computer", "send my data", "privacy", "telemetry", "tracking", "is it safe", "is this safe",
			"is hearth safe"}, answer: (*guide).privacy},
		{contains: []string{"where is my data", "where are my", "where do you store", "where does hearth store", "where is the data",
			"where does my data live", "where is my chat", "data folder", "state folder", "config file", "settings file", "hearth.json",
			"where are the logs", "backup", "back up"}, answer: (*guide).data},
		{contains: []string{"ollama"}, answer: (*guide).ollama},
		{contains: []string{"api key", "api keys", "apikey", "anthropic", "openai", "claude", "gpt", "openrouter", "gemini"},
			answer: (*guide).keys},
		{contains: []string{"connect", "lm studio", "llama.cpp", "add a model", "set up a model", "setup a model", "install a model",
			"choose a model", "pick a model", "switch model", "change model", "change the model", "real model", "ai model", "local model",
			"download a model", "use a model", "which models", "what models", "models"}, answer: (*guide).connect},
		{exact: []string{"time", "date", "now", "today", "/time"}, contains: []string{"what time", "what's the time", "whats the time",
			"tell me the time", "current time", "what day", "which day", "what date", "what's the date", "whats the date", "current date",
			"today's date", "what is the time", "what is the date"}, answer: (*guide).clock},
		{exact: []string{"thanks", "thank you", "thx", "great", "nice", "cool", "ok", "okay", "perfect", "danke", "thank you very much",
			"thanks a lot"}, answer: (*guide).thanks},
		{exact: []string{"bye", "goodbye", "see you", "good night", "quit", "exit"}, answer: (*guide).bye},
		{exact: []string{""}, introduces: true, answer: (*guide).greet},
		{match: func(string) bool { return true }, introduces: true, answer: (*guide).beyond},
	}
}

// topicOf finds what a message is about; the last topic takes everything.
func topicOf(text string) topic {
	q := question(text)
	all := topics()
	for _, t := range all {
		if t.fits(q, text) {
			return t
		}
	}
	return all[len(all)-1]
}

func (t topic) fits(q, text string) bool {
	for _, s := range t.exact {
		if q == s {
			return true
		}
	}
	// A long message that mentions a topic is not a question about it.
	if len(q) <= 120 {
		padded := " " + q + " "
		for _, s := range t.contains {
			if strings.Contains(padded, " "+s+" ") {
				return true
			}
		}
	}
	return t.match != nil && t.match(text)
}

// question is a message in small letters, without politeness and punctuation.
func question(s string) string {
	q := strings.ToLower(text.Ellipsis(s, maxQuestion))
	q = strings.Map(func(r rune) rune {
		switch r {
		case '!', '.', ',', ';', ':', '"', '(', ')', '“', '”', '…', '\n', '\t':
			return ' '
		case '’':
			return '\''
		}
		return r
	}, keepDots(q))
	q = strings.Join(strings.Fields(q), " ")
	if q != "?" {
		q = strings.TrimRight(q, "? ")
	}
	for _, p := range []string{"please ", "hey ", "hi ", "hello ", "so ", "ok ", "can you ", "could you "} {
		if rest := strings.TrimPrefix(q, p); rest != q && len(rest) > 8 {
			q = rest
		}
	}
	return strings.Trim(strings.ReplaceAll(strings.TrimSuffix(q, " please"), "\x00", "."), " ")
}

// keepDots saves the dots inside names such as llama.cpp.
func keepDots(q string) string {
	return strings.NewReplacer("llama.cpp", "llama\x00cpp", "hearth.json", "hearth\x00json").Replace(q)
}
