package main

import (
	"fmt"

	"memoryd/config"
)

type checkConfigCmd struct {
	File string `arg:"" help:"The configuration file."`
}

// Run prints every fault with its line.
func (c checkConfigCmd) Run(std streams) error {
	if _, err := config.Load(c.File, nil); err != nil {
		return err
	}
	_, err := fmt.Fprintf(std.out, "%s: valid\n", c.File)
	return err
}
