//go:build desktop && cgo

package window

/*
#cgo LDFLAGS: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
static int number(const char *name) {
	unsigned (*f)(void) = (unsigned (*)(void))dlsym(RTLD_DEFAULT, name);
	return f ? (int)f() : -1;
}
*/
import "C"

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// inSoftware has the web view draw without the graphics card's help: some
// drivers show a blank window otherwise.
func inSoftware() { forWebKit("WEBKIT_DISABLE_DMABUF_RENDERER", "1") }

// withoutDriver keeps this window's processes from loading a graphics driver,
// with its compiler 25 MB each, that a page drawn in software has no use for.
// GTK looks for one when it makes a window, and WebKit when it wants to know which
// card its pages may use; a device that is named is not looked for.
func withoutDriver() {
	forWebKit("GDK_GL", "disable")
	forWebKit("WEBKIT_WEB_RENDER_DEVICE_FILE", "/dev/null")
	// The page's process wants to have one, of which it never asks anything; later
	// versions do not, and what they want instead nobody has tried.
	if webkit() != "2.50" || os.Getenv("WEBKIT_FORCE_SANDBOX") != "" {
		return
	}
	if list := vendor(); list != "" {
		forWebKit("__EGL_VENDOR_LIBRARY_FILENAMES", list)
	}
}

// webkit is the version of the library that this program runs with.
func webkit() string {
	part := func(name string) int {
		n := C.CString(name)
		defer C.free(unsafe.Pointer(n))
		return int(C.number(n))
	}
	return fmt.Sprintf("%d.%d", part("webkit_get_major_version"), part("webkit_get_minor_version"))
}

const noDriver = "libhearth-nodriver.so" // nodriver/nodriver.c

// vendor is a file that names a driver without graphics, which is installed
// beside this program or in its library folder. The file is in memory, and is
// there as long as this process.
func vendor() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	for _, dir := range []string{".", "../lib/hearth"} {
		library := filepath.Join(filepath.Dir(exe), dir, noDriver)
		if _, err := os.Stat(library); err != nil {
			continue
		}
		text, err := json.Marshal(map[string]any{"file_format_version": "1.0.0", "ICD": map[string]string{"library_path": library}})
		if err != nil {
			return ""
		}
		fd, err := unix.MemfdCreate("hearth-egl", unix.MFD_CLOEXEC)
		if err != nil {
			return ""
		}
		if _, err := unix.Write(fd, text); err != nil {
			_ = unix.Close(fd)
			return ""
		}
		return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd)
	}
	return ""
}

// forWebKit says what nobody said otherwise. Only C's environment is changed:
// WebKit's processes get that one, programs that this one starts get Go's.
func forWebKit(name, value string) {
	n, v := C.CString(name), C.CString(value)
	defer C.free(unsafe.Pointer(n))
	defer C.free(unsafe.Pointer(v))
	C.setenv(n, v, 0)
}
