package errortext

import (
	"strings"

	"memoryd/internal/phrases"
)

// role is what a member of a structured body says by its name.
type role byte

const (
	roleNone    role = iota
	roleError        // its value, if any, describes an error
	roleFailed       // true means failed
	roleSuccess      // false means failed
	roleStatus       // a word or an HTTP status
	roleCode         // a code that is 0 or 2xx when all is well
	roleErrno        // an error code: anything but 0 is one
	roleMessage      // text for people
	rolePayload      // holds the result
	roleExit         // exit status of a process
	roleStderr
	roleName     // beside a message it may be that of an exception
	roleIdentity // shows that the object is a record, not a reply
)

// roleNames are the normal keys of each role: lower case without separators.
var roleNames = map[role]string{
	roleError: "erro erros erreur erreurs errores fehler errore errori fout error errors err exception fault faultstring traceback errinfo errdetails " +
		"toolerror functionerror executionerror runtimeerror servererror clienterror apierror requesterror validationerror parseerror syntaxerror queryerror",
	roleFailed:  "iserror failed haserror haserrors failure timedout",
	roleSuccess: "sucesso exito erfolg succes success ok succeeded successful issuccess issuccessful",
	roleStatus:  "statut estado stato status responsestatus statustext outcome",
	roleCode:    "statuscode httpstatus httpcode code httpstatuscode cod responsecode resultcode",
	roleErrno:   "errorcode errcode errno retcode errnum grpcstatus grpccode",
	roleMessage: "mensagem mensaje messaggio nachricht meldung message msg detail details reason description info messages title note information refusalreason failurereason statusreason declinereason errorreason",
	rolePayload: "response result results output data content text body observation answer stdout return value items " +
		"payload records rows matches structuredcontent",
	roleExit:   "exit rc exitcode exitstatus returncode returnstatus",
	roleStderr: "stderr",
	roleName:   "name",
	roleIdentity: "id uuid createdat created orderid userid url link href permalink startedat finishedat completedat updatedat endedat failedat " +
		"starttime endtime valid isvalid passed compliant",
}

// roles is roleNames by key.
var roles = indexRoles(roleNames)

func indexRoles(names map[role]string) map[string]role {
	index := map[string]role{}
	for r, list := range names {
		for key := range strings.FieldsSeq(list) {
			index[key] = r
		}
	}
	return index
}

// keyBuffer holds a normal key; longer ones mean nothing.
type keyBuffer [28]byte

// NormalKey returns a key in lower case without separators.
func NormalKey(key string) string {
	var buf keyBuffer
	return string(buf.normal(key))
}

func (buf *keyBuffer) normal(key string) []byte {
	n := 0
	for i := range len(key) {
		c := key[i]
		if c == '_' || c == '-' || c == ' ' {
			continue
		}
		if n == len(buf) {
			return nil
		}
		buf[n] = c | 0x20
		n++
	}
	return buf[:n]
}

// roleOf returns the role of a member of that name. What says something of an error describes it: error_message,
// exception_detail.
func roleOf(key string) role {
	var buf keyBuffer
	name := buf.normal(key)
	if r, known := roles[string(name)]; known || len(name) < len("err")+len("msg") {
		return r
	}
	for _, head := range [...]string{"error", "exception", "err"} {
		if rest := name[min(len(name), len(head)):]; string(name[:len(name)-len(rest)]) == head {
			if roles[string(rest)] == roleMessage || errorParts[string(rest)] {
				return roleError
			}
			return roleNone
		}
	}
	return roleNone
}

// errorParts are what else is said of an error.
var errorParts = phrases.Words("type", "class", "text", "string", "summary", "data", "cause", "causes", "context", "list")

// TellsOutcome reports whether a member of this name tells how a call went, by a flag, a status or a code.
func TellsOutcome(key string) bool {
	ro := roleOf(key)
	return ro >= roleFailed && ro <= roleErrno || ro == roleExit
}

// voidTexts are values of an error member that mean that there is none.
var voidTexts = phrases.Words(
	"", "none", "null", "nil", "false", "no", "no error", "no errors", "ok", "success", "0", "[]", "{}", "n/a",
	"undefined", "noerror", "00000",
)

// isVoid reports whether the value of an error member means that there is no error.
func isVoid(s string) bool { return phrases.FoldedIn(s, voidTexts) }
