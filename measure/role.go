package measure

import "strings"

// Role says why a measurement was made: RolePlanned, RoleDemand, or a step of a diagnosis, "diagnosis/ID/STEP". A Result
// that is not of a mesh has none.
type Role string

const (
	RolePlanned Role = "planned" // a test of the mesh file asks for it, time and again
	RoleDemand  Role = "demand"  // somebody asked for it once

	roleDiagnosis = "diagnosis/"
)

// DiagnosisRole is the role of a step of the diagnosis that is filed under an ID.
func DiagnosisRole(id, step string) Role { return Role(roleDiagnosis + id + "/" + step) }

// Diagnosis returns the ID of the diagnosis that the measurement is a step of, and the step's name; false if it is none.
func (r Role) Diagnosis() (id, step string, is bool) {
	rest, is := strings.CutPrefix(string(r), roleDiagnosis)
	if !is {
		return "", "", false
	}
	id, step, _ = strings.Cut(rest, "/")
	return id, step, true
}

// Series is the role under which values of the same meaning are filed as one series: of a step of a diagnosis without the
// ID, "diagnosis/STEP".
func (r Role) Series() Role {
	if _, step, is := r.Diagnosis(); is {
		return Role(roleDiagnosis + step)
	}
	return r
}

// RoleOf is the role of a Result or a Run that does not say it: planned if it has a test.
func RoleOf(test string) Role {
	if test != "" {
		return RolePlanned
	}
	return RoleDemand
}
