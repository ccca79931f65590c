//go:build !windows

package transport

import (
	"errors"
	"io"
	"net"
)

// dialAgent connects to the ssh agent at socket.
func dialAgent(socket string) (io.ReadWriteCloser, error) {
	if socket == "" {
		return nil, errors.New("SSH_AUTH_SOCK is not set")
	}
	return net.Dial("unix", socket)
}
