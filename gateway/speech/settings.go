package speech

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Configured is what the settings say of files that people send.
type Configured struct {
	Concurrency int
	Audio       Audio
}

// Audio is about sound.
type Audio struct {
	Enabled        bool
	Models         []Model
	MaxBytes       int
	MaxChars       int // 0: all
	TimeoutSeconds int
	Language       string
	Prompt         string
	BaseURL        string
	EchoTranscript bool
	EchoFormat     string
}

// Model is one way to have speech written down: a model of a service, or a program
// of this computer. What is zero is as for all.
type Model struct {
	Type           string // provider, cli
	Provider       string
	Model          string
	BaseURL        string
	Command        string
	Args           []string
	Read           []string // folders that the program may read beside its own
	Language       string
	Prompt         string
	MaxBytes       int
	MaxChars       int
	TimeoutSeconds int
	Capabilities   []string
}

const (
	typeProvider = "provider"
	typeCLI      = "cli"
)

const (
	defaultBytes   = 20 << 20
	mostBytes      = 100 << 20
	defaultTimeout = 60
	// defaultEcho is how a person sees what was heard.
	defaultEcho = "📝 \"{transcript}\""
)

// Section are the settings of files that people send.
var Section = &config.Settings[Configured]{
	Path: "tools.media", Name: "speech",
	Default: Configured{Concurrency: 2, Audio: Audio{Enabled: true, MaxBytes: defaultBytes, TimeoutSeconds: defaultTimeout,
		EchoFormat: defaultEcho}},
	Fields: func(c *Configured) []config.Field {
		return []config.Field{
			config.Object{Key: "audio", Fields: c.Audio.fields()},
			config.Number{Key: "concurrency", To: &c.Concurrency, Min: 1, Max: 16,
				Help: "how many sounds are written down at the same time; others wait"},
			config.Later("models", "image", "video"),
		}
	},
}

func (a *Audio) fields() []config.Field {
	return []config.Field{
		config.Switch{Key: "enabled", To: &a.Enabled, Hint: config.Hint{Pane: "tools"},
			Help: "whether voice notes are written down; it needs `models`"},
		config.List[Model]{Key: "models", To: &a.Models, One: one, Hint: config.Hint{Default: "none"},
			New:  func() Model { return Model{Type: typeProvider} },
			Help: "who writes them down; the first that can, else the next"},
		config.Number{Key: "maxBytes", To: &a.MaxBytes, Min: 1 << 10, Max: mostBytes, Help: "how large a sound may be"},
		config.Number{Key: "maxChars", To: &a.MaxChars, Min: 1, Max: 1_000_000, Hint: config.Hint{Default: "all"},
			Help: "how much of the words the assistant gets"},
		config.Number{Key: "timeoutSeconds", To: &a.TimeoutSeconds, Min: 1, Max: 3600, Help: "how long one of `models` may take"},
		config.Text{Key: "language", To: &a.Language, Is: language, Hint: config.Hint{Default: "what is heard"},
			Help: "which language is spoken, as `de`"},
		config.Text{Key: "prompt", To: &a.Prompt, Max: 1000, Help: "names and words that are often said"},
		config.Text{Key: "baseUrl", To: &a.BaseURL, Max: 2048, Is: config.WebAddress,
			Help: "another address of the services, with `/v1`", Hint: config.Hint{Default: "the service's own"}},
		config.Switch{Key: "echoTranscript", To: &a.EchoTranscript,
			Help: "whether the sender is shown what was heard, before the answer"},
		config.Text{Key: "echoFormat", To: &a.EchoFormat, Max: 200, Is: echo, Hint: config.Hint{Example: "🎤 {transcript}"},
			Help: "how; `{transcript}` stands for the words"},
		config.Later("headers", "providerOptions", "attachments", "scope"),
	}
}

