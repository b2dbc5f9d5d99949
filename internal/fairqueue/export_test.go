package fairqueue

// Queued reports whether the entry waits.
func (e *Entry[T]) Queued() bool { return e.index >= 0 }
