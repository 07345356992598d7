import { createRequire } from 'node:module'
import type * as Secp256k1 from 'secp256k1'
import { keccak256 } from '../../src/domain/keccak.js'
import { addressOf } from '../../src/quorum-protocol/curve.js'
import { decodeRlp, type RlpItem } from '../../src/quorum-protocol/rlp.js'

/**
 * Nonces of accounts, computed only on demand: recovering a sender costs twenty times as much as
 * accepting its transaction, and a service that counts its own nonces asks once per wallet.
 */
export interface SinkNonces {
  /** @returns the nonce after the highest one seen of this account */
  nonceOf(address: string): number
}

const native = createRequire(import.meta.url)('secp256k1/bindings.js') as typeof Secp256k1
const EIP_1559 = 0x02
const CHAIN_ID_FIELDS = 9

export function createSinkNonces(recentRaw: () => readonly string[]): SinkNonces {
  const next = new Map<string, number>()
  let last: string | undefined
  return {
    nonceOf(address) {
      const raws = recentRaw()
      for (const raw of raws.slice(last === undefined ? 0 : raws.lastIndexOf(last) + 1)) {
        const sent = senderOf(raw)
        if (sent === null) continue
        next.set(sent.from, Math.max(next.get(sent.from) ?? 0, sent.nonce + 1))
      }
      last = raws.at(-1)
      return next.get(address.toLowerCase()) ?? 0
    },
  }
}

interface Sent {
  readonly from: string
  readonly nonce: number
}

/** Null for anything but a signed EIP-1559 transaction, because the sink accepts anything. */
function senderOf(raw: string): Sent | null {
  try {
    return recovered(raw)
  } catch {
    return null
  }
}

function recovered(raw: string): Sent | null {
  const bytes = Buffer.from(raw.slice(2), 'hex')
  if (bytes[0] !== EIP_1559) return null
  const fields = decodeRlp(bytes.subarray(1))
  if (fields instanceof Uint8Array || fields.length !== CHAIN_ID_FIELDS + 3) return null
  const [v, r, s] = fields.slice(CHAIN_ID_FIELDS).map(bytesOf)
  if (v === undefined || r === undefined || s === undefined) return null
  const unsigned = encodeList(fields.slice(0, CHAIN_ID_FIELDS))
  const digest = keccak256(Buffer.concat([Buffer.from([EIP_1559]), unsigned]))
  const signature = Buffer.concat([padded(r), padded(s)])
  const point = native.ecdsaRecover(signature, v[0] ?? 0, digest, true, Buffer.alloc(33))
  return {
    from: `0x${addressOf(point).toString('hex')}`,
    nonce: Number(BigInt(`0x${Buffer.from(bytesOf(fields[1])).toString('hex') || '0'}`)),
  }
}

function bytesOf(item: RlpItem | undefined): Uint8Array {
  return item instanceof Uint8Array ? item : new Uint8Array()
}

function padded(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.alloc(32 - bytes.length), bytes])
}

function encodeList(items: readonly RlpItem[]): Buffer {
  const body = Buffer.concat(items.map(encodeItem))
  return Buffer.concat([prefix(body.length, 0xc0), body])
}

function encodeItem(item: RlpItem): Buffer {
  if (!(item instanceof Uint8Array)) return encodeList(item)
  if (item.length === 1 && (item[0] ?? 0) < 0x80) return Buffer.from(item)
  return Buffer.concat([prefix(item.length, 0x80), item])
}

function prefix(length: number, base: number): Buffer {
  if (length <= 55) return Buffer.from([base + length])
  const hex = length.toString(16)
  const digits = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  return Buffer.concat([Buffer.from([base + 55 + digits.length]), digits])
}
