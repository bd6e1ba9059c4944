package config

import "strings"

// catalogue reads agents.defaults.models: the models that may be chosen, with
// short names for some.
func (d *decoder) catalogue(n *node) map[string]CatalogueModel {
	out := make(map[string]CatalogueModel, len(n.items))
	taken := map[string]string{}
	d.each(n, func(ref string, at int, v *node) {
		provider, model, ok := strings.Cut(ref, "/")
		if !ok || !providerID(provider) || model == "" || len(ref) > 512 {
			d.issue(at, "a model is named \"provider/model\", for example \"ollama/llama3.2\"")
			return
		}
		var m CatalogueModel
		d.object(v, append([]field{{"alias", func(n *node) {
			m.Alias = strings.TrimSpace(d.text(n, 64))
			key := strings.ToLower(m.Alias)
			switch {
			case m.Alias == "":
			case strings.ContainsAny(m.Alias, "/@ \t\n"):
				d.issue(n.start, "an alias has no spaces, / or @")
			case taken[key] != "":
				d.issue(n.start, "this alias is already the one of %s", taken[key])
			default:
				taken[key] = ref
			}
		}}}, later("params", "streaming", "agentRuntime")...)...)
		out[ref] = m
	})
	return out
}
