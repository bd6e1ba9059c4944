package process

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/hearth-assistant/hearth/gateway/process/pinned"
)

// sealed puts bytes where nobody can change them any more.
func sealed(data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("hearth-copy", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("keep a copy of a script: %w", err)
	}
	f := os.NewFile(uintptr(fd), "copy")
	_, err = f.Write(data)
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("keep a copy of a script: %w", err)
	}
	return f, nil
}

// pins keep the copies in the place of the files.
type pins struct{ w *pinned.Watcher }

// pin returns nil where nothing is to be pinned, after a last look.
func pin(j job) (*pins, error) {
	if len(j.Copies) == 0 || !j.Pin {
		return nil, compare(j)
	}
	o := pinned.Options{Dir: j.Dir, Folder: pinned.FolderOf("."), Tell: func(words string) { fmt.Fprintln(os.Stderr, "hearth: "+words) }}
	for i, c := range j.Copies {
		o.Files = append(o.Files, pinned.File{Names: c.Names, Folders: c.Folders, Links: c.Links, Content: os.NewFile(uintptr(fdCopies+i),
			"copy")})
	}
	w, err := pinned.New(o)
	if err != nil {
		return nil, err
	}
	return &pins{w}, nil
}

// start starts the command from this thread, which is confined by now.
func (p *pins) start(path string, argv []string, attr *syscall.ProcAttr) (int, error) {
	if p == nil {
		return syscall.ForkExec(path, argv, attr)
	}
	// A collection that was about to begin while the collector was switched off still
	// begins; the one here begins after it, ends, and no other follows.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	if err := p.w.Enter(); err != nil {
		return 0, err
	}
	return syscall.ForkExec(path, argv, attr)
}

func (p *pins) stopped(pid int, status syscall.WaitStatus) {
	if p != nil {
		p.w.Stopped(pid, unix.WaitStatus(status))
	}
}
