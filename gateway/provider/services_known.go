package provider

import "strings"

// KnownService is what a person has to know of a service to set it up.
type KnownService struct {
	ID, Name string
	KeyPage  string // where a key is to be had
	Local    bool   // it runs on one's own machines
	Address  string // with {NAME} for each of Needs
	Needs    []string
	// Deployment: its models have the names that their person gave them there.
	Deployment bool
}

// KnownServices lists the services of the table.
func KnownServices() (out []KnownService) {
	for _, s := range services() {
		k := KnownService{ID: s.id, Name: s.name, KeyPage: s.keyPage, Local: s.local, Deployment: s.quirks.shape == azureShape}
		k.Address, k.Needs = holes(s.baseURL)
		out = append(out, k)
	}
	return out
}

// holes puts {NAME} in the place of ${NAME|OTHER|=text}.
func holes(address string) (with string, names []string) {
	for {
		before, rest, ok := strings.Cut(address, "${")
		if !ok {
			return with + address, names
		}
		hole, after, _ := strings.Cut(rest, "}")
		name, _, _ := strings.Cut(hole, "|")
		names = append(names, name)
		with += before + "{" + name + "}"
		address = after
	}
}
