package lifecycle

// Patience is how long a worker is waited for.
const Patience = patience
