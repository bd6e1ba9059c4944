package choice

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
)

// Words tells which model a session has and, while another one answers in its
// place, which and why.
func (c *Chooser) Words(row protocol.SessionRow) string {
	def, source := c.o.Models.Default()
	name := byDefault(def.String(), source)
	if row.ModelOverride {
		name = row.ModelProvider + "/" + row.Model + " (chosen for this session)"
	}
	if f := row.Fallback; f != nil {
		name = fmt.Sprintf("%s (selected); %s answers now: %s", f.Selected, f.Active, failover.Reason(f.Reason).Words())
	}
	if row.AuthProfile != "" {
		how := ""
		if row.AuthProfileSource == "user" {
			how = ", chosen for this session"
		}
		name += "; account " + row.AuthProfile + how
	}
	return name
}

// Found is how a model was found that nobody chose; "" for one that somebody did.
func Found(source string) string {
	switch source {
	case provider.SourceLocal:
		return "found on this computer"
	case provider.SourceEnvironment:
		return "by a key in the environment"
	}
	return ""
}

// byDefault is the model that sessions have by default, with where it comes from
// unless somebody chose it.
func byDefault(name, source string) string {
	if source == provider.SourceBuiltIn {
		return name + " (default, built in)"
	}
	if found := Found(source); found != "" {
		return fmt.Sprintf("%s (default, %s)", name, found)
	}
	return name + " (default)"
}

// WindowWords tells how much of the room of the model that answers a session is
// taken.
func (c *Chooser) WindowWords(row protocol.SessionRow) string {
	ref := c.Default(row.Key)
	if row.ModelOverride || row.OverrideModel != "" {
		ref = model.Ref{Provider: row.ModelProvider, Model: row.Model}
	}
	window := 0
	for _, e := range c.o.Models.Models() {
		if e.Ref == ref {
			window = e.ContextWindow
		}
	}
	return contextWords(row.ContextUsed, window)
}

func contextWords(used, window int) string {
	switch {
	case window <= 0 && used <= 0:
		return "not known; Hearth keeps within 32K tokens"
	case window <= 0:
		return TokenCount(used) + " tokens; the model's window is not known, Hearth keeps within 32K"
	case used <= 0:
		return TokenCount(window) + " tokens, how much of it is used is known after the next answer"
	}
	return fmt.Sprintf("%s of %s tokens, %d %%", TokenCount(used), TokenCount(window), min(100, (used*100+window/2)/window))
}

// TokenCount is a number of tokens as people say it.
func TokenCount(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 10_000 && n%1000 >= 50:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1000), ".0") + "K"
	case n < 1_000_000:
		return strconv.Itoa((n+500)/1000) + "K"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1_000_000), ".0") + "M"
}

// SessionDefaults is the model that sessions have by default, as clients are told.
func (c *Chooser) SessionDefaults() protocol.SessionModelDefaults {
	ref, _ := c.o.Models.Default()
	d := protocol.SessionModelDefaults{ModelProvider: ref.Provider, Model: ref.Model}
	for _, e := range c.o.Models.Models() {
		if e.Ref == ref {
			d.ContextTokens = e.ContextWindow
		}
	}
	return d
}
