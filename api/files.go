// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// FileInfo describes one file of an allocation's directory.
type FileInfo struct {
	Name        string
	IsDir       bool
	Size        int64 // bytes
	FileMode    string
	ModTime     time.Time
	ContentType string
}

// Origins of a stream's offset.
const (
	OriginStart = "start"
	OriginEnd   = "end"
)

// A task's two outputs.
const (
	LogStdout = "stdout"
	LogStderr = "stderr"
)

// A StreamFrame is one part of a streamed file or log. A frame without content is a
// heartbeat.
type StreamFrame struct {
	Offset    int64  `json:",omitempty"` // offset in File of the byte after Data
	Data      []byte `json:",omitempty"`
	File      string `json:",omitempty"`
	FileEvent string `json:",omitempty"` // "file truncated" or "file deleted"
}

// IsHeartbeat reports whether the frame is only a heartbeat.
func (f *StreamFrame) IsHeartbeat() bool {
	return len(f.Data) == 0 && f.FileEvent == "" && f.File == "" && f.Offset == 0
}
