package transport

import (
	"io"
	"os"
)

// dialAgent connects to the ssh agent: OpenSSH for Windows listens on a named
// pipe, which opens like a file.
func dialAgent(socket string) (io.ReadWriteCloser, error) {
	if socket == "" {
		socket = `\\.\pipe\openssh-ssh-agent`
	}
	return os.OpenFile(socket, os.O_RDWR, 0)
}
