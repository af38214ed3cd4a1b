// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// ExecInput is a message from the caller to a command that runs beside a task. At most one
// field is set. An empty message is a heartbeat.
type ExecInput struct {
	Stdin   *ExecIO       `json:"stdin,omitempty"`
	TTYSize *TerminalSize `json:"tty_size,omitempty"`
}

// ExecIO is a part of one stream, or its end.
type ExecIO struct {
	Data  []byte `json:"data,omitempty"`
	Close bool   `json:"close,omitempty"`
}

// TerminalSize is a terminal's size in characters.
type TerminalSize struct {
	Height int `json:"height,omitempty"`
	Width  int `json:"width,omitempty"`
}

// ExecOutput is a message from the command: a part of its output, or its exit.
type ExecOutput struct {
	Stdout *ExecIO     `json:"stdout,omitempty"`
	Stderr *ExecIO     `json:"stderr,omitempty"`
	Exited bool        `json:"exited,omitempty"`
	Result *ExecResult `json:"result,omitempty"` // set when Exited
}

// ExecResult is the result of the command.
type ExecResult struct {
	ExitCode int `json:"exit_code"`
}
