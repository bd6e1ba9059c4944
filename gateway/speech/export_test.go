package speech

// HomeOf is the home folder of a writer's programs.
func HomeOf(w *Writer) string { return w.o.Execution.Home }
