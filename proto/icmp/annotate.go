package icmp

import "fmt"

// Annotation is what traceroute writes behind the time of an answer: "" where there is nothing to say, which is so of a TTL that ran out
// on the way and of a port at which nobody listens.
//
//	!N  no way to the network           !S  source route failed                !V  precedence below the host's least
//	!H  no way to the host              !F-n  needs fragments of n bytes       !C  precedence below the network's least
//	!P  the protocol is not spoken      !X  forbidden by its administrator     !<n>  another code of unreachable
func (e Error) Annotation() string {
	switch {
	case e.Expired() || e.PortClosed():
		return ""
	case e.IPv6:
		return e.annotation6()
	case e.Type != Unreachable4:
		return fmt.Sprintf("!<%d-%d>", e.Type, e.Code)
	case e.Code == codeTooBig4:
		return fmt.Sprintf("!F-%d", e.MTU)
	case int(e.Code) < len(unreachable4):
		return unreachable4[e.Code]
	}
	return fmt.Sprintf("!<%d>", e.Code)
}

// unreachable4 are the codes of IPv4 (RFC 792, RFC 1122 section 3.2.2.1, RFC 1812 section 5.2.7.1).
var unreachable4 = [...]string{0: "!N", 1: "!H", 2: "!P", 5: "!S", 6: "!N", 7: "!H", 8: "!N", 9: "!X", 10: "!X", 11: "!N", 12: "!H",
	13: "!X", 14: "!V", 15: "!C"}

func (e Error) annotation6() string {
	switch {
	case e.Type == TooBig6:
		return fmt.Sprintf("!F-%d", e.MTU)
	case e.Type == BadParameter6 && e.Code == 1: // the next header is not known
		return "!P"
	case e.Type != Unreachable6:
		return fmt.Sprintf("!<%d-%d>", e.Type, e.Code)
	}
	switch e.Code { // RFC 4443, 3.1
	case 0:
		return "!N"
	case 1, 5, 6: // by its administrator, by the source's address, by a route that rejects
		return "!X"
	case 2, 3: // beyond the scope of the source's address, no such address
		return "!H"
	}
	return fmt.Sprintf("!<%d>", e.Code)
}
