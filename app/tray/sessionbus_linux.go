//go:build desktop

package main

// #cgo pkg-config: gio-2.0
// #include <gio/gio.h>
//
// static gboolean pause_once(gpointer us) {
// 	g_usleep(GPOINTER_TO_UINT(us));
// 	return G_SOURCE_REMOVE;
// }
//
// // open_bus opens the session's bus, which GIO then has for the whole process.
// static void open_bus(guint us) {
// 	g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
// 	g_idle_add_full(G_PRIORITY_HIGH, pause_once, GUINT_TO_POINTER(us), NULL);
// }
import "C"

import "time"

// settle is how long GTK's loop waits before its first turn.
const settle = 100 * time.Millisecond

// openBus has the icon always find its panel. libayatana-appindicator (0.5.92,
// app-indicator.c) asks for the session's bus twice, each time in a thread: once
// to look for the panel, once for itself. Where the panel was found first, its
// name_appeared_handler goes on without a connection, and the icon is not shown
// until the panel is started anew; its menu asks a third time. So the bus is
// open before, and the loop that hears the answers begins when all three are
// there: it takes them in one go, before anything that follows from the first.
func openBus() { C.open_bus(C.guint(settle.Microseconds())) }
