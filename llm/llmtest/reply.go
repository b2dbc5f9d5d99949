package llmtest

import (
	"net/http"
	"time"
)

// Handler answers a request. It is called by many goroutines at once.
type Handler func(Request) Reply

// Reply is what the server does with one request. The zero Reply is a good
// answer with an empty text. The functions of this package make the common
// ones; its fields allow the rest.
type Reply struct {
	// Status is the HTTP status; 0 means 200.
	Status int
	Header http.Header
	// Text is the answer, put into a chat completion.
	Text string
	// Finish is the finish reason; "" means "stop", "-" that there is none.
	Finish string
	// Refusal fills the message's refusal field, Model the reply's model (""
	// means the one asked for).
	Refusal string
	Model   string
	// AnswerTokens is the answer's count; 0 means four bytes a token. NoUsage
	// leaves the usage out.
	AnswerTokens int
	NoUsage      bool
	// Body is sent as it stands instead of a chat completion when not nil.
	Body []byte
	// Delay passes before the first byte.
	Delay time.Duration

	end  ending
	drip time.Duration // between two bytes
}

// ending is how a reply ends.
type ending int

const (
	complete ending = iota
	reset           // the connection is reset before the first byte
	cutBody         // the connection is reset in the middle of the body
	hang            // nothing ever comes
	endless         // the body is repeated for ever
)

// After gives the same reply d later.
func (r Reply) After(d time.Duration) Reply {
	r.Delay += d
	return r
}

// With gives the same reply with one more header.
func (r Reply) With(name, value string) Reply {
	h := r.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set(name, value)
	r.Header = h
	return r
}

// Always answers every request alike.
func Always(r Reply) Handler { return func(Request) Reply { return r } }

// Script answers the first request with the first reply and so on; the last
// reply answers all further ones. Requests that a limit refuses do not count.
func Script(replies ...Reply) Handler {
	next := make(chan Reply, len(replies))
	for _, r := range replies {
		next <- r
	}
	last := replies[len(replies)-1]
	return func(Request) Reply {
		select {
		case r := <-next:
			return r
		default:
			return last
		}
	}
}
