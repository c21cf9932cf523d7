package gateway

import (
	"path/filepath"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// Config is the emulated link. Forward is from the first interface to the second. The zero value is a plain wire.
type Config struct {
	Seed             uint64 // of everything random; the same seed and frames give the same drops
	Forward, Reverse link.Shape
}

// ParseConfig reads a link file: the keys of a link in a lab file for both ways, forward and reverse for one, and a seed.
// Files that it names (link.Shape.ReadFiles) are found beside it. Errors are *document.Error and name the file; the name is
// used for nothing else.
//
//	delay: 20ms
//	forward: {rate: 10mbit, loss: 1%}
//	rules:
//	  - {match: {port: 5201}, delay: 100ms}
func ParseConfig(name string, text []byte) (Config, error) {
	var file struct {
		Seed       uint64 `yaml:"seed"`
		link.Shape `yaml:",inline"`
		Forward    *link.Shape `yaml:"forward"`
		Reverse    *link.Shape `yaml:"reverse"`
	}
	err := notation.Unmarshal(text, &file)
	c := Config{file.Seed, file.Shape.Over(file.Forward), file.Shape.Over(file.Reverse)}
	if err == nil {
		err = c.readFiles(filepath.Dir(name))
	}
	if err == nil {
		err = link.CheckPair(c.Forward, c.Reverse)
	}
	if err != nil {
		return Config{}, document.InFile(name, err)
	}
	return c, nil
}

// With returns the link with settings on top, each as link.ParseSetting has it: "loss=1%", "reverse.rate=10mbit". Files
// that they name are looked for in the working directory. Errors are *document.Error.
func (c Config) With(settings ...string) (Config, error) {
	c, err := c.merge(settings)
	if err == nil {
		err = link.CheckPair(c.Forward, c.Reverse)
	}
	return c, err
}

// merge is With, but for what is wrong with the whole.
func (c Config) merge(settings []string) (Config, error) {
	for _, s := range settings {
		forward, reverse, err := link.ParseSetting(s)
		if err != nil {
			return Config{}, err
		}
		c.Forward, c.Reverse = c.Forward.Over(&forward), c.Reverse.Over(&reverse)
	}
	return c, c.readFiles("")
}

func (c *Config) readFiles(folder string) error {
	if err := c.Forward.ReadFiles(folder); err != nil {
		return err
	}
	return c.Reverse.ReadFiles(folder)
}
