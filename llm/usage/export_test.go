package usage

import "context"

// Flush writes what changed, as the ledger does from time to time.
func (b *Ledger) Flush(ctx context.Context) { b.flush(ctx) }
