package errortext

// IsErrno tells codes of errors.
var IsErrno = isErrno
