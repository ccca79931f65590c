package index

import "math"

// The scores of a vault must be the same to the last bit on every host. The
// standard library's Log and Exp are not: some platforms have their own, and
// compilers may fuse a product and a sum into one rounding unless the product
// is converted explicitly. These are made of single operations, which IEEE 754
// defines to the bit.

// ln returns the natural logarithm of x > 0.
func ln(x float64) float64 {
	frac, exp := math.Frexp(x) // frac in [.5, 1)
	if frac < math.Sqrt2/2 {
		frac *= 2
		exp--
	}
	// ln frac = 2 atanh((frac-1)/(frac+1)), |z| < .172
	z := (frac - 1) / (frac + 1)
	square := float64(z * z)
	sum, power := 0.0, z
	for k := 1; k <= 21; k += 2 {
		sum += power / float64(k)
		power = float64(power * square)
	}
	return float64(2*sum) + float64(float64(exp)*math.Ln2)
}

// pow returns x to the power of y for 0 < x <= 1 and 0 <= y <= 1.
func pow(x, y float64) float64 {
	e := float64(y * ln(x)) // <= 0
	// e = k ln 2 + r, |r| <= ln 2 / 2
	k := math.Round(e / math.Ln2)
	r := e - float64(k*math.Ln2)
	sum, term := 1.0, 1.0
	for n := 1.0; n <= 16; n++ {
		term = float64(term*r) / n
		sum += term
	}
	return math.Ldexp(sum, int(k))
}
