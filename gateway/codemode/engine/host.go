package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"
	"unicode/utf16"

	"github.com/tetratelabs/wazero/sys"
)

// What the prelude's host function is called for.
const (
	hostBoot = iota
	hostRequest
	hostOutput
	hostDone
)

const (
	hostArgs   = 4 // what the module puts before our own arguments
	exitStop   = 2 // we stopped the guest; v.stop says why
	hostTaken  = uint64(0)
	hostTooBig = uint64(1)
)

// JSString of quickjs-ng 0.10.1 on wasm32; checked at boot with two probes.
const (
	stringLen  = 4 // 31 bits of length, one bit "two bytes a character"
	stringKind = 8 // 29 bits of hash, one bit "a part of another text", two bits "a name"
	stringData = 20
)

// halt ends the guest here and now: no instruction of it runs any more.
func (v *VM) halt(e *Error) {
	if v.stop == nil {
		v.stop = e
	}
	panic(sys.NewExitError(exitStop))
}

// tick is called by the guest every fuelEvery steps.
func (v *VM) tick(ctx context.Context) {
	v.giveWay(ctx)
	switch err := ctx.Err(); {
	case errors.Is(err, context.DeadlineExceeded), err == nil && time.Until(v.until) <= 0:
		v.halt(failed(Timeout, "the program ran for longer than it may (%v)", v.limits.Timeout))
	case err != nil || v.closing.Load():
		v.halt(failed(Aborted, "the run was aborted"))
	}
}

// hostCall is the one door of the guest. It reads and never calls back.
func (v *VM) hostCall(argc, argv uint32) uint64 {
	raw, ok := v.mem.Read(argv, argc*8)
	if !ok || argc < hostArgs+2 || argc > 16 {
		v.halt(failed(InternalError, "the bridge was called wrongly"))
	}
	args := make([]uint64, 0, 16)
	for i := uint32(hostArgs); i < argc; i++ {
		args = append(args, binary.LittleEndian.Uint64(raw[i*8:]))
	}
	if tagOf(args[0]) != tagInt {
		v.halt(failed(InternalError, "the bridge was called wrongly"))
	}
	switch op := int(uint32(args[0])); {
	case op == hostBoot && v.booting:
		v.bootErr = v.keepRoots(args[1:])
	case op == hostRequest && v.started:
		return v.takeCall(args[1])
	case op == hostOutput && v.started:
		v.takeOutput(args[1])
	case op == hostDone && v.started:
		v.takeDone(args[1])
	default:
		v.halt(failed(InternalError, "the bridge was called wrongly"))
	}
	return hostTaken
}

func (v *VM) takeCall(val uint64) uint64 {
	text, ok := v.text(val, v.limits.Args)
	if !ok {
		return hostTooBig
	}
	var c Call
	if json.Unmarshal(text, &c) != nil || !v.newCall(c) {
		v.halt(failed(InternalError, "the bridge was handed a broken call"))
	}
	if len(v.pending) >= v.limits.Pending {
		v.halt(failed(TooManyPendingToolCalls, "more than %d calls were unanswered at once", v.limits.Pending))
	}
	v.lastID = c.ID
	v.pending[c.ID] = c.Method
	v.calls = append(v.calls, c)
	return hostTaken
}

func (v *VM) newCall(c Call) bool {
	switch c.Method {
	case MethodSearch, MethodDescribe, MethodCall, MethodYield:
		return c.ID == v.lastID+1 && bytes.HasPrefix(c.Args, []byte("["))
	}
	return false
}

func (v *VM) takeOutput(val uint64) {
	var o Output
	if json.Unmarshal(v.budgeted(val), &o) != nil || o.Type != "text" && o.Type != "json" {
		v.halt(failed(InternalError, "the bridge was handed a broken output"))
	}
	v.output = append(v.output, o)
}

type outcome struct {
	OK    bool            `json:"ok"`
	Value json.RawMessage `json:"value,omitempty"`
	Error *thrown         `json:"error,omitempty"`
}

// thrown is what the prelude tells of an exception.
type thrown struct {
	Text  string `json:"text"`
	Stack string `json:"stack"`
	Code  string `json:"code"`
}

func (v *VM) takeDone(val uint64) {
	if v.outcome != nil {
		return
	}
	var o outcome
	if json.Unmarshal(v.budgeted(val), &o) != nil || o.OK == (o.Error != nil) {
		v.halt(failed(InternalError, "the bridge was handed a broken result"))
	}
	v.outcome = &o
}

// budgeted reads a text that counts as output.
func (v *VM) budgeted(val uint64) []byte {
	text, ok := v.text(val, v.limits.Output-v.spent+envelope)
	v.spent += len(text) - min(len(text), envelope)
	if !ok || v.spent > v.limits.Output {
		v.halt(failed(OutputLimitExceeded, "the program's output is larger than %d bytes", v.limits.Output))
	}
	return text
}

// envelope is what the prelude writes around an output.
const envelope = len(`{"type":"text","text":}`)

// text reads a string of the guest as UTF-8, if it is at most limit bytes.
func (v *VM) text(val uint64, limit int) ([]byte, bool) {
	if tagOf(val) != tagString {
		v.halt(failed(InternalError, "the bridge was called wrongly"))
	}
	p := uint32(val)
	head := v.u32(p + stringLen)
	n, wide := head&(1<<31-1), head>>31 == 1
	if int64(n) > int64(limit) {
		return nil, false
	}
	if wide {
		n *= 2
	}
	from := p + stringData
	if v.u32(p+stringKind)>>29&1 == 1 { // a part of another text
		from = v.u32(p+stringData) + stringData + v.u32(p+stringData+4)
	}
	b, ok := v.mem.Read(from, n)
	if !ok {
		v.halt(failed(InternalError, "the bridge was handed a broken text"))
	}
	var out []byte
	if wide {
		units := make([]uint16, n/2)
		for i := range units {
			units[i] = binary.LittleEndian.Uint16(b[2*i:])
		}
		out = []byte(string(utf16.Decode(units)))
	} else {
		out = latin1(b)
	}
	return out, len(out) <= limit
}

func latin1(b []byte) []byte {
	out := make([]byte, 0, len(b)+16)
	for _, c := range b {
		if c < 0x80 {
			out = append(out, c)
		} else {
			out = append(out, 0xc0|c>>6, 0x80|c&0x3f)
		}
	}
	return out
}
