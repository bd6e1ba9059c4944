package budget

import "github.com/hearth-assistant/hearth/gateway/config"

// Settings bounds what models may cost; 0 is without a limit.
type Settings struct {
	Daily      float64
	Monthly    float64
	Currency   string
	CheapModel string // empty: one on this computer, if there is one
}

const maxMoney = 1_000_000

// Section are the settings of what may be spent.
var Section = &config.Settings[Settings]{
	Path:    "hearth.allowance",
	Default: Settings{Currency: "USD"}, // that of the built-in prices
	Fields: func(a *Settings) []config.Field {
		return []config.Field{
			config.Amount{
				Key: "daily", To: &a.Daily, Max: maxMoney, Help: "how much may be spent in a day",
				Hint: config.Hint{Pane: "usage", Default: "no limit"},
			},
			config.Amount{
				Key: "monthly", To: &a.Monthly, Max: maxMoney, Help: "how much may be spent in a calendar month",
				Hint: config.Hint{Pane: "usage", Default: "no limit"},
			},
			config.Text{
				Key: "currency", To: &a.Currency, Max: 8, Help: "how amounts are labelled; the built-in prices are in US dollars",
			},
			config.Text{
				Key: "cheapModel", To: &a.CheapModel, Max: 512, Is: config.ModelName,
				Help: "`\"provider/model\"` that answers from 80 % of an allowance on",
				Hint: config.Hint{Pane: "usage", Model: true, Default: "a model on this computer, if there is one"},
			},
		}
	},
}
