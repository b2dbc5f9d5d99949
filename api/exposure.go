package api

import (
	"errors"
	"fmt"
	"net"
	"slices"
)

// TLS names the files (PEM) of a certificate and its key. They are read again when
// they change.
type TLS struct {
	CertFile string `yaml:"cert_file"`
	KeyFile  string `yaml:"key_file"`
}

// The values of Config.Keys.
const (
	keysAuto = "auto"
	keysOn   = "on"
	keysOff  = "off"
)

func (c *Config) validateAccess() (errs []error) {
	if c.Keys != "" && !slices.Contains([]string{keysAuto, keysOn, keysOff}, c.Keys) {
		errs = append(errs, fmt.Errorf("keys: must be auto, on or off, got %q", c.Keys))
	}
	if (c.TLS.CertFile == "") != (c.TLS.KeyFile == "") {
		errs = append(errs, errors.New("tls.cert_file: goes with tls.key_file"))
	}
	if _, _, err := net.SplitHostPort(c.HealthListen); c.HealthListen != "" && err != nil {
		errs = append(errs, fmt.Errorf("health_listen: must be host:port, got %q", c.HealthListen))
	}
	if c.KeyRate < 0 || c.KeyBurst < 0 {
		errs = append(errs, errors.New("key_rate: it and key_burst must be 0 or more"))
	}
	return errs
}

// Encrypted reports whether the server speaks HTTPS.
func (c *Config) Encrypted() bool { return c.TLS.CertFile != "" }

// KeysNeeded reports whether the server asks for keys.
func (c *Config) KeysNeeded() bool {
	if c.Keys == keysOn || c.Keys == keysOff {
		return c.Keys == keysOn
	}
	return !c.local() || c.AdminKey != ""
}

// local reports whether only this machine reaches Listen.
func (c *Config) local() bool { return isLoopback(hostOf(c.Listen)) }

// CheckExposure refuses an address in reach of other machines that anybody there
// could use, or listen to keys at.
func (c *Config) CheckExposure() error {
	switch {
	case c.local():
		return nil
	case !c.KeysNeeded():
		return fmt.Errorf("keys: %s is in reach of other machines, which needs keys: set http.keys to on, or listen on 127.0.0.1", c.Listen)
	case !c.Encrypted() && !c.BehindProxy:
		return fmt.Errorf("behind_proxy: keys would cross the network to %s in clear: set http.tls.cert_file and http.tls.key_file, "+
			"or http.behind_proxy (MEMORYD_HTTP_BEHIND_PROXY=true) where a proxy encrypts or the network is private, or listen on 127.0.0.1", c.Listen)
	}
	return nil
}
