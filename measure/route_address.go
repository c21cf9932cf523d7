package measure

// AddressInfo is what is known of an address on a route, by the sources that a caller named. Zero values: not known.
type AddressInfo struct {
	Address string `json:"address"`
	Name    string `json:"name,omitempty"`
	ASN     uint32 `json:"asn,omitempty"`     // the autonomous system that announces the prefix
	ASName  string `json:"as_name,omitempty"` // as the source writes it
	Prefix  string `json:"prefix,omitempty"`  // that it announces
	Owner   string `json:"owner,omitempty"`   // as registered
	Country string `json:"country,omitempty"` // of the registration, two letters (ISO 3166); not where the router stands
	Place   *Place `json:"place,omitempty"`   // nil: not known
}

// Place is where an address is, as a source has it. Such sources are often wrong about routers.
type Place struct {
	City    string `json:"city,omitempty"`
	Country string `json:"country,omitempty"`
	// Position is nil where only the names are known.
	Position *Position `json:"position,omitempty"`
}

// Position is a point on Earth.
type Position struct {
	Latitude  float64 `json:"latitude_degrees"`  // north of the equator, -90 to 90
	Longitude float64 `json:"longitude_degrees"` // east of Greenwich, -180 to 180
}
