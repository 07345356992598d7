/**
 * The `Idempotency-Key` for something to be created: a UUID of version 7 (RFC 9562, section 5.7),
 * whose time orders the result in the service's lists.
 * @param random at least 10 bytes
 */
export function creationKey(nowMs: number, random: Uint8Array): string {
  const time = nowMs.toString(16).padStart(12, '0')
  const rest = Array.from(random.subarray(0, 10), (byte, index) => {
    const value = index === 0 ? 0x70 | (byte & 0x0f) : index === 2 ? 0x80 | (byte & 0x3f) : byte
    return value.toString(16).padStart(2, '0')
  }).join('')
  const parts = [time.slice(0, 8), time.slice(8), rest.slice(0, 4), rest.slice(4, 8), rest.slice(8)]
  return parts.join('-')
}

export function newCreationKey(): string {
  return creationKey(Date.now(), crypto.getRandomValues(new Uint8Array(10)))
}
