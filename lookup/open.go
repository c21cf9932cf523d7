package lookup

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/netip"
	"os"
)

// OpenNames reads a hosts file; see ReadHosts. Any file of text may be packed by gzip.
func OpenNames(path string) (map[netip.Addr]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return read(file, ReadHosts)
}

// OpenOwners reads a WHOIS dump; see ReadOwners.
func OpenOwners(path string) (Finder[Owner], error) { return open(path, ReadOwners, nil) }

// OpenASNs reads prefixes and their autonomous systems, from text, see ReadASNs, or from a MaxMind DB.
func OpenASNs(path string) (Finder[ASN], error) {
	return open(path, ReadASNs, func(db []byte) (Finder[ASN], error) { return newMMDB[asnRecord](db, "numbers of autonomous systems") })
}

// OpenPlaces reads where prefixes are, from a geofeed, see ReadPlaces, or from a MaxMind DB.
func OpenPlaces(path string) (Finder[Place], error) {
	return open(path, ReadPlaces, func(db []byte) (Finder[Place], error) { return newMMDB[placeRecord](db, "places") })
}

// open reads a file as text, or, where it is a MaxMind DB, by database, which may be nil.
func open[V any](path string, text func(io.Reader) (*Table[V], error), database func([]byte) (Finder[V], error)) (Finder[V], error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if database != nil && isMMDB(file) {
		db, err := io.ReadAll(file)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		found, err := database(db)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return found, nil
	}
	table, err := read(file, text)
	if err != nil {
		return nil, err // not a nil table in a Finder that is not nil
	}
	return table, nil
}

// isMMDB says whether a file has the mark of a MaxMind DB in its last 128 kB, where the form's description has it; the file is at its start afterwards.
func isMMDB(file *os.File) bool {
	const within = 128 << 10
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return false // a pipe
	}
	end := make([]byte, min(size, within))
	_, err = file.ReadAt(end, size-int64(len(end)))
	_, back := file.Seek(0, io.SeekStart)
	return err == nil && back == nil && bytes.Contains(end, []byte("\xab\xcd\xefMaxMind.com"))
}

// read reads a text, unpacked where it is packed by gzip (RFC 1952).
func read[T any](file *os.File, text func(io.Reader) (T, error)) (value T, err error) {
	buffered := bufio.NewReader(file)
	if start, _ := buffered.Peek(2); bytes.Equal(start, []byte{0x1f, 0x8b}) {
		var unpacked *gzip.Reader
		if unpacked, err = gzip.NewReader(buffered); err == nil {
			value, err = text(unpacked)
		}
	} else {
		value, err = text(buffered)
	}
	if err != nil {
		return value, fmt.Errorf("%s: %w", file.Name(), err)
	}
	return value, nil
}
