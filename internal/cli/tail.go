// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

// tailing selects the end of a file or log.
type tailing struct {
	on    bool
	lines int64
	bytes int64
	given bool // reports whether -n or -c is set
}

func (t *tailing) addTo(f *pflag.FlagSet) {
	f.BoolVar(&t.on, "tail", false, "print only the last 10 lines, or as many as -n or -c set")
	f.Int64VarP(&t.lines, "n", "n", 0, "print only the last `N` lines")
	f.Int64VarP(&t.bytes, "c", "c", 0, "print only the last `N` bytes")
}

// bytesPerLine is the number of bytes that are read for each line of the end. If lines
// are longer, fewer are shown.
const bytesPerLine = 512

// start sets the position so that only the selected end is read. It returns the number
// of bytes to skip, so that only whole lines are shown.
func (t *tailing) start(origin *string, offset *int64, read func(origin string, offset int64) ([]byte, error)) (int, error) {
	if !t.on && !t.given {
		return 0, nil
	}
	*origin = api.OriginEnd
	if t.bytes > 0 {
		*offset = t.bytes
		return 0, nil
	}
	lines := t.lines
	if lines <= 0 {
		lines = defaultTailLines
	}
	*offset = lines * bytesPerLine
	text, err := read(*origin, *offset)
	if err != nil {
		return 0, err
	}
	keep := len(lastLines(text, int(lines)))
	*offset = int64(keep)
	return 0, nil
}

// lastLines returns the last n lines of a text.
func lastLines(text []byte, n int) []byte {
	end := len(bytes.TrimSuffix(text, []byte("\n")))
	for i := end - 1; i >= 0; i-- {
		if text[i] != '\n' {
			continue
		}
		if n--; n == 0 {
			return text[i+1:]
		}
	}
	return text
}

// collect reads all frames into one text.
func collect(frames iter.Seq2[*api.StreamFrame, error]) ([]byte, error) {
	var b bytes.Buffer
	err := writeFrames(frames, 0, &b)
	return b.Bytes(), err
}

// writeFrames writes the frames of a stream after skipping bytes. An interrupt ends a
// followed stream without an error.
func writeFrames(frames iter.Seq2[*api.StreamFrame, error], skip int, w io.Writer) error {
	for frame, err := range frames {
		if errors.Is(err, context.Canceled) {
			return nil
		}
		if err != nil {
			return err
		}
		data := frame.Data[min(skip, len(frame.Data)):]
		skip -= len(frame.Data) - len(data)
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return nil
}
