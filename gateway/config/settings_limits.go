package config

// ContextLimits bound what a turn reads while it works. 0: the usual limit.
type ContextLimits struct {
	ToolResultMaxChars    int `json:"toolResultMaxChars,omitempty"`
	MemoryGetDefaultLines int `json:"memoryGetDefaultLines,omitempty"`
}

// Over returns the limits with those of an agent in their place.
func (l ContextLimits) Over(below ContextLimits) ContextLimits {
	if l.ToolResultMaxChars == 0 {
		l.ToolResultMaxChars = below.ToolResultMaxChars
	}
	if l.MemoryGetDefaultLines == 0 {
		l.MemoryGetDefaultLines = below.MemoryGetDefaultLines
	}
	return l
}

func (d *decoder) contextLimits(n *node, l *ContextLimits) {
	d.object(n, append([]field{
		{"toolResultMaxChars", func(n *node) { l.ToolResultMaxChars = d.integer(n, 1000, 1_000_000) }},
		{"memoryGetDefaultLines", func(n *node) { l.MemoryGetDefaultLines = d.integer(n, 1, 2000) }},
	}, later("memoryGetMaxChars", "postCompactionMaxChars")...)...)
}
