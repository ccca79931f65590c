package index

import "bytes"

// cursor is a place in a line. A tab reaches to the next column that four
// divides; pending are the columns that are left of one that was entered.
type cursor struct {
	line    []byte
	pos     int
	col     int
	pending int
}

// indent is how many columns of white space follow.
func (c *cursor) indent() int {
	n, col := c.pending, c.col+c.pending
	for _, b := range c.line[c.pos:] {
		switch b {
		case ' ':
			n, col = n+1, col+1
		case '\t':
			step := 4 - col%4
			n, col = n+step, col+step
		default:
			return n
		}
	}
	return n
}

// skip moves over so many columns of white space, or over bytes of a marker.
func (c *cursor) skip(columns int) {
	for columns > 0 {
		switch {
		case c.pending > 0:
			c.pending--
			c.col++
			columns--
			continue
		case c.pos == len(c.line):
			return
		case c.line[c.pos] == '\t':
			c.pending = 4 - c.col%4
			c.pos++
			continue
		}
		c.pos++
		c.col++
		columns--
	}
}

// quote moves over the marker of a block quote and one space behind it.
func (c *cursor) quote() {
	c.skip(c.indent() + 1)
	if c.indent() > 0 {
		c.skip(1)
	}
}

// rest is the line without the white space at the cursor.
func (c *cursor) rest() []byte { return bytes.TrimLeft(c.line[c.pos:], " \t") }

func (c *cursor) blank() bool { return len(c.rest()) == 0 }

// peek is the first byte that is no white space, or 0.
func (c *cursor) peek() byte {
	if rest := c.rest(); len(rest) > 0 {
		return rest[0]
	}
	return 0
}
