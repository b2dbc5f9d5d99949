package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"unicode/utf8"

	"memoryd"
)

// suffix is how a dump's name ends.
const suffix = ".jsonl"

// maxFileName bounds an encoded name: file systems allow 255 bytes, some of them
// less.
const maxFileName = 180

// FileName is the name of a workspace's dump: the workspace and ".jsonl". What is
// not safe in a file name of any system is written as %XX (a dot at the start, a
// dot or space at the end, everything but letters, digits, "-", "_", "." and
// space; the first letter of a Windows device such as "con"), and a name that is
// too long ends in its hash. Different workspaces have different names.
func FileName(workspace string) string {
	var b strings.Builder
	for i := 0; i < len(workspace); {
		r, n := utf8.DecodeRuneInString(workspace[i:])
		last := i+n == len(workspace)
		switch {
		case r == utf8.RuneError || r < utf8.RuneSelf && !plain(byte(r)),
			i == 0 && (r == '.' || r == ' ' || isDevice(workspace)),
			last && (r == '.' || r == ' '):
			escape(&b, workspace[i:i+n])
		default:
			b.WriteString(workspace[i : i+n])
		}
		i += n
	}
	name := b.String()
	if len(name) > maxFileName {
		sum := sha256.Sum256([]byte(workspace))
		name = strings.ToValidUTF8(name[:maxFileName-65], "") + "~" + hex.EncodeToString(sum[:])
	}
	return name + suffix
}

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_. ", c) >= 0
}

func escape(b *strings.Builder, s string) {
	const digits = "0123456789ABCDEF"
	for _, c := range []byte(s) {
		b.Write([]byte{'%', digits[c>>4], digits[c&15]})
	}
}

// isDevice reports whether Windows would take the name, up to its first dot, for
// a device.
func isDevice(name string) bool {
	base, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch base = strings.TrimRight(base, " "); base {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	if len(base) < 4 || base[:3] != "com" && base[:3] != "lpt" {
		return false
	}
	n, size := utf8.DecodeRuneInString(base[3:])
	return 3+size == len(base) && strings.ContainsRune("0123456789¹²³", n)
}

// maxPath bounds the path of a request.
const maxPath = 1024

// dumpPath is where below the dump folder the dump of a workspace is. A path that
// ends in ".jsonl" names the file; any other, "" and "./" among them, is a folder
// for the workspace's own FileName. Paths are written with slashes on all systems.
// What could lead out of the folder is refused, not mended.
func dumpPath(workspace, p string) (string, error) {
	if len(p) > maxPath || !utf8.ValidString(p) || strings.ContainsAny(p, "\\:\x00") || strings.HasPrefix(p, "/") {
		return "", badPath()
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." {
			continue
		}
		if part == ".." || !safePart(part) {
			return "", badPath()
		}
	}
	p = path.Clean(p)
	if strings.HasSuffix(p, suffix) {
		return p, nil
	}
	return path.Join(p, FileName(workspace)), nil
}

// safePart reports whether a component means the same on all systems and is no
// hidden file.
func safePart(part string) bool {
	end := part[len(part)-1]
	return len(part) <= 255 && part[0] != '.' && end != '.' && end != ' ' && !isDevice(part) &&
		!strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(`<>"|?*`, r) })
}

func badPath() error {
	return memoryd.Errorf(memoryd.Invalid, "path must be a name inside the dump folder")
}
