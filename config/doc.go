// Package config reads the mesh file: YAML, one file or a folder of them, to a checked Mesh.
//
// It names every error of all files in one go, each with its place and with what would be right. What a Mesh holds is
// resolved: sites, labels and groups are lists of hosts, a named schedule is the schedule, a command is a list of
// words. Questions that the rest of the house has (which pairs a test has, what to run between two hosts, what that
// adds up to in a day) are methods of Mesh, pure and without a clock.
//
// It plans nothing, starts nothing and opens nothing but the files it is given. Whether a kind of probe exists, and
// whether its parameters are right, is for who knows the probes: a Checker.
//
//	files -> node (places, errors) -> sections in order of need -> Mesh -> Pairs, Task, Estimate, Fingerprint
//
// The file format is in docs/mesh-file.md.
package config
