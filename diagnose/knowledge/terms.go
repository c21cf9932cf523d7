package knowledge

// fields are the files of terms/ in the order in which people read them, each with its heading.
var fields = []struct{ file, heading string }{
	{"delay", "Delay and its variation"},
	{"loss", "Loss, order and integrity"},
	{"capacity", "Rates and capacity"},
	{"packets", "Packets and their sizes"},
	{"routes", "Routes and what stands on the way"},
	{"links", "Links and their faults"},
	{"queues", "Queues, classes and marks"},
	{"tcp", "TCP: windows, acknowledgements, options"},
	{"congestion", "Congestion control and the repair of losses"},
	{"transports", "Other transports"},
	{"host", "Hosts"},
	{"applications", "Applications"},
	{"methods", "Methods of measuring, and clocks"},
	{"standards", "Standards of measuring"},
	{"tools", "Tools"},
	{"monitoring", "Monitoring"},
}

// terms reads the words of the field.
func terms() []Entry {
	var all []Entry
	for _, f := range fields {
		var entries []Entry
		decode("terms/"+f.file+".yaml", &entries)
		for _, e := range entries {
			e.Kind, e.Field = Term, f.heading
			all = append(all, e)
		}
	}
	return all
}
