//go:build !windows

package transport

import "io/fs"

func isExecutable(info fs.FileInfo) bool { return info.Mode()&0o111 != 0 }
