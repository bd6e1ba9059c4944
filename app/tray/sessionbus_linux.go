//go:build desktop

package main

// #cgo pkg-config: gio-2.0
// #include <gio/gio.h>
//
// // answered ends the wait of turn.
// static void answered(GObject *source, GAsyncResult *result, gpointer waits) {
// 	GDBusConnection *c = g_bus_get_finish(result, NULL);
// 	if (c != NULL)
// 		g_object_unref(c);
// 	*(gboolean *)waits = FALSE;
// }
//
// // turn asks for the bus as libayatana-appindicator does, in a thread, and waits
// // for the answer in a loop of its own, so that GTK's does not turn.
// static void turn(void) {
// 	GMainContext *own = g_main_context_new();
// 	gboolean waits = TRUE;
// 	g_main_context_push_thread_default(own);
// 	g_bus_get(G_BUS_TYPE_SESSION, NULL, answered, &waits);
// 	while (waits)
// 		g_main_context_iteration(own, TRUE);
// 	g_main_context_pop_thread_default(own);
// 	g_main_context_unref(own);
// }
//
// static gboolean wait_turns(gpointer turns) {
// 	for (guint n = GPOINTER_TO_UINT(turns); n > 0; n--) {
// 		g_usleep(10 * 1000);
// 		turn();
// 	}
// 	return G_SOURCE_REMOVE;
// }
//
// // open_bus opens the session's bus, which GIO then has for the whole process.
// static void open_bus(guint turns) {
// 	g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
// 	g_idle_add_full(G_PRIORITY_HIGH, wait_turns, GUINT_TO_POINTER(turns), NULL);
// }
import "C"

// turns is how many times the bus is asked for, 10 ms apart, before GTK's loop
// begins: on an idle computer 0.1 s, on a busy one as much longer as its threads
// wait for their turn.
const turns = 10

// openBus has the icon always find its panel. libayatana-appindicator (0.5.92,
// app-indicator.c) asks for the session's bus twice, each time in a thread: once
// to look for the panel, once for itself. Where the panel was found first, its
// name_appeared_handler goes on without a connection, and the icon is not shown
// until the panel is started anew; its menu asks a third time. So the bus is
// open before, and the loop that hears the answers begins when all three are
// there: it takes them in one go, before anything that follows from the first.
// That they are there is not told anywhere; questions of Hearth's own, asked
// later and each after the answer to the one before, show that they had time.
func openBus() { C.open_bus(turns) }
