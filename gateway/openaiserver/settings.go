package openaiserver

import "github.com/hearth-assistant/hearth/gateway/config"

// Section are the settings of what is switched on.
var Section = &config.Settings[Endpoints]{
	Path: "gateway.http",
	Fields: func(e *Endpoints) []config.Field {
		one := func(key string, on *bool, help string) config.Field {
			return config.Object{Key: key, Fields: []config.Field{
				config.Switch{Key: "enabled", To: on, Help: help},
				config.Later("maxBodyBytes", "maxImageParts", "maxTotalImageBytes", "maxUrlParts", "images", "files"),
			}}
		}
		return []config.Field{
			config.Object{Key: "endpoints", Fields: []config.Field{
				one("chatCompletions", &e.Chat, "programs may use `/v1/chat/completions`, with a token each ([HTTP API](http-api.md))"),
				one("responses", &e.Responses, "the same for `/v1/responses`. Either turns on `/v1/models` and `/v1/embeddings` as well"),
			}},
			config.Later("securityHeaders"),
		}
	},
}
