package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"memoryd"
)

// SessionTime is how long a browser stays logged in.
const SessionTime = 12 * time.Hour

// sessions are signed with a secret of the process: they end with it.
type sessions struct{ secret [32]byte }

func (s *sessions) sign(text string) string {
	mac := hmac.New(sha256.New, s.secret[:])
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// Login returns what a browser keeps instead of a key: the id of the key, the end of the
// session, and a signature of both and of the key's current secret. So a session ends when
// its key is rotated or revoked.
func (k *Keys) Login(token string) (session string, p *Principal, err error) {
	if p, err = k.Verify(token); err != nil {
		return "", nil, err
	}
	text := p.Source + "." + strconv.FormatInt(k.now().Add(SessionTime).Unix(), 10)
	return text + "." + k.sessions.sign(text+k.all()[p.Source].Hash), p, nil
}

// Session returns the caller of a session.
func (k *Keys) Session(session string) (*Principal, error) {
	at := strings.LastIndexByte(session, '.')
	id, until, ok := strings.Cut(session[:max(at, 0)], ".")
	e := k.all()[id]
	now := k.now()
	ends, err := strconv.ParseInt(until, 10, 64)
	if !ok || e == nil || err != nil || now.Unix() >= ends || !e.live(now) ||
		!hmac.Equal([]byte(session[at+1:]), []byte(k.sessions.sign(session[:at]+e.Hash))) {
		return nil, memoryd.Errorf(memoryd.Unauthenticated, "the session has ended: log in again")
	}
	return e.use(now)
}
