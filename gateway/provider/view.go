package provider

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/guide"
)

const (
	// A local server may have to load gigabytes before its first word.
	localFirstByte = 3 * time.Minute
	// Ollama silently cuts conversations at its own default, which is smaller.
	ollamaWindow = 8192
	manyNames    = 12 // how many names an error lists
)

// view is what the registry knows at one moment.
type view struct {
	r        *Registry
	settings Settings
	found    map[string]finding
}

// Entry is a model that a person can pick, or could if Reason were solved.
type Entry struct {
	Ref           model.Ref
	Name          string
	Service       string // how people call the provider
	ContextWindow int
	Trained       int // tokens that it was made for, where the server says so
	Reasoning     bool
	Input         []string
	Tools         bool
	BuiltIn       bool
	Source        string
	Available     bool
	Reason        string // why not, and what to do
	// Chosen: its person set its service up, named it in the settings or added an
	// account, or it runs here. Of others only a key was found: they are offered,
	// and asked by nobody but who picks them.
	Chosen bool
	Away   bool // it is listed by a server on this computer, but runs elsewhere
}

// reach is a service as it can be used now: its row, what configuration
// changed, and its key.
type reach struct {
	service
	source string
	key    string
	models []ModelConfig
	listed bool // models are all there are
	toolIn func(id string) bool
	reason string // why it cannot be used, and what to do
	class  model.Class

	headers map[string]string // that a person configured
	bearer  bool              // the key goes as Authorization: Bearer
	trained map[string]int    // tokens of context that a model was made for, by canonical id
	asked   map[string]int    // and those that its own file asks for
	silence time.Duration     // how long it may say nothing; 0: as its kind may
	away    []string          // canonical ids of models that run elsewhere
}

// reach finds out how to use a service; ok is false when nobody knows it.
func (v view) reach(id string) (x reach, ok bool) {
	cfg, configured := v.settings.Providers[id]
	x.service, ok = v.r.row(id)
	if !ok && !configured {
		return x, false
	}
	if !ok {
		x.service = service{id: id, name: id, api: APIOpenAI}
	}
	x.source, x.models = SourceEnvironment, x.service.models
	x.toolIn = func(string) bool { return true }
	if configured {
		v.configure(&x, cfg)
	} else if x.local {
		x.source = SourceLocal
	}
	v.findKey(&x, cfg)
	v.address(&x)
	if f, found := v.found[id]; found {
		v.merge(&x, f, configured)
	}
	v.judge(&x, configured)
	return x, true
}

func (v view) configure(x *reach, cfg ProviderConfig) {
	x.source = SourceConfigured
	if cfg.BaseURL != "" && cfg.BaseURL != x.baseURL {
		x.baseURL = cfg.BaseURL
		if x.otherAPI != "" {
			x.api = x.otherAPI
		}
		if x.api == APIGoogle && strings.HasSuffix(strings.TrimRight(cfg.BaseURL, "/"), "/openai") {
			x.api = APIOpenAI
		}
	}
	x.headers, x.bearer, x.silence = cfg.Headers, cfg.AuthHeader, cfg.Silence
	if cfg.API != "" {
		x.api = cfg.API
	}
	if len(cfg.Models) > 0 {
		x.models, x.listed = cfg.Models, true
	}
}

// findKey takes the configured key or the first one in the environment.
func (v view) findKey(x *reach, cfg ProviderConfig) {
	if cfg.APIKey != "" {
		key, missing := expand(cfg.APIKey, v.r.env)
		x.key = key
		if missing != "" {
			x.fail(model.ClassAuth, "The key of %s is set to ${%s}, but the environment variable %s is empty. Set it where Hearth is started, or "+
				"put a key into models.providers.%s.apiKey.", x.name, missing, missing, x.id)
		}
		return
	}
	for _, name := range x.keyEnv {
		if key := strings.TrimSpace(v.r.env(name)); key != "" {
			x.key = key
			if name == "AWS_ACCESS_KEY_ID" {
				x.key = v.accessKeys(key)
			}
			return
		}
	}
}

// accessKeys is Amazon's pair of keys as one.
func (v view) accessKeys(id string) string {
	secret, token := strings.TrimSpace(v.r.env("AWS_SECRET_ACCESS_KEY")), strings.TrimSpace(v.r.env("AWS_SESSION_TOKEN"))
	if secret == "" {
		return id
	}
	return strings.TrimSuffix(id+":"+secret+":"+token, ":")
}

