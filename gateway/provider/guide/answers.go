package guide

import (
	"fmt"
	"strings"
)

func (g *guide) greet(conversation) reply {
	return say(`Hello, and welcome to **Hearth**, your own assistant on your own computer.

I'm Hearth's built-in guide, not an AI model. I can show you around until a real model is connected:

- **How do I connect a model?** takes one or two minutes
- **What can you do?** is a short tour
- **/tool session_status** shows a tool at work%s`, g.hintLine())
}

func (g *guide) identify(conversation) reply {
	return say(`I'm Hearth's built-in guide: a small set of rules in the program itself, **not an AI model**. I answer so that nothing you write stays without a reply while no model is connected, or when you pick me in the model picker.

Ask **how do I connect a model?** to get a real one.`)
}

func (g *guide) help(c conversation) reply {
	return say(`I'm Hearth's built-in guide, not an AI model. This is what works right now, without anything else:

| ask me | and you get |
|---|---|
| How do I connect a model? | the three ways, step by step |
| Where is my data? | the folders on this computer |
| Is it private? | what leaves this computer, and what does not |
| Which shortcuts are there? | the keys of the chat page |
| What time is it? | date and time |
| 12.5 %% of 80 + 2^10 | sums, exactly |
| remind me on Friday at nine to call mum | a reminder |
| echo hello | your own words back |
| /tool NAME {} | any tool, run for you |

With a model connected, Hearth becomes your assistant: it answers anything and keeps every chat.%s`, c.abilities())
}

func (g *guide) tools(c conversation) reply {
	return say("%s\n\nTry one with `/tool NAME {}`: I run it and show you what it says. A connected model uses them by itself.", c.toolList())
}

// status runs session_status when it is there: the natural demonstration.
func (g *guide) status(c conversation) reply {
	for _, t := range c.tools {
		if t.Name == "session_status" {
			return reply{text: "Let me look that up with the tool `session_status`.", call: c.call(t.Name, []byte("{}"))}
		}
	}
	return say("The tool that tells the status is not switched on in this chat. On the command line, `hearth status` shows it.")
}

func (g *guide) connect(conversation) reply {
	return say(`There are three ways to connect a model. Hearth notices each by itself, and uses it once you chose it: pick it in the **model picker** above the chat, or under **Settings → Models & keys**.%s

**1. On this computer (free and private)**

Install [Ollama](https://ollama.com) and get a model:

`+"```sh\nollama pull qwen3:8b\n```"+`

LM Studio, llama.cpp and Jan work too: start their local server, that is all.

**2. With an API key from the environment**

Start Hearth with one of these set, for example:

`+"```sh\nexport ANTHROPIC_API_KEY=...   # or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY, ...\nhearth gateway\n```"+`

**3. In the settings file**

`+"```json5\n// %s\n{\n  models: { providers: {\n    anthropic: { apiKey: \"${ANTHROPIC_API_KEY}\" },\n  } },\n"+
		"  agents: { defaults: { model: { primary: \"anthropic/claude-sonnet-4-5\" } } },\n}\n```"+`

Your messages stay in this chat: send one again once a model is connected, and it gets a real answer.`, g.hintLine(), g.configName())
}

func (g *guide) ollama(conversation) reply {
	return say(`[Ollama](https://ollama.com) runs models on this computer: free, private, and Hearth finds it by itself.%s

1. Install it from **ollama.com** and start it.
2. Get a model that fits your memory:

`+"```sh\nollama pull qwen3:8b    # 16 GB of memory\nollama pull qwen3:4b    # 8 GB\n```"+`

3. Choose it in the **model picker**, or under **Settings → Models & keys**.

Hearth looks at `+"`http://127.0.0.1:11434`"+`, or where `+"`OLLAMA_HOST`"+` says.`, g.hintLine())
}

func (g *guide) keys(conversation) reply {
	return say(`To use a model of a service, Hearth needs your key for it. **Do not paste the key into this chat**: chats are kept. Do one of these instead:

- start Hearth with the key in the environment:

`+"```sh\nexport ANTHROPIC_API_KEY=...     # Claude\nexport OPENAI_API_KEY=...        # GPT\n"+
		"export GEMINI_API_KEY=...        # Gemini\nexport OPENROUTER_API_KEY=...    # many models with one key\n```"+`

- or put it into `+"`%s`"+`:

`+"```json5\n{ models: { providers: { openai: { apiKey: \"${OPENAI_API_KEY}\" } } } }\n```"+`

Then pick the model in the **model picker**. Groq, Mistral, DeepSeek, xAI, Together, Fireworks, Cerebras, Moonshot, Z.AI, MiniMax, NVIDIA, Hugging Face, Venice and Perplexity work the same way; any other service that speaks the OpenAI dialect works with its `+"`baseUrl`"+`.`, g.configName())
}

