package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
)

// hostFlags are -4 and -6, which every command has that takes a HOST.
type hostFlags struct{ four, six bool }

func (f *hostFlags) add(flags *pflag.FlagSet) {
	flags.BoolVarP(&f.four, "ipv4", "4", false, "over IPv4 only; -4 -6 compares the two")
	flags.BoolVarP(&f.six, "ipv6", "6", false, "over IPv6 only")
}

// families are what is to be measured over, one after the other: what HOST's addresses allow, unless a family was asked for.
func (f *hostFlags) families() []sock.Family {
	switch {
	case f.four && f.six:
		return []sock.Family{sock.IPv4, sock.IPv6}
	case f.four:
		return []sock.Family{sock.IPv4}
	case f.six:
		return []sock.Family{sock.IPv6}
	}
	return []sock.Family{""}
}

// family returns the one family that was asked for. Both together are a wrong call of a command that cannot compare them, for the
// reason given.
func (f *hostFlags) family(why string) (sock.Family, error) {
	if f.four && f.six {
		return "", input.Errorf("-4 -6: %s; give one of them", why)
	}
	return f.families()[0], nil
}

// readHost reads HOST or HOST:PORT. The port goes to where --port does, which cannot say otherwise.
func readHost(c *cobra.Command, text string, port *int) (host string, err error) {
	host, given, err := sock.SplitHostPort(text)
	if err != nil || given == 0 {
		return host, err
	}
	if c.Flags().Changed("port") && *port != given {
		return "", badFlag("port", fmt.Errorf("\"%d\": %s says %d; give one of the two", *port, text, given))
	}
	*port = given
	return host, nil
}

// checkPort refuses the port of a flag that is none.
func checkPort(flag string, port int) error {
	if port < 1 || port > 65535 {
		return badFlag(flag, errors.New(strconv.Quote(strconv.Itoa(port))+": want 1 to 65535"))
	}
	return nil
}

// parsePositive reads a time above zero.
func parsePositive(text string) (time.Duration, error) {
	d, err := quantity.ParseDuration(text)
	if err == nil && d == 0 {
		err = fmt.Errorf("%q: want more than nothing, such as 10s", text)
	}
	return d, err
}
