package greeting

import "github.com/hearth-assistant/hearth/gateway/config"

// Greeting is what the file says of greetings.
type Greeting struct {
	Word string // what stands before the name
}

// Section are the settings of the feature. In the product it has a row in
// gateway/sections.
var Section = &config.Settings[Greeting]{
	Path:    "greeting",
	Default: Greeting{Word: "Hello"},
	Fields: func(g *Greeting) []config.Field {
		return []config.Field{
			config.Text{Key: "word", To: &g.Word, Max: 40, Help: "what stands before the name", Hint: config.Hint{Pane: "general"}},
			config.Later("emoji"), // kept, and said to be unused
		}
	},
}