func (g *guide) shortcuts(conversation) reply {
	return say(`These keys work on the chat page (⌘ on a Mac, Ctrl elsewhere):

| key | does |
|---|---|
| Enter | send |
| Shift + Enter | new line |
| Esc | stop the answer |
| Shift + Esc | go to the message field |
| ⌘/Ctrl + Shift + O | new chat |
| ⌘/Ctrl + K | search the chats |
| ⌘/Ctrl + Shift + L | choose a model |
| ⌘/Ctrl + B | show or hide the list of chats |
| ⌘/Ctrl + / | all of these |`)
}

func (g *guide) data(conversation) reply {
	where := "in one folder in your home directory, readable only by you (`hearth status` shows which)"
	if g.DataDir != "" {
		where = fmt.Sprintf("in `%s`, readable only by you", g.DataDir)
	}
	return say(`Everything stays on this computer, %s.

- **Chats**: in a small database there. A message counts as accepted only once it is on the disk, so a crash loses nothing.
- **Settings**: `+"`%s`"+`, a text file with comments that you may edit; a mistake in it never stops Hearth.
- **Export**: `+"`hearth sessions export --all`"+` writes every chat as JSON lines.

To back up, copy that folder while Hearth is stopped.`, where, g.configName())
}

func (g *guide) privacy(conversation) reply {
	return say(`- Hearth runs on this computer and listens only to this computer.
- It sends no statistics and does not phone home.
- Your messages leave this computer only if **you** connect a model of an online service: then each message goes to that service, and to nobody else. With a model on this computer (Ollama, LM Studio, llama.cpp, Jan), nothing leaves it.
- No model is asked unless you send something.`)
}

func (g *guide) clock(conversation) reply {
	now := g.Now()
	return say("It is **%s** on %s (%s).", now.Format("15:04"), now.Format("Monday, 2 January 2006"), now.Format("MST, UTC-07:00"))
}

func isEcho(text string) bool { _, ok := echoed(text); return ok }

// echoed is what stands behind "echo" or "say".
func echoed(text string) (string, bool) {
	text = strings.TrimSpace(text)
	for _, p := range []string{"/echo ", "echo ", "echo: ", "say ", "say: ", "repeat after me: ", "repeat: ", "repeat "} {
		if len(text) > len(p) && strings.EqualFold(text[:len(p)], p) {
			return strings.TrimSpace(text[len(p):]), true
		}
	}
	return "", false
}

func (g *guide) echo(c conversation) reply {
	s, _ := echoed(c.user)
	return reply{text: s}
}

func isSum(text string) bool { _, _, ok := sumIn(text); return ok }

func (g *guide) sum(c conversation) reply {
	term, result, _ := sumIn(c.user)
	return say("`%s` = **%s**", term, result)
}

func (g *guide) thanks(conversation) reply {
	return say("You're welcome. Ask **how do I connect a model?** whenever you like.")
}

func (g *guide) bye(conversation) reply {
	return say("See you. Hearth keeps this chat as it is.")
}

// beyond answers what needs a real model.
func (g *guide) beyond(conversation) reply {
	return say(`That needs an AI model, and I am only Hearth's built-in guide: I can show you around, but not answer this.%s

Your message is kept in this chat. **Ask me again once a model is connected**: that takes a minute with [Ollama](https://ollama.com) (`+
		"`ollama pull qwen3:8b`"+`), LM Studio, or a key such as `+
		"`ANTHROPIC_API_KEY`"+` or `+
		"`OPENAI_API_KEY`"+` in the environment. If one is connected already, pick it in the **model picker**.

Ask **how do I connect a model?** for the steps, or **what can you do?** for what works now.`, g.hintLine())
}

// hintLine tells what stands in the way on this computer, if that is known.
func (g *guide) hintLine() string {
	if h := g.Hint(); h != "" {
		return "\n\n> " + h
	}
	return ""
}

func (g *guide) configName() string {
	if g.ConfigPath != "" {
		return g.ConfigPath
	}
	return "hearth.json"
}
