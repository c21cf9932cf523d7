// Package accuracy says how often a diagnosis is right, over faults and healthy paths drawn by strata.
//
//	Plan -> Sample -> scenario.Case -> Play -> Record, a file each -> Judge -> figures
//
// A Plan is drawn from a seed and is pure: which fault, how strong, on which path, with which congestion control. Play stands the
// lab of one sample up, measures without the fault and with it, diagnoses, follows the advice, and returns a Record. Judge reads
// Records and applies the rules of today to what was measured, so that what was played once can judge rules that are made later.
//
// It knows no rule of package diagnose by name beyond what a fault should be called.
package accuracy
