// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package jobspec turns the text of a job file into an api.Job: HCL as Nomad's
// HCL2 job files are written, or JSON or YAML of the API's model.
//
// The reader of an error is somebody at an editor, so every complaint has a
// file, line and column, shows the line with a caret, and names the nearest
// valid key where one was mistyped; all complaints about a file come at once.
// An unknown key is always an error here, however harmless it looks.
//
// HCL is read by one table per block (see schema): the table says which
// arguments and blocks exist, where in the api type each goes, and therefore
// also what an error may suggest. JSON and YAML are read into one tree with
// positions and then into the api types by their JSON keys.
//
// The job that comes out is what the user wrote and nothing else: defaults are
// filled in by api.Job.Canonicalize, and what only the whole job can tell wrong
// is found by api.Job.Validate. Text that only the node can fill in, such as
// ${attr.kernel.name} or ${NOMAD_PORT_http}, is left in the job as it stands.
//
// The package reads no environment and no clock of its own accord; it touches
// files only for ParseFile, variable files, and, where Options.AllowFS permits,
// functions like file().
package jobspec
