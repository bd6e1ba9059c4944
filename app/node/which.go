package node

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
)

const maxBins = 256

// which says where programs are, in the folders that commands get.
func (h *Host) which(_ context.Context, _ *conn, raw json.RawMessage) (any, error) {
	var p struct {
		Bins []string `json:"bins"`
	}
	if err := read(raw, &p); err != nil {
		return nil, err
	}
	if len(p.Bins) == 0 || len(p.Bins) > maxBins {
		return nil, invalid("bins must be one to %d names of programs", maxBins)
	}
	found := map[string]string{}
	for _, name := range p.Bins {
		if path := h.find(name); path != "" {
			found[name] = path
		}
	}
	return map[string]any{"bins": found}, nil
}

// find is a program's file, or "".
func (h *Host) find(name string) string {
	if name == "" || strings.ContainsAny(name, `/\`+"\x00") || name == "." || name == ".." {
		return ""
	}
	for _, dir := range filepath.SplitList(h.resolver.SearchPath()) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	return ""
}
