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
	"sync"
	"syscall"
)

// tries is how often the tables are read: an entry may be passed over while others
// come and go.
const tries = 3

// of gives the user of the connection from here to there, as its own side of it
// stands in the tables of the system: the kernel is asked for the one entry, and where it
// is not to be asked the tables are read.
func (o *Owners) of(here, there netip.AddrPort) (uid int, err error) {
	if uid, err = o.kernel.ask(here, there); err == nil || errors.Is(err, errNoOwner) {
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

// kernel is asked for one socket of TCP at a time (sock_diag), over a socket that stays
// open: opening one costs more than asking.
type kernel struct {
	mu     sync.Mutex
	socket *os.File
	asked  uint32
}

const (
	diagHeader   = syscall.SizeofNlMsghdr
	diagByFamily = 20 // SOCK_DIAG_BY_FAMILY
)

func (k *kernel) ask(here, there netip.AddrPort) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.socket == nil {
		const diagnose = 4 // NETLINK_SOCK_DIAG
		s, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, diagnose)
		if err != nil {
			return 0, err
		}
		k.socket = os.NewFile(uintptr(s), "sock_diag") // which closes it when nobody has it any more
	}
	k.asked++
	got := make([]byte, 512)
	n, err := 0, syscall.Sendto(int(k.socket.Fd()), diagQuestion(k.asked, here, there), 0,
		&syscall.SockaddrNetlink{Family: syscall.AF_NETLINK})
	if err == nil {
		n, _, err = syscall.Recvfrom(int(k.socket.Fd()), got, 0)
	}
	if err == nil && (n < diagHeader || binary.NativeEndian.Uint32(got[8:]) != k.asked) {
		err = errors.New("the kernel returned an unexpected answer")
	}
	if err != nil { // an answer may be under way: nobody else is to take it for his
		_ = k.socket.Close()
		k.socket = nil
		return 0, err
	}
	return diagOwner(got[:n], here, there)
}

func diagQuestion(number uint32, here, there netip.AddrPort) []byte {
	ask := make([]byte, diagHeader+56)
	binary.NativeEndian.PutUint32(ask, uint32(len(ask))) //nolint:gosec // it is small
	binary.NativeEndian.PutUint16(ask[4:], diagByFamily)
	binary.NativeEndian.PutUint16(ask[6:], syscall.NLM_F_REQUEST)
	binary.NativeEndian.PutUint32(ask[8:], number)
	q := ask[diagHeader:]
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
	return ask
}

func diagOwner(got []byte, here, there netip.AddrPort) (int, error) {
	const uid, inode = 64, 68
	a := got[diagHeader:]
	switch kind := binary.NativeEndian.Uint16(got[4:]); {
	case kind == syscall.NLMSG_ERROR && len(a) >= 4 && int32(binary.NativeEndian.Uint32(a)) == -int32(syscall.ENOENT): //nolint:gosec // a number below zero
		return 0, errNoOwner
	case kind != diagByFamily || len(a) < inode+4:
		return 0, errors.New("cannot query the kernel")
	case binary.BigEndian.Uint16(a[4:]) != here.Port() || binary.BigEndian.Uint16(a[6:]) != there.Port() ||
		binary.NativeEndian.Uint32(a[inode:]) == 0:
		return 0, errNoOwner // a listener, or a socket that its program has closed
	}
	return int(binary.NativeEndian.Uint32(a[uid:])), nil
}
