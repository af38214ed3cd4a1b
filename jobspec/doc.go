// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package jobspec parses the text of a job file into an api.Job: HCL in the syntax of Nomad's
// HCL2 job files, or JSON or YAML in the API's model.
//
// A user reads its errors in an editor. So each error has a file, line and column, shows the
// line with a caret, and suggests the nearest valid key for a mistyped one. All errors of a
// file are reported together. Unknown keys are always errors.
//
// Each HCL block has a table (see schema) of its arguments, its nested blocks and their
// fields in the api types; suggestions in errors are derived from it. JSON and YAML are
// parsed into one kind of tree with positions, and then into the api types by their JSON
// keys.
//
// The job contains exactly the text of the user: api.Job.Canonicalize sets the defaults, and
// api.Job.Validate finds errors that concern the whole job. Text that only the node can
// complete, such as ${attr.kernel.name} or ${NOMAD_PORT_http}, stays in the job unchanged.
//
// The package reads neither the environment nor the clock. It reads files only for ParseFile,
// for variable files, and, if Options.AllowFS permits, for functions such as file().
package jobspec
