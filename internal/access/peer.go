package access

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
)

// peer is the other end of a connection. The system is asked once, when it is first needed.
type peer struct {
	remote, local netip.AddrPort
	known         bool // both are addresses of TCP
	once          sync.Once
	own           bool
	owners        *Owners
}

type peerKey struct{}

// Owners asks the system which user owns a connection.
type Owners struct{ kernel kernel }

// PeerOf adds the peer to the context of a connection: a hook for http.Server.
func (o *Owners) PeerOf(ctx context.Context, conn net.Conn) context.Context {
	p := &peer{owners: o}
	var errs [2]error
	p.remote, errs[0] = netip.ParseAddrPort(conn.RemoteAddr().String())
	p.local, errs[1] = netip.ParseAddrPort(conn.LocalAddr().String())
	p.known = errors.Join(errs[:]...) == nil
	return context.WithValue(ctx, peerKey{}, p)
}

// Foreign reports whether a request came over a connection on this machine from another user
// than the server's, other than root. Connections over a Unix socket, from another machine,
// or within the process are not foreign.
func Foreign(ctx context.Context) bool {
	p, ok := ctx.Value(peerKey{}).(*peer)
	if !ok || !p.known || !p.remote.Addr().Unmap().IsLoopback() && p.remote.Addr().Unmap() != p.local.Addr().Unmap() {
		return false
	}
	p.once.Do(func() {
		uid, err := p.owners.of(p.remote, p.local)
		p.own = err == nil && (uid == 0 || uid == os.Geteuid())
	})
	return !p.own
}

// NewOwners fails if the system does not report the owner of a connection. It tries one of
// its own.
func NewOwners(ctx context.Context, listener net.Addr) (*Owners, error) {
	o := &Owners{}
	return o, o.test(ctx, listener)
}

func (o *Owners) test(ctx context.Context, listener net.Addr) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", listener.String())
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // nothing was written
	own, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil {
		return err
	}
	there, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return err
	}
	uid, err := o.of(own, there)
	if err == nil && uid != os.Geteuid() {
		err = fmt.Errorf("a connection of user %d claims to be of user %d", os.Geteuid(), uid)
	}
	return err
}

var errNoOwner = errors.New("the system does not report the user of the connection")
