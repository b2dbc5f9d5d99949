package usage

import "context"

// Flush writes what changed, as the book does from time to time.
func (b *Book) Flush(ctx context.Context) { b.flush(ctx) }
