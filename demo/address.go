package demo

import (
	"fmt"
	"net"
	"net/netip"
)

// UsualAddress is where the pages of the mesh are, if nobody else is there.
const UsualAddress = "127.0.0.1:8080"

// Address is where the pages are to be, with a port in place of 0: where the user wants them, which must be free and reached from this
// machine alone; or, of "", at UsualAddress, or at any other port if that is taken.
func Address(wanted string) (string, error) {
	if wanted == "" {
		if at, err := unusedAddress(UsualAddress); err == nil {
			return at, nil
		}
		return unusedAddress("127.0.0.1:0")
	}
	at, err := unusedAddress(wanted)
	if err != nil {
		return "", err
	}
	if !netip.MustParseAddrPort(at).Addr().IsLoopback() { // anybody may look at these pages
		return "", fmt.Errorf("%q: want an address of this machine alone, such as %s", wanted, UsualAddress)
	}
	return at, nil
}

// unusedAddress is an address that nobody listens on, with a port in place of 0.
func unusedAddress(address string) (string, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", fmt.Errorf("listen: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}