// address fills in what the environment says of a service's address.
func (v view) address(x *reach) {
	base, missing := expand(x.baseURL, v.r.env)
	if missing != "" {
		x.fail(model.ClassInvalid, "Hearth does not know where %s is: start it with %s set, or set models.providers.%s.baseUrl.", x.name, missing,
			x.id)
		return
	}
	x.baseURL = base
}

// merge adds what a running local server says about itself.
func (v view) merge(x *reach, f finding, configured bool) {
	if f.err != "" {
		if x.local && !configured {
			x.fail(model.ClassConnect, "%s", f.err)
		}
		return
	}
	if !x.listed {
		// What the settings alone know may have more models than it lists.
		x.models, x.listed = f.models, x.probe
	}
	x.toolIn = func(id string) bool { return !slices.Contains(f.noTools, canonical(id)) }
	x.trained, x.asked, x.away = f.trained, f.asked, f.away
	if !configured {
		x.baseURL = f.baseURL
	}
}

// judge finds out what is missing.
func (v view) judge(x *reach, configured bool) {
	switch {
	case x.reason != "":
	case !slices.Contains(apis(), x.api):
		x.fail(model.ClassInvalid, "models.providers.%s.api is %q, which is not a dialect that Hearth knows. Use one of %s.", x.id, x.api,
			strings.Join(apis(), ", "))
	case x.baseURL == "":
		x.fail(model.ClassInvalid, "Hearth does not know where %s is: set models.providers.%s.baseUrl, for example \"https://example.com/v1\".",
			x.name, x.id)
	case x.local && !configured && !x.isFound(v):
		x.fail(model.ClassConnect, "%s is not running on this computer (nothing answers at %s). Start %s and try again.", x.name, x.baseURL,
			x.start)
	case x.key == "" && !v.r.hasAccount(x.id) && len(x.keyEnv) > 0 && !x.local && !onThisComputer(x.baseURL):
		x.fail(model.ClassAuth, "%s needs an API key. Get one at %s; `hearth models auth add %s` asks for it and keeps it safely. Or start "+
			"Hearth with %s set.", x.name, x.keyPage, x.id, x.keyEnv[0])
	}
}

func (x *reach) isFound(v view) bool { _, ok := v.found[x.id]; return ok }

func (x *reach) fail(c model.Class, format string, args ...any) {
	x.class, x.reason = c, fmt.Sprintf(format, args...)
}

// resolve turns a reference into a model; the zero one means the default.
func (v view) resolve(ref model.Ref) (Choice, error) {
	source := ""
	if ref == (model.Ref{}) {
		ref, source = v.fallback()
	}
	if ref == guide.Ref() {
		return v.r.guideChoice(), nil
	}
	if ref.Provider == "" {
		return Choice{}, unavailable(ref, model.ClassNoModel, "%q names no provider. Write the model as provider/model, for example "+
			"\"ollama/qwen3:8b\". Known providers: %s.", ref.Model, v.names())
	}
	x, ok := v.reach(ref.Provider)
	if !ok {
		return Choice{}, unavailable(ref, model.ClassNoModel, "Hearth knows no provider called %q. Known: %s. Pick another model, or add it "+
			"under models.providers in hearth.json.", ref.Provider, v.names())
	}
	if x.reason != "" {
		return Choice{}, unavailable(ref, x.class, "%s", x.reason)
	}
	m, ok := x.model(ref.Model)
	if !ok {
		return Choice{}, unavailable(ref, model.ClassNoModel, "%s has no model called %q. It has: %s.%s", x.name, ref.Model, modelNames(x.models),
			x.howToAdd(ref.Model))
	}
	ref.Model = m.ID
	m.ContextWindow = v.windowOf(&x, m)
	c := Choice{Ref: ref, Provider: v.provider(x, m), ContextWindow: m.ContextWindow, Trained: x.trainedFor(m.ID), Tools: v.tools(&x, m.ID),
		Images: x.canSee(m), Source: x.source,
		Local: x.local || onThisComputer(x.baseURL)}
	if source != "" {
		c.Source = source
	}
	c.baseURL, c.with = x.baseURL, func(key string) model.Provider {
		y := x
		y.key = key
		return v.provider(y, m)
	}
	return c, nil
}

