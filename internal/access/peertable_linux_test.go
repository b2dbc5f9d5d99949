package access

import (
	"net"
	"net/netip"
	"os"
	"testing"
)

// Where cannot query the kernel, as in a sandbox, the tables say the same.
func TestTheTablesTellOwnersToo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	here, there := netip.MustParseAddrPort(conn.LocalAddr().String()), netip.MustParseAddrPort(conn.RemoteAddr().String())
	if uid, err := ownerIn("/proc/net/tcp", here, there); err != nil || uid != os.Geteuid() {
		t.Errorf("user %d, %v", uid, err)
	}
	conn.Close()
	if uid, err := ownerIn("/proc/net/tcp", here, there); err == nil {
		t.Errorf("a closed one is of user %d", uid)
	}
}
