package access

// ErrTampered is part of the errors of VerifyAudit.
var ErrTampered = errTampered
