package errortext

import (
	"net/http"
	"strconv"
	"strings"
	"syscall"

	"memoryd/internal/phrases"
	"memoryd/internal/textsafe"
)

// errnoNames are the names of error numbers that systems share (POSIX, Linux).
var errnoNames = phrases.Words(strings.Fields(
	"E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT EAGAIN EALREADY EBADF EBADMSG EBUSY ECANCELED ECHILD ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK " +
		"EDESTADDRREQ EDOM EDQUOT EEXIST EFAULT EFBIG EHOSTDOWN EHOSTUNREACH EIDRM EILSEQ EINPROGRESS EINTR EINVAL EIO EISCONN EISDIR ELOOP EMFILE EMLINK EMSGSIZE " +
		"ENAMETOOLONG ENETDOWN ENETRESET ENETUNREACH ENFILE ENOBUFS ENODATA ENODEV ENOENT ENOEXEC ENOLCK ENOLINK ENOMEM ENOMSG ENOPROTOOPT ENOSPC ENOSYS ENOTBLK " +
		"ENOTCONN ENOTDIR ENOTEMPTY ENOTFOUND ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY ENXIO EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM EPFNOSUPPORT EPIPE EPROTO " +
		"EPROTONOSUPPORT EPROTOTYPE ERANGE EREMOTEIO EROFS ESHUTDOWN ESOCKTNOSUPPORT ESPIPE ESRCH ESTALE ETIMEDOUT ETXTBSY EUSERS EXDEV")...)

// sqlClasses are the first two characters of codes of SQL (ISO 9075, and what engines add)
// that mean a failure; 00, 01 and 02 are success, a warning, no data.
var sqlClasses = phrases.Words(strings.Fields("07 08 09 0A 0B 0D 0E 0F 0K 0L 0M 0N 0P 0S 0T 0U 0V 0W 0X 0Y 0Z 10 20 21 22 23 24 25 26 27 28 2B 2C 2D 2E 2F 2H 30 33 34 35 36 38 39 3B 3C 3D 3F " +
	"40 42 44 45 46 51 53 54 55 56 57 58 5U 60 61 70 72 82 F0 HV HY HZ IM P0 S0 S1 XX")...)

// isErrno reports whether s is the name of an error number of an operating system.
func isErrno(s string) bool { return len(s) > 2 && s[0] == 'E' && errnoNames[s] }

// conditions are the texts by which an operating system and HTTP tell of errors, in lower case.
var conditions = func() phrases.Set {
	all := phrases.Set{}
	for n := syscall.Errno(1); n < 134; n++ {
		all[strings.ToLower(n.Error())] = true
	}
	for code := http.StatusBadRequest; code < 600; code++ {
		if reason := strings.ToLower(http.StatusText(code)); reason != "" {
			number := strconv.Itoa(code)
			all[number+" "+reason], all["http "+number], all["http "+number+" "+reason] = true, true, true
		}
	}
	return all
}()

// Condition reports whether s is the name or the text of an error number of an operating system,
// or a status of HTTP that tells of an error: ECONNREFUSED, Connection refused, 502 Bad Gateway.
func Condition(s string) bool {
	s = strings.TrimSuffix(s, ".")
	return isErrno(s) || phrases.FoldedIn(s, conditions)
}

// badSQLState reports whether s is an SQLSTATE that means a failure: 23505, 42P01.
func badSQLState(s string) bool {
	return len(s) == 5 && sqlClasses[s[:2]] && inSQLState.Span(s) == len(s)
}

// inSQLState are the characters of an SQLSTATE.
var inSQLState = textsafe.BytesOf("09AZ", "")
