package memory

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// ErrNobody: nothing is remembered of whoever was meant.
var ErrNobody = errors.New("nothing is remembered of this person or group")

// Who finds whose memory a person means who is not its owner: a folder as Scope.Of
// names it or the beginning of its name, a sender (network:42), or the key of a
// conversation. "" is the owner.
func (x *Index) Who(ctx context.Context, agent, who string) (of string, err error) {
	who = strings.TrimPrefix(strings.Trim(strings.TrimSpace(who), "/"), Folder+"/")
	if who == "" {
		return "", nil
	}
	there, err := list(ctx, x.Workspace(agent))
	if err != nil {
		return "", err
	}
	var all, begins []string
	for _, f := range there {
		if w := whose(f.rel); w != "" && !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	surface, id, _ := strings.Cut(who, ":")
	for _, exact := range []string{who, "people/" + who, "groups/" + who, Person(surface, id), Group(who)} {
		if slices.Contains(all, exact) {
			return exact, nil
		}
	}
	for _, w := range all {
		if strings.HasPrefix(path.Base(w), strings.ToLower(who)) {
			begins = append(begins, w)
		}
	}
	switch {
	case len(begins) == 1:
		return begins[0], nil
	case len(begins) > 1:
		return "", fmt.Errorf("%w: %q may be %s", ErrNobody, who, strings.Join(begins, " or "))
	case len(all) == 0:
		return "", fmt.Errorf("%w: there are no notes about anybody but you", ErrNobody)
	}
	return "", fmt.Errorf("%w: %q; there are notes of %s", ErrNobody, who, strings.Join(all[:min(len(all), 20)], ", "))
}