func one(m *Model) config.Field {
	return config.Object{Check: m.check, Fields: []config.Field{
		config.Choice{Key: "type", To: &m.Type, Among: []string{typeProvider, typeCLI},
			Help: "`provider`: a service; `cli`: a program of this computer"},
		config.Text{Key: "provider", To: &m.Provider, Max: 64, Help: "a service of `models.providers`, as `openai`"},
		config.Text{Key: "model", To: &m.Model, Max: 256, Help: "its model, as `gpt-4o-mini-transcribe`"},
		config.Text{Key: "baseUrl", To: &m.BaseURL, Max: 2048, Is: config.WebAddress, Help: "another address of it, with `/v1`"},
		config.Text{Key: "command", To: &m.Command, Max: 1024, Help: "a program, as `whisper-cli`"},
		config.Texts{Key: "args", To: &m.Args, Empty: true, Unset: true,
			Help: "what it is started with; `{{MediaPath}}` is the sound, `{{WavPath}}` the same as WAV, `{{OutputBase}}` where it may write"},
		config.Texts{Key: "read", To: &m.Read, Unset: true, Help: "folders that it may read beside its own and those in `args`"},
		config.Text{Key: "language", To: &m.Language, Is: language, Help: "as above, for this one"},
		config.Text{Key: "prompt", To: &m.Prompt, Max: 1000, Help: "as above, for this one"},
		config.Number{Key: "maxBytes", To: &m.MaxBytes, Min: 1 << 10, Max: mostBytes, Help: "as above, for this one"},
		config.Number{Key: "maxChars", To: &m.MaxChars, Min: 1, Max: 1_000_000, Help: "as above, for this one"},
		config.Number{Key: "timeoutSeconds", To: &m.TimeoutSeconds, Min: 1, Max: 3600, Help: "as above, for this one"},
		config.Texts{Key: "capabilities", To: &m.Capabilities, Unset: true, Help: "what it is for; one without `audio` is passed over"},
		config.Later("profile", "preferredProfile", "headers", "providerOptions"),
	}}
}

func (m *Model) check() error {
	if m.Command != "" && m.Provider == "" {
		m.Type = typeCLI
	}
	switch {
	case m.Type == typeCLI && m.Command == "":
		return errors.New("a program needs command, for example { type: \"cli\", command: \"whisper-cli\", args: [\"-m\", " +
			"\"/path/to/ggml-base.bin\", \"-nt\", \"-np\", \"{{WavPath}}\"] }")
	case m.Type == typeCLI && !slices.ContainsFunc(m.Args, namesSound):
		return errors.New("args have to name the sound: put \"{{MediaPath}}\" or \"{{WavPath}}\" where the program wants its file")
	case m.Type != typeCLI && (m.Provider == "" || m.Model == ""):
		return errors.New("a service needs provider and model, for example { provider: \"openai\", model: \"gpt-4o-mini-transcribe\" }")
	}
	if other := dialects[strings.ToLower(m.Provider)]; m.Type != typeCLI && other != "" {
		return fmt.Errorf("%s writes speech down in a way of its own, which Hearth does not speak yet; use openai, groq, mistral, a server of "+
			"your own with /v1/audio/transcriptions, or a program", other)
	}
	return nil
}

// dialects are services that write speech down, and not as OpenAI's does.
var dialects = map[string]string{"deepgram": "Deepgram", "google": "Google", "senseaudio": "SenseAudio", "elevenlabs": "ElevenLabs"}

func namesSound(arg string) bool {
	return strings.Contains(arg, "{{MediaPath}}") || strings.Contains(arg, "{{WavPath}}")
}

func language(s string) (string, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	if len(s) < 2 || len(s) > 3 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") != "" {
		return "", errors.New("write a language as two letters, for example \"de\"")
	}
	return s, nil
}

func echo(s string) (string, error) {
	if !strings.Contains(s, "{transcript}") {
		return "", errors.New("the words have to stand somewhere: put {transcript} where")
	}
	return s, nil
}

// filled is a model with what holds for all where it says nothing.
func (a Audio) filled(m Model) Model {
	set := func(to *int, all int) {
		if *to == 0 {
			*to = all
		}
	}
	set(&m.MaxBytes, a.MaxBytes)
	set(&m.MaxChars, a.MaxChars)
	set(&m.TimeoutSeconds, a.TimeoutSeconds)
	for _, f := range [][2]*string{{&m.Language, &a.Language}, {&m.Prompt, &a.Prompt}, {&m.BaseURL, &a.BaseURL}} {
		if *f[0] == "" {
			*f[0] = *f[1]
		}
	}
	return m
}

func (m Model) timeout() time.Duration { return time.Duration(m.TimeoutSeconds) * time.Second }

// hears: it is for sound.
func (m Model) hears() bool {
	return len(m.Capabilities) == 0 || slices.Contains(m.Capabilities, "audio")
}

// name is what people know it as.
func (m Model) name() string {
	if m.Type == typeCLI {
		return m.Command
	}
	return m.Provider + "/" + m.Model
}
