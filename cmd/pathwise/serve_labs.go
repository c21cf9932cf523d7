package main

import (
	"fmt"
	"os"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/web/labs"
)

// openLabs is the labs that the pages show: those of this user on this machine, if the mesh file says so; else nil.
func openLabs(c *config.Controller) (*labs.Labs, error) {
	if !c.Labs {
		return nil, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return &labs.Labs{Program: self}, nil
}
