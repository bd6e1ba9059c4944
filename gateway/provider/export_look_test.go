package provider

// ServedModels reads a list of models for the tests.
func ServedModels(body []byte) ([]ModelConfig, bool) {
	s, ok := servedModels(body)
	return s.models, ok
}
