import type { Hex } from './ids.js'

/** Typed transactions whose fields start with chain id and nonce: EIP-1559 and EIP-7702. */
const TYPES: ReadonlySet<number> = new Set([0x02, 0x04])

/**
 * The nonce of signed bytes: a transaction that was signed again has bytes at several nonces.
 * @returns null when the bytes are not a transaction of a type that the service signs
 */
export function nonceOfRaw(raw: Hex): number | null {
  if (!TYPES.has(byteAt(raw, 0))) return null
  const list = itemAt(raw, 1)
  const chainId = list === null ? null : itemAt(raw, list.from)
  const nonce = chainId === null ? null : itemAt(raw, chainId.to)
  if (nonce === null || nonce.to - nonce.from > NONCE_BYTES_MAX) return null
  let value = 0
  for (let at = nonce.from; at < nonce.to; at++) value = value * 256 + byteAt(raw, at)
  return Number.isSafeInteger(value) ? value : null
}

/** EIP-2681 permits eight bytes; none of our nonces comes near 2^53. */
const NONCE_BYTES_MAX = 7

/** The position of an RLP item's content, in bytes of `raw`; null when there is no item. */
function itemAt(raw: Hex, at: number): { readonly from: number; readonly to: number } | null {
  const first = byteAt(raw, at)
  if (Number.isNaN(first)) return null
  if (first < 0x80) return { from: at, to: at + 1 }
  const short = first < 0xc0 ? first - 0x80 : first - 0xc0
  if (short <= 55) return { from: at + 1, to: at + 1 + short }
  let length = 0
  const from = at + 1 + short - 55
  for (let i = at + 1; i < from; i++) length = length * 256 + byteAt(raw, i)
  return Number.isNaN(length) ? null : { from, to: from + length }
}

function byteAt(raw: Hex, at: number): number {
  const digits = raw.slice(2 + 2 * at, 4 + 2 * at)
  return digits.length === 2 ? Number.parseInt(digits, 16) : Number.NaN
}
