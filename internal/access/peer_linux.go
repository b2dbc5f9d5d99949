package access

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"syscall"
)

// tries is how often the tables are read: an entry may be passed over while others
// come and go.
const tries = 3

// ownerOf gives the user of the connection from here to there, as its own side of it
// stands in the tables of the system: the kernel is asked for the one entry, and where it
// is not to be asked the tables are read.
func ownerOf(here, there netip.AddrPort) (uid int, err error) {
	if uid, err = askOwner(here, there); err == nil || errors.Is(err, errNoOwner) {
		return uid, err
	}
	for range tries {
		for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
			if uid, err = ownerIn(table, here, there); err == nil {
				return uid, nil
			}
		}
	}
	return 0, err
}

func ownerIn(table string, here, there netip.AddrPort) (uid int, err error) {
	f, err := os.Open(table) //nolint:gosec // of two
	if err != nil {
		return 0, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	v6 := table[len(table)-1] == '6'
	if !v6 && !here.Addr().Unmap().Is4() {
		return 0, errNoOwner
	}
	pair := append(append(tableForm(here, v6), ' '), tableForm(there, v6)...)
	buffer := make([]byte, 0, 64<<10)
	for {
		n, err := f.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if at := bytes.Index(buffer, pair); at >= 0 {
			if end := bytes.IndexByte(buffer[at:], '\n'); end >= 0 {
				return uidOf(buffer[at : at+end])
			}
		}
		if errors.Is(err, io.EOF) {
			return 0, errNoOwner
		}
		if err != nil {
			return 0, err
		}
		if at := bytes.LastIndexByte(buffer, '\n'); at >= 0 { // the last line may go on
			buffer = buffer[:copy(buffer, buffer[at+1:])]
		}
	}
}

// uidOf reads the rest of an entry: addresses, state, queues, timer, retransmissions,
// user, timeout, inode. A socket that its program has closed has no inode and is said
// to be of root.
func uidOf(entry []byte) (int, error) {
	fields := bytes.Fields(entry)
	const user, inode = 6, 8
	if len(fields) <= inode || string(fields[inode]) == "0" {
		return 0, errNoOwner
	}
	return strconv.Atoi(string(fields[user]))
}

// tableForm writes an address as the tables do: 32-bit words in the order of the
// machine, the port as it is read.
func tableForm(a netip.AddrPort, v6 bool) []byte {
	raw := a.Addr().As16()
	b := raw[:]
	if !v6 {
		four := a.Addr().Unmap().As4()
		b = four[:]
	}
	var text []byte
	for ; len(b) > 0; b = b[4:] {
		text = fmt.Appendf(text, "%08X", binary.NativeEndian.Uint32(b))
	}
	return fmt.Appendf(text, ":%04X", a.Port())
}

// askOwner asks the kernel (sock_diag) for one socket of TCP.
func askOwner(here, there netip.AddrPort) (int, error) {
	const diagnose, byFamily, header, question, answerAt = 4, 20, syscall.SizeofNlMsghdr, 56, 64
	s, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, diagnose)
	if err != nil {
		return 0, err
	}
	defer syscall.Close(s) //nolint:errcheck // it was only asked
	ask := make([]byte, header+question)
	binary.NativeEndian.PutUint32(ask, uint32(len(ask)))
	binary.NativeEndian.PutUint16(ask[4:], byFamily)
	binary.NativeEndian.PutUint16(ask[6:], syscall.NLM_F_REQUEST)
	q := ask[header:]
	src, dst, family := here.Addr().Unmap(), there.Addr().Unmap(), byte(syscall.AF_INET)
	if src.Is6() {
		family = syscall.AF_INET6
	}
	q[0], q[1] = family, syscall.IPPROTO_TCP
	binary.NativeEndian.PutUint32(q[4:], ^uint32(0)) // in any state
	binary.BigEndian.PutUint16(q[8:], here.Port())
	binary.BigEndian.PutUint16(q[10:], there.Port())
	copy(q[12:28], src.AsSlice())
	copy(q[28:44], dst.AsSlice())
	binary.NativeEndian.PutUint64(q[48:], ^uint64(0)) // of any cookie
	if err := syscall.Sendto(s, ask, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return 0, err
	}
	got := make([]byte, 512)
	n, _, err := syscall.Recvfrom(s, got, 0)
	if err != nil {
		return 0, err
	}
	a := got[min(header, n):n]
	switch kind := binary.NativeEndian.Uint16(got[4:]); {
	case kind == syscall.NLMSG_ERROR && len(a) >= 4 && int32(binary.NativeEndian.Uint32(a)) == -int32(syscall.ENOENT): //nolint:gosec // a number below zero
		return 0, errNoOwner
	case kind != byFamily || len(a) < answerAt+8:
		return 0, errors.New("the kernel is not to be asked")
	case binary.BigEndian.Uint16(a[4:]) != here.Port() || binary.BigEndian.Uint16(a[6:]) != there.Port() || binary.NativeEndian.Uint32(a[answerAt+4:]) == 0:
		return 0, errNoOwner // a listener, or a socket that its program has closed
	}
	return int(binary.NativeEndian.Uint32(a[answerAt:])), nil
}
