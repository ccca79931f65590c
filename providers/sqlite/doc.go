// Package sqlite is a memory provider in one SQLite file: pure Go, no server, no
// network. What is put is found at once, word for word.
//
// On disk, all 0600 on Unix:
//
//	PATH       the database: application_id "vade", user_version is the schema's
//	PATH-wal   its write-ahead log, while somebody has it open
//	PATH-shm   what its users share, likewise
//
// Any number of processes may use one file at once; one of them writes at a
// time, the others wait for it. A receipt of Stored means that the commit is
// on disk (synchronous=FULL), and a process that is killed leaves the commit
// before. A file that is damaged, of a newer vade, or not of vade at all is
// refused with the way out, and never changed.
//
// Words are found by FTS5 with Porter's stems, without accents. Scripts that do
// not put spaces between words are indexed in pairs of characters, see pairs.
// Any sqlite3 with FTS5 reads the file:
//
//	SELECT id, text FROM items JOIN words ON words.rowid = items.key
//	WHERE words MATCH 'deploy' ORDER BY rank;
package sqlite
