package main

import "math"

// openFiles is how many files this process may have open: there is no bound to speak of.
func openFiles() int { return 1 << 20 }

// freeAddresses is how many bytes of address space this process may still take.
func freeAddresses() int64 { return math.MaxInt64 }
