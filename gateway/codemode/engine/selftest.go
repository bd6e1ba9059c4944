package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// trials are what the engine promises, tried in this very process before the
// first cell: a processor, a compiler or a cache of machine code that breaks a
// promise closes code mode.
var trials = []struct {
	name, code string
	limits     Limits
	value      string // of a program that ends well
	fails      Code   // of one that does not
}{
	{name: "what a program finds", code: findings,
		value: `["RangeError","could not load module",[]]`},
	{name: "an endless loop is stopped", code: "for (;;) {}", fails: Timeout, limits: Limits{Timeout: time.Millisecond}},
	{name: "memory has an end", code: "const a = []; for (;;) a.push(new Uint8Array(1e5))", fails: MemoryLimitExceeded,
		limits: Limits{Memory: 1 << 20}},
}

// findings are: deep recursion is an exception; no module can be loaded;
// nothing of the host is there. The function that calls itself has many
// variables so that the guest's stack is full before the machine's has to grow
// much, which takes longer than all the rest.
const findings = `const found = [], f = Function('f', 'var v' + [...Array(200).keys()].join(',v') + ';f(f)');
try { f(f) } catch (e) { found.push(e.name) }
try { await import('qjs:os') } catch (e) { found.push(e.message.slice(0, 21)) }
found.push(['std','os','bjson','setTimeout','print','console','process','require','fetch','gc','WebAssembly','Worker'].filter(n => n in globalThis));
return found`

func (e *Engine) selfTest(ctx context.Context, m *machine) error {
	for _, t := range trials {
		st, err := e.try(ctx, m, t.code, t.limits.filled())
		var own *Error
		switch {
		case t.fails == "" && err != nil:
			return fmt.Errorf("%s: %w", t.name, err)
		case t.fails == "" && string(st.Value) != t.value:
			return fmt.Errorf("%s: it gave %s", t.name, st.Value)
		case t.fails != "" && (!errors.As(err, &own) || own.Code != t.fails):
			return fmt.Errorf("%s: it gave %v", t.name, err)
		}
	}
	return nil
}

func (e *Engine) try(ctx context.Context, m *machine, code string, l Limits) (State, error) {
	im, err := e.imageFor(ctx, m, Catalog{Tools: json.RawMessage("[]")})
	if err != nil {
		return State{}, err
	}
	v, err := e.instance(ctx, m, im, l)
	if err != nil {
		return State{}, err
	}
	defer v.Close()
	text, err := startText(code, [4]int32{1, 2, 3, 4})
	if err != nil {
		return State{}, err
	}
	v.started = true
	return v.run(ctx, nil, m.root.start, text)
}
