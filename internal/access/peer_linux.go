package access

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"sync"
	"syscall"
)

// of gives the user of the connection from here to there, whose own side of it the kernel is asked
// for; once more where it could not be asked.
func (o *Owners) of(here, there netip.AddrPort) (uid int, err error) {
	if uid, err = o.kernel.ask(here, there); err != nil && !errors.Is(err, errNoOwner) {
		uid, err = o.kernel.ask(here, there)
	}
	return uid, err
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
