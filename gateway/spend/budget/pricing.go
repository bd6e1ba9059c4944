package budget

import (
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/provider"
)

// PricingSection are the prices that a person wrote, by "provider/model".
var PricingSection = &config.Settings[map[string]provider.Price]{
	Path: "models", Name: "pricing",
	Fields: func(prices *map[string]provider.Price) []config.Field {
		return []config.Field{config.Map[provider.Price]{
			Key: "pricing", To: prices, Name: "<provider/model>", Hint: config.Hint{Default: "built-in list prices"},
			One: func(_ string, p *provider.Price) config.Field { return p.Field("", "") },
			Help: "`{ input, output, cacheRead, cacheWrite }` for each `\"provider/model\"`, each for a million tokens in " +
				"`hearth.allowance.currency`; `perMinute` for a model that writes down speech",
		}}
	},
}
