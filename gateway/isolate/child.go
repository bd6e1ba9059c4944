package isolate

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A Job makes its output of an input.
type Job func(in []byte) ([]byte, error)

// The first byte of what a process writes.
const (
	done   = '+'
	failed = '-'
)

// How a process ends otherwise.
const (
	exitThrown = 2 // Go's
	exitMemory = 97
	exitOutput = 98
	exitOrder  = 99
)

const (
	// look is how often the process looks at its own memory.
	look = 5 * time.Millisecond
	// maxStack is much deeper than any page may nest.
	maxStack = 64 << 20
)

// Main does one job, told on standard input. A program calls it at the very
// start of main when it was started with the arguments of New, and exits with
// its result.
func Main(jobs map[string]Job) int {
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	var o order
	if err != nil || json.Unmarshal(line, &o) != nil || jobs[o.Job] == nil {
		return exitOrder
	}
	debug.SetMaxStack(maxStack)
	debug.SetMemoryLimit(o.Memory / 2) // from there on it rather collects than grows
	limit(o)
	go watch(o.Memory)
	body, err := io.ReadAll(in)
	if err != nil {
		return exitOrder
	}
	out, err := attempt(jobs[o.Job], body)
	head := byte(done)
	if err != nil {
		head, out = failed, []byte(err.Error())
	}
	if int64(len(out)) > o.Output {
		return exitOutput
	}
	if _, err := os.Stdout.Write(append([]byte{head}, out...)); err != nil {
		return 1
	}
	return 0
}

// attempt does a job; a panic of a parser is an answer too.
func attempt(job Job, in []byte) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("its reader gave up: %v", r)
		}
	}()
	return job(in)
}

// watch ends the process when it holds more memory than it may. Not all systems
// have a limit for that, and Go's own is only a wish.
func watch(most int64) {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for {
		metrics.Read(s)
		if s[0].Value.Uint64()-s[1].Value.Uint64() > uint64(most) {
			os.Exit(exitMemory)
		}
		time.Sleep(look)
	}
}
