/**
 * ECDSA-Sig-Value (RFC 3279, 2.2.3): `30 len | 02 len r | 02 len s`, which for P-256 is always in
 * the short form.
 * @returns 64 bytes r ‖ s
 * @throws Error when it is anything else
 */
export function signatureFromDer(der: Uint8Array): Buffer {
  const out = Buffer.alloc(64)
  if (der[0] !== 0x30 || der[1] !== der.length - 2) throw new Error('not an ECDSA signature in DER')
  let at = 2
  for (const end of [32, 64]) {
    const length = der[at + 1] ?? 0
    let start = at + 2
    at = start + length
    if (der[start - 2] !== 0x02 || length < 1 || length > 33 || at > der.length) {
      throw new Error('not an ECDSA signature in DER')
    }
    // A leading zero keeps the integer positive.
    if (length === 33) start++
    out.set(der.subarray(start, at), end - (at - start))
  }
  if (at !== der.length) throw new Error('not an ECDSA signature in DER')
  return out
}
