package errortext

// IsErrno and BadSQLState tell codes of errors.
var (
	IsErrno     = isErrno
	BadSQLState = badSQLState
)
