package repo

import (
	"io/fs"
	"time"
)

// stamp is a file time as git's index holds it.
type stamp struct{ sec, nsec uint32 }

func stampOf(t time.Time) stamp {
	return stamp{uint32(t.Unix()), uint32(t.Nanosecond())}
}

func (s stamp) before(o stamp) bool {
	return s.sec < o.sec || s.sec == o.sec && s.nsec < o.nsec
}

// fileStat is what git's index remembers of a file, cut to 32 bits as there. Where
// the system has no such thing (Windows has no inode), it is 0.
type fileStat struct {
	ctime, mtime stamp
	dev, ino     uint32
	uid, gid     uint32
	size         uint32
	mode         uint32 // 0100644, 0100755; other kinds of file are 0
	full         int64  // size, not cut
	modTime      time.Time
}

// plainStat is a fileStat of what every system knows.
func plainStat(st fs.FileInfo) fileStat {
	s := fileStat{mtime: stampOf(st.ModTime()), size: uint32(st.Size()), full: st.Size(), modTime: st.ModTime()}
	if st.Mode().IsRegular() {
		s.mode = modeRegular
		if st.Mode()&0o100 != 0 {
			s.mode = modeExecutable
		}
	}
	return s
}

// Modes of index entries.
const (
	modeRegular    = 0o100644
	modeExecutable = 0o100755
	modeSymlink    = 0o120000
	modeGitlink    = 0o160000
)
