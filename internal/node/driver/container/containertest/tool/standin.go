// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// standIn takes the place of a server program that a job file names: it answers on all ports of its
// task, by TCP, HTTP, HTTPS and gRPC's health protocol, until a signal ends it. SIGHUP does not.
func standIn() error {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT)
	signal.Ignore(syscall.SIGHUP)
	config, err := selfSigned()
	if err != nil {
		return err
	}
	for _, kv := range os.Environ() {
		name, port, _ := strings.Cut(kv, "=")
		label, found := strings.CutPrefix(name, "NOMAD_PORT_")
		if !found {
			continue
		}
		l, err := net.Listen("tcp", ":"+port)
		if errors.Is(err, syscall.EADDRINUSE) { // by something else at one address
			l, err = net.Listen("tcp", net.JoinHostPort(os.Getenv("NOMAD_IP_"+label), port))
		}
		if errors.Is(err, syscall.EADDRINUSE) { // by another task of the group: the checks tell whether one of them answers
			fmt.Println(err)
			continue
		}
		if err != nil {
			return err
		}
		fmt.Println("listening on", l.Addr())
		go serveAll(l, config)
	}
	fmt.Println("received", <-end)
	return nil
}

func selfSigned() (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, NextProtos: []string{"h2", "http/1.1"}}, err
}

// serveAll tells TLS from other protocols by the first byte of a connection.
func serveAll(l net.Listener, config *tls.Config) {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	s := &http.Server{Handler: http.HandlerFunc(answer), Protocols: protocols, TLSConfig: config}
	clear, encrypted := &accepted{make(chan net.Conn), l}, &accepted{make(chan net.Conn), l}
	go s.Serve(clear)
	go s.ServeTLS(encrypted, "", "")
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			r := bufio.NewReader(c)
			first, err := r.Peek(1)
			switch {
			case err != nil:
				c.Close()
			case first[0] == 22: // a handshake
				encrypted.conns <- &peeked{c, r}
			default:
				clear.conns <- &peeked{c, r}
			}
		}()
	}
}

func answer(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
		io.WriteString(w, "served\n")
		return
	}
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status")
	w.Write([]byte{0, 0, 0, 0, 2, 8, 1}) // a message of 2 bytes: SERVING
	w.Header().Set("Grpc-Status", "0")
}

// accepted is a listener of connections that something else has accepted.
type accepted struct {
	conns chan net.Conn
	net.Listener
}

func (a *accepted) Accept() (net.Conn, error) { return <-a.conns, nil }

// peeked is a connection whose first bytes are in a buffer.
type peeked struct {
	net.Conn
	r *bufio.Reader
}

func (p *peeked) Read(b []byte) (int, error) { return p.r.Read(b) }
