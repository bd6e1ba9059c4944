package config

func (d *decoder) http(n *node, h *HTTP) {
	d.object(n, append([]field{
		{"endpoints", func(n *node) {
			d.object(n,
				field{"chatCompletions", func(n *node) { d.httpEndpoint(n, &h.Endpoints.ChatCompletions) }},
				field{"responses", func(n *node) { d.httpEndpoint(n, &h.Endpoints.Responses) }},
			)
		}},
	}, later("securityHeaders")...)...)
}

func (d *decoder) httpEndpoint(n *node, e *HTTPEndpoint) {
	d.object(n, append([]field{
		{"enabled", func(n *node) { e.Enabled = d.boolean(n) }},
	}, later("maxBodyBytes", "maxImageParts", "maxTotalImageBytes", "maxUrlParts", "images", "files")...)...)
}
