package config

// Notes are what the mesh file says to no effect, one line each: it is read all the same, since earlier releases asked for it.
func (m *Mesh) Notes() []string {
	notes := []string{}
	if m.Controller.NATS.Replicas > 0 {
		notes = append(notes, "controller.nats.replicas has no effect: nothing is kept in the cluster any more")
	}
	return notes
}
