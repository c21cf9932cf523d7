// Package arrived has a responder tell a caller the headers of the SYN that its connection began with, as they arrived, which boxes on the way may have changed.
// Messages are JSON, a line each:
//
//	caller                                         responder
//	  {"schema":"pathwise.arrived/1"}         ->
//	            <-   {"headers":"4500003c…"}                  IP's and TCP's, in hexadecimal
//
// That is a few hundred bytes, and goes to who has shown by a connection that it is there.
// The package compares nothing: see package changed.
package arrived

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/proto/jsonlines"
)

// Schema is of the request.
const Schema = "pathwise.arrived/1"

const (
	// mostHeaders are the longest of IPv4 and of TCP; of IPv6 and TCP it is less.
	mostHeaders = 60 + 60
	// mostLine is more than any message is long, in bytes.
	mostLine = 1024
)

// request is what a caller says.
type request struct {
	Schema string `json:"schema"`
	Secret string `json:"secret,omitempty"`
}

// Request is a caller's whole request. secret is of the run that the responder was opened for; "": it was opened for everybody.
func Request(secret string) []byte {
	line, _ := json.Marshal(request{Schema: Schema, Secret: secret}) // texts are always JSON
	return append(line, '\n')
}

type answer struct {
	Headers string `json:"headers,omitempty"`
	Error   string `json:"error,omitempty"`
}

// Serve answers a request that came on a connection. headers yields what the connection began with, and its error is returned.
func Serve(conn net.Conn, headers func() ([]byte, error)) error {
	b, err := headers()
	a := answer{Headers: hex.EncodeToString(b)}
	if err != nil {
		a.Error = "the kernel did not keep how this connection began"
	}
	jsonlines.Begin(conn, jsonlines.LastTimeout, mostLine).SayLast(a)
	return err
}

// ErrNotHere is of an answer that none who speaks this protocol gives.
var ErrNotHere = errors.New("what answers there does not tell: it is no `pathwise respond`, or an older one")

// Read reads an answer: the headers.
func Read(line []byte) ([]byte, error) {
	var a answer
	if err := document.JSON(line, mostLine, &a); err != nil {
		return nil, ErrNotHere
	}
	b, err := hex.DecodeString(a.Headers)
	switch {
	case strings.HasPrefix(a.Error, "schema"):
		return nil, ErrNotHere
	case a.Error != "":
		return nil, errors.New("the far end does not tell what arrived: " + jsonlines.Printable(a.Error))
	case err != nil || len(b) == 0 || len(b) > mostHeaders:
		return nil, fmt.Errorf("headers of %d digits: want 2 to %d hexadecimal ones", len(a.Headers), 2*mostHeaders)
	}
	return b, nil
}
