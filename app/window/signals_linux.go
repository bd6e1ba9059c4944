//go:build desktop && cgo

package window

/*
#include <signal.h>
#include <stddef.h>
static void repair(void) {
	static const int which[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
	for (size_t i = 0; i < sizeof which / sizeof which[0]; i++) {
		struct sigaction a;
		if (sigaction(which[i], NULL, &a) < 0) continue;
		if (a.sa_handler == SIG_DFL || a.sa_handler == SIG_IGN || (a.sa_flags & SA_ONSTACK)) continue;
		a.sa_flags |= SA_ONSTACK;
		sigaction(which[i], &a, NULL);
	}
}
*/
import "C"

import (
	"context"
	"time"
)

// repairSignals gives WebKit's signal handlers the flag that Go needs: without
// it a nil dereference that Go would recover ends the process. WebKit sets its
// handlers when scripts first run, so this is done for the first seconds.
// SIGUSR1 is WebKit's own and stays as it is.
func repairSignals(ctx context.Context) {
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for range 200 {
			C.repair()
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
}
