package llm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/url"
)

// faultOf says what a failed exchange means. attempt is the context under which
// it ran.
func faultOf(attempt context.Context, x *exchange, err error, d dialect) *fault {
	switch cause := context.Cause(attempt); {
	case x.api != nil:
		return classify(x.api, d)
	case errors.Is(cause, errAttemptTimeout):
		f := newFault(transient, "timeout", cause).temp().retried(1)
		f.timedOut = true
		return f
	case errors.Is(cause, errTotalTimeout):
		f := newFault(transient, "timeout", cause).temp()
		f.timedOut = true
		return f
	case cause != nil:
		return newFault(cancelled, "timeout", cause).temp()
	case x.err != nil:
		return networkFault(x.err)
	case x.status == 0: // the library did not send it
		return newFault(final, "rejected", err)
	}
	// Valid JSON of another shape.
	return newFault(badReply, "bad_reply", err).temp().retried(1)
}

// networkFault handles what went wrong below and above the reply's content.
func networkFault(err error) *fault {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without the address
	}
	switch {
	case errors.Is(err, errTooLarge):
		return newFault(final, "bad_reply", err)
	case errors.Is(err, errRedirected):
		return newFault(stopAll, "rejected", err).showing(ReasonEndpoint)
	case errors.Is(err, errNotJSON):
		return newFault(badReply, "bad_reply", err).temp().retried(2)
	case wrongCertificate(err):
		return newFault(stopAll, "network", err).showing(ReasonEndpoint)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return newFault(transient, "network", err).temp().retried(2)
	}
	return newFault(transient, "network", err).temp()
}

// wrongCertificate tells a server that is not the one configured from one that
// cannot be reached: only the former is a mistake of the configuration.
func wrongCertificate(err error) bool {
	_, verify := errors.AsType[*tls.CertificateVerificationError](err)
	_, host := errors.AsType[x509.HostnameError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	return verify || host || authority
}
