package main

import (
	"context"
	"crypto/tls"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"memoryd/api"
	"memoryd/internal/lifecycle"
)

// certificate is that of the server. Its files are looked at again when a
// connection begins, at most once a second, and after SIGHUP: who renews it need
// not tell.
type certificate struct {
	files api.TLS
	log   *slog.Logger

	mu      sync.Mutex
	held    *tls.Certificate
	looked  time.Time
	changed [2]time.Time // when the files were that are held
}

func openCertificate(files api.TLS, log *slog.Logger) (*certificate, error) {
	c := &certificate{files: files, log: log}
	return c, c.read(time.Now())
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if now := time.Now(); now.Sub(c.looked) >= time.Second && c.times() != c.changed {
			c.again(now)
		} else if now.Sub(c.looked) >= time.Second {
			c.looked = now
		}
		return c.held, nil
	}}
}

// times tells when the files were changed last.
func (c *certificate) times() (at [2]time.Time) {
	for i, name := range []string{c.files.CertFile, c.files.KeyFile} {
		if info, err := os.Stat(name); err == nil {
			at[i] = info.ModTime()
		}
	}
	return at
}

// again reads the files. What cannot be read leaves the certificate that is held.
func (c *certificate) again(now time.Time) {
	if err := c.read(now); err != nil {
		c.log.Warn("the changed certificate cannot be used; the old one stays", "err", err)
		return
	}
	c.log.Info("certificate read again")
}

func (c *certificate) read(now time.Time) error {
	c.looked = now
	c.changed = c.times()
	pair, err := tls.LoadX509KeyPair(c.files.CertFile, c.files.KeyFile)
	if err != nil {
		return err
	}
	c.held = &pair
	return nil
}

// reloadOnHangup reads the files after SIGHUP, until it is stopped.
func (c *certificate) reloadOnHangup() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	done := lifecycle.Go(ctx, c.log, "certificate", func() error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-hangup:
				c.mu.Lock()
				c.again(time.Now())
				c.mu.Unlock()
			}
		}
	})
	return func() {
		signal.Stop(hangup)
		cancel()
		<-done
	}
}