// model finds a model by id. A service whose list is not complete is believed
// to have every model.
func (x *reach) model(id string) (ModelConfig, bool) {
	for _, m := range x.models {
		if m.ID == id {
			return m, true
		}
	}
	for _, m := range x.models {
		if canonical(m.ID) == canonical(id) {
			return m, true
		}
	}
	for _, m := range x.service.models {
		if m.ID == id {
			return m, true
		}
	}
	return ModelConfig{ID: id}, !x.listed
}

// canonical is a model id with Ollama's default tag taken off.
func canonical(id string) string { return strings.TrimSuffix(id, ":latest") }

func (x *reach) howToAdd(id string) string {
	if x.api == APIOllama {
		return fmt.Sprintf(" Get it with `ollama pull %s`.", id)
	}
	return ""
}

// chosen reports whether the person wants a service to be used.
func (v view) chosen(x *reach) bool {
	_, configured := v.settings.Providers[x.id]
	return configured || x.local || slices.Contains(v.settings.Named, x.id) || v.r.choseAccount(x.id)
}

// fallback is the model to use when nobody said which: the configured one, a
// model of a configured service, one on this computer, one of a service whose
// account was added, and else the guide. A key that was only found, in the
// environment, is nobody's choice; and for who looks around, what was only found
// on this computer is none either.
func (v view) fallback() (model.Ref, string) {
	if p := strings.TrimSpace(v.settings.Primary); p != "" {
		return v.primary(p), SourceConfigured
	}
	for _, id := range v.configured() {
		if x, _ := v.reach(id); x.reason == "" && len(x.models) > 0 {
			return model.Ref{Provider: id, Model: x.models[0].ID}, SourceConfigured
		}
	}
	for _, s := range v.r.table {
		x, _ := v.reach(s.id)
		if x.reason != "" || len(x.models) == 0 || x.isAway(x.best()) {
			continue
		}
		if v.r.choseAccount(s.id) || x.local && x.isFound(v) && !v.r.around() {
			return model.Ref{Provider: s.id, Model: x.best()}, x.source
		}
	}
	return guide.Ref(), SourceBuiltIn
}

// best is the first model that can use tools, or else the first, of those
// that run here if there are any.
func (x *reach) best() string {
	all := x.models
	if here := slices.DeleteFunc(slices.Clone(all), func(m ModelConfig) bool { return x.isAway(m.ID) }); len(here) > 0 {
		all = here
	}
	for _, m := range all {
		if x.toolIn(m.ID) {
			return m.ID
		}
	}
	return all[0].ID
}

func (x *reach) isAway(id string) bool { return slices.Contains(x.away, canonical(id)) }

// primary reads the configured model. A name without a known provider is
// looked for among all models, because people leave the provider away.
func (v view) primary(p string) model.Ref {
	ref, ok := model.ParseRef(p)
	if ok {
		if x, known := v.reach(ref.Provider); known || ref == guide.Ref() {
			if m, listed := x.model(ref.Model); listed {
				ref.Model = m.ID // one model has one name: "tiny" is "tiny:latest"
			}
			return ref
		}
	}
	for _, e := range v.entriesOf(v.order(), false) {
		if e.Available && canonical(e.Ref.Model) == canonical(p) {
			return e.Ref
		}
	}
	if !ok {
		return model.Ref{Model: p}
	}
	return ref
}

// configured returns the ids of configured services in a stable order.
func (v view) configured() []string {
	ids := make([]string, 0, len(v.settings.Providers))
	for id := range v.settings.Providers {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// order is every service once, configured ones first.
func (v view) order() []string {
	ids := v.configured()
	for _, s := range v.r.table {
		if !slices.Contains(ids, s.id) {
			ids = append(ids, s.id)
		}
	}
	return ids
}

// onThisComputer tells a loopback address.
func onThisComputer(baseURL string) bool {
	u, err := url.Parse(baseURL)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
}

// expand replaces ${NAME}; missing is the first name that is empty.
func expand(s string, env func(string) string) (out, missing string) {
	for {
		before, rest, ok := strings.Cut(s, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			return out + s, missing
		}
		value := firstOf(name, env)
		if value == "" && missing == "" {
			missing = name
		}
		out += before + value
		s = after
	}
}

// firstOf is the value of the first name that has one: "A|B|=text" ends with a
// text of its own.
func firstOf(names string, env func(string) string) string {
	for name := range strings.SplitSeq(names, "|") {
		if text, ok := strings.CutPrefix(name, "="); ok {
			return text
		}
		if value := env(name); value != "" {
			return value
		}
	}
	return ""
}
