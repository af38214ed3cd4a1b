// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
)

// gRPC's health protocol is one unary call over HTTP/2, which the standard library supports;
// the request contains one string, and the response one number. The gRPC library would
// increase the size of the binary by a sixth.

const healthMethod = "/grpc.health.v1.Health/Check"

// Names of grpc.health.v1.HealthCheckResponse.ServingStatus, and of the codes that health
// services usually return.
var (
	servingStatus = []string{"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"}
	grpcCodes     = map[int]string{
		1: "canceled", 2: "unknown", 3: "invalid argument", 4: "deadline exceeded", 5: "not found", 7: "permission denied",
		8: "resource exhausted", 12: "unimplemented: it has no health service", 13: "internal", 14: "unavailable", 16: "unauthenticated",
	}
)

const serving = 1

func (p *prober) grpc(ctx context.Context, t *Target) result {
	c := t.Check
	target := url.URL{Scheme: "http", Host: t.Address, Path: healthMethod}
	client := p.client(clientSettings{http2: true, tls: c.GRPCUseTLS, serverName: c.TLSServerName, skipVerify: c.TLSSkipVerify})
	if c.GRPCUseTLS {
		target.Scheme = "https"
	}
	asked := "grpc: health of " + t.Address
	if c.GRPCService != "" {
		asked = fmt.Sprintf("grpc: health of %q at %s", c.GRPCService, t.Address)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(healthRequest(c.GRPCService)))
	if err != nil {
		return result{kind: api.TroubleCheckFailed, output: err.Error()}
	}
	req.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "User-Agent": {"Reeve Health Check"}}
	begun := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		return unanswered(ctx, asked, begun, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxOutput))
	if err != nil {
		return unanswered(ctx, asked, begun, err)
	}
	status, err := healthAnswer(resp, body)
	if err != nil {
		return result{kind: api.TroubleCheckFailed, output: asked + ": " + err.Error() + " in " + formatElapsed(begun)}
	}
	name := strconv.Itoa(status)
	if status < len(servingStatus) {
		name = servingStatus[status]
	}
	return result{ok: status == serving, code: status, kind: api.TroubleCheckFailed, output: asked + ": " + name + " in " + formatElapsed(begun)}
}

// healthRequest returns the framed grpc.health.v1.HealthCheckRequest.
func healthRequest(service string) []byte {
	var message []byte
	if service != "" {
		message = append(message, 1<<3|2) // field 1, a string
		message = binary.AppendUvarint(message, uint64(len(service)))
		message = append(message, service...)
	}
	frame := make([]byte, 5, 5+len(message)) // one byte for "not compressed", then the length
	binary.BigEndian.PutUint32(frame[1:], uint32(len(message)))
	return append(frame, message...)
}

// healthAnswer returns the status in the framed grpc.health.v1.HealthCheckResponse.
func healthAnswer(resp *http.Response, body []byte) (int, error) {
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("answered with HTTP status %s", resp.Status)
	}
	code, text := resp.Trailer.Get("Grpc-Status"), resp.Trailer.Get("Grpc-Message")
	if code == "" { // a response without a message has it in its header
		code, text = resp.Header.Get("Grpc-Status"), resp.Header.Get("Grpc-Message")
	}
	n, err := strconv.Atoi(code)
	if err != nil {
		return 0, errors.New("answered, but does not speak gRPC")
	}
	if n != 0 {
		name := grpcCodes[n]
		if name == "" {
			name = "failed"
		}
		if plain, err := url.PathUnescape(text); err == nil {
			text = plain
		}
		return 0, fmt.Errorf("code %d (%s) %s", n, name, text)
	}
	broken := errors.New("answered with a message that is not a health status")
	if len(body) < 5 || body[0] != 0 || int(binary.BigEndian.Uint32(body[1:5])) != len(body)-5 {
		return 0, broken
	}
	status := 0
	for rest := body[5:]; len(rest) > 0; {
		tag, n := binary.Uvarint(rest)
		if n <= 0 || tag&7 != 0 { // the message has numbers only
			return 0, broken
		}
		value, m := binary.Uvarint(rest[n:])
		if m <= 0 || value > 1<<20 {
			return 0, broken
		}
		if tag>>3 == 1 {
			status = int(value)
		}
		rest = rest[n+m:]
	}
	return status, nil
}
