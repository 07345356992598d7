/**
 * Branded identifiers. An id is a short prefix and a ULID body (26 Crockford base-32 characters,
 * sortable by time); the brand prevents using a wallet's id as a key's.
 */
declare const brand: unique symbol
type Branded<T, B extends string> = T & { readonly [brand]: B }

export type UserId = Branded<string, 'UserId'>
/** `sw_…` */
export type SubWalletId = Branded<string, 'SubWalletId'>
/** `key_…` */
export type KeyId = Branded<string, 'KeyId'>
/** `tx_…` */
export type TxId = Branded<string, 'TxId'>
/** `we_…`, a webhook endpoint. */
export type WebhookId = Branded<string, 'WebhookId'>
/** `evt_…`; also the `webhook-id` header of its deliveries. */
export type EventId = Branded<string, 'EventId'>
/** `apr_…`, a call that waits for a person or for its delay. */
export type ApprovalId = Branded<string, 'ApprovalId'>
/** `aud_…`, an entry of the audit trail. */
export type AuditId = Branded<string, 'AuditId'>
/** `<chain id>:<index>`, one of the accounts that pay for sponsored calls. */
export type GasWalletId = Branded<string, 'GasWalletId'>
/** The first key of a chain of rotations: spend is counted per lineage. */
export type LineageId = Branded<string, 'LineageId'>

/** 0x-prefixed EIP-55 checksummed address. */
export type Address = `0x${string}`

export const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000'
/** 0x-prefixed hex of whole bytes. */
export type Hex = `0x${string}`

export const ID_PREFIX = {
  subWallet: 'sw_',
  key: 'key_',
  tx: 'tx_',
  webhook: 'we_',
  event: 'evt_',
  audit: 'aud_',
  approval: 'apr_',
} as const

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const ULID_CHARS = 26
const NO_CHARACTER = 0xff
/** The value of each character code below 128. */
const CROCKFORD_VALUES = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = CROCKFORD.indexOf(String.fromCharCode(code))
  return value < 0 ? NO_CHARACTER : value
})
const ULID_BODY = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/

/** The text of each 10 bits, so that two characters are encoded at a time. */
const PAIRS = Array.from(
  { length: 1_024 },
  (_, bits) => CROCKFORD.charAt(bits >>> 5) + CROCKFORD.charAt(bits & 31),
)

/** Ids made within one millisecond share their first part, and each request makes several. */
let lastTime = { ms: -1, text: '' }

function timeText(timeMs: number): string {
  if (timeMs === lastTime.ms) return lastTime.text
  let text = ''
  let rest = timeMs
  for (let i = 0; i < 5; i++) {
    text = (PAIRS[rest % 1_024] ?? '') + text
    rest = Math.floor(rest / 1_024)
  }
  lastTime = { ms: timeMs, text }
  return text
}

/** The random part of an id. */
export const ENTROPY_BYTES = 10

/**
 * Encodes 48 bits of milliseconds and 80 bits of randomness as a ULID body.
 * @param timeMs milliseconds since the Unix epoch, below 2^48
 * @param entropy at least 10 bytes; the first 10 are used
 */
export function ulidBody(timeMs: number, entropy: Uint8Array): string {
  let random = ''
  // 5 bytes are four pairs.
  for (let i = 0; i < 10; i += 5) {
    const a =
      ((entropy[i] ?? 0) << 12) | ((entropy[i + 1] ?? 0) << 4) | ((entropy[i + 2] ?? 0) >> 4)
    const b =
      (((entropy[i + 2] ?? 0) & 15) << 16) | ((entropy[i + 3] ?? 0) << 8) | (entropy[i + 4] ?? 0)
    random += `${PAIRS[a >>> 10]}${PAIRS[a & 1_023]}${PAIRS[b >>> 10]}${PAIRS[b & 1_023]}`
  }
  return timeText(timeMs) + random
}

/** True when `id` is `prefix` and a well-formed ULID body. */
export function isId(prefix: string, id: string): boolean {
  return (
    id.length === prefix.length + 26 &&
    id.startsWith(prefix) &&
    ULID_BODY.test(id.slice(prefix.length))
  )
}

/**
 * The time at which an id was made, milliseconds since the Unix epoch.
 * @throws RangeError when the body is not a ULID
 */
export function timeOfId(id: string): number {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = ulidBytes(id)
  return (a * 256 + b) * 2 ** 32 + (((c * 256 + d) * 256 + e) * 256 + f)
}

/**
 * The 16 bytes of an id's ULID body, for fixed-width binary records.
 * @throws RangeError when the body is not a ULID
 */
export function ulidBytes(id: string): Uint8Array {
  const body = id.indexOf('_') + 1
  if (id.length - body !== ULID_CHARS) throw notAUlid()
  const out = new Uint8Array(16)
  // 26 characters carry 130 bits; the first character is at most 7, so its top two bits are zero.
  const first = (valueAt(id, body) << 5) | valueAt(id, body + 1)
  if (first > 0xff) throw notAUlid()
  out[0] = first
  // After that, eight characters carry five bytes each.
  for (let at = body + 2, to = 1; to < 16; at += 8, to += 5) {
    const high = fourAt(id, at)
    const low = fourAt(id, at + 4)
    out[to] = high >>> 12
    out[to + 1] = high >>> 4
    out[to + 2] = (high << 4) | (low >>> 16)
    out[to + 3] = low >>> 8
    out[to + 4] = low
  }
  return out
}

/** Reads four characters, which carry 20 bits. */
function fourAt(id: string, at: number): number {
  const high = (valueAt(id, at) << 5) | valueAt(id, at + 1)
  return (high << 10) | (valueAt(id, at + 2) << 5) | valueAt(id, at + 3)
}

function valueAt(id: string, at: number): number {
  const value = CROCKFORD_VALUES[id.charCodeAt(at)] ?? NO_CHARACTER
  if (value === NO_CHARACTER) throw notAUlid()
  return value
}

function notAUlid(): RangeError {
  return new RangeError('not a ULID body')
}

/**
 * The ULID body of 16 bytes, the inverse of `ulidBytes`.
 * @throws RangeError when there are fewer
 */
export function ulidOfBytes(bytes: Uint8Array): string {
  if (bytes.length !== 16) throw new RangeError('not 16 bytes')
  return ulidBody(ulidTimeMs(bytes), bytes.subarray(6))
}

/**
 * The time at which an id was made, according to itself, in milliseconds since the Unix epoch.
 * @param bytes 16
 */
export function ulidTimeMs(bytes: Uint8Array): number {
  return bytes.subarray(0, 6).reduce((value, byte) => value * 256 + byte, 0)
}
