package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// probeCommand is the hidden sub-command that asks a server whether it lives.
const probeCommand = "probe"

// errNoAnswer is a server that did not answer at all.
var errNoAnswer = errors.New("/livez was not answered")

// probe asks the server at addr for /livez, twenty times a second until in ends,
// and writes the slowest answer. It is a process of its own, as whoever watches a
// server is: a generator that floods it does not answer to itself in time either.
func probe(ctx context.Context, addr string, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	c, err := dial(addr)
	if err != nil {
		return err
	}
	defer c.close()
	var a answer
	var slowest time.Duration
	request := []byte(get("/livez"))
	for sleep(ctx, 50*time.Millisecond) == nil {
		asked := time.Now()
		if err := c.do(request, &a); err != nil {
			return errors.Join(errNoAnswer, err)
		}
		slowest = max(slowest, time.Since(asked))
	}
	_, err = fmt.Fprintln(out, slowest)
	return err
}

// startProbe begins to ask a server; end gives the slowest answer.
func (b *bench) startProbe(ctx context.Context, addr string) (end func() (time.Duration, error), err error) {
	cmd := exec.CommandContext(ctx, b.self, probeCommand, addr)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() (time.Duration, error) {
		err := in.Close()
		line, rerr := bufio.NewReader(out).ReadString('\n')
		if err := errors.Join(err, rerr, cmd.Wait()); err != nil {
			return 0, errors.Join(errNoAnswer, err)
		}
		return time.ParseDuration(line[:len(line)-1])
	}, nil
}
