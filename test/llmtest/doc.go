// Package llmtest is a model server for tests. It speaks OpenAI's chat completions protocol,
// answers by script, enforces limits as providers do, and fails in all the ways that they do.
//
// A Server is the model: a handler that answers each request, limits, counters, and a log of
// the requests. There are three ways to reach it, which behave alike:
//
//	s := llmtest.New(llmtest.Always(llmtest.JSON(verdict)))
//	client, _ := llm.New(cfg, "key", llm.Options{HTTP: s.Transport()}) // in memory, also in a synctest bubble
//	url := s.Start(t)                                                  // over HTTP on a free port, until the test ends
//	l, err := llmtest.Listen("127.0.0.1:9100", s)                      // over HTTP on an address of your choice
//
// The base URL is the server's URL plus "/v1". A handler is a function, so a
// script can look at the request:
//
//	llmtest.New(func(r llmtest.Request) llmtest.Reply {
//		if r.N == 1 {
//			return llmtest.TooMany(llmtest.Seconds, 3*time.Second)
//		}
//		return llmtest.Answer("seen: " + r.User).After(2 * time.Second)
//	})
//
// Script plays replies in order. Server.Limit adds limits on requests, tokens and
// concurrency, which refuse with 429 before the handler is called.
package llmtest
