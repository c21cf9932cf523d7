// Package peertest has peers of OWAMP, TWAMP and STAMP for tests, written from the RFCs by someone who has not seen the
// implementations that they test. A peer says what the far end said, and the first thing in which it broke an RFC. The peers
// are plain: one connection at a time, no limits, no policy. They are not for measuring, and not for use beside tests.
package peertest

import "fmt"

// Violation is a thing that a far end did against an RFC.
type Violation struct {
	Section string // such as "RFC 4656 section 3.1"
	What    string
}

func (v *Violation) Error() string { return v.Section + ": " + v.What }

// violated is a Violation, with the wording of fmt.Sprintf.
func violated(section, format string, args ...any) error {
	return &Violation{section, fmt.Sprintf(format, args...)}
}

// Refused says that the far end answered a message with an Accept field that is not zero (RFC 4656 section 3.3).
type Refused struct {
	Message string // which message said so
	Accept  byte
}

func (r *Refused) Error() string { return fmt.Sprintf("%s says Accept %d", r.Message, r.Accept) }

// zero reports a field that must be zero and is not.
func zero(section, field string, octets []byte) error {
	for _, b := range octets {
		if b != 0 {
			return violated(section, "%s must be zero and is % x", field, octets)
		}
	}
	return nil
}

// first is the first error that is not nil.
func first(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
