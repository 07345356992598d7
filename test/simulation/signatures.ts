import { createHash } from 'node:crypto'
import type { Hex } from '../../src/domain/ids.js'
import type {
  AuthorizationPayload,
  SignedAuthorization,
  TransactionPayload,
} from '../../src/quorum-protocol/sign-payload.js'

/** A transaction as whoever has its bytes reads it. All addresses are lower-case. */
export interface SignedTransaction extends TransactionPayload {
  readonly raw: Hex
  readonly hash: Hex
  readonly from: Hex
}

/** What the Router holds a signature to, as far as it is looked at here. */
export interface SignedIntent {
  readonly chainId: number
  readonly account: Hex
  readonly nonce: bigint
  readonly deadline: number
}

/**
 * In place of elliptic curves: what was signed is known by what the signature says. Bytes of
 * transactions have their fields where real ones do, as far as the service reads them.
 */
export class Signatures {
  readonly #byRaw = new Map<Hex, SignedTransaction>()
  /** By `r`: the account that signed, and what. */
  readonly #authorities = new Map<Hex, { readonly account: Hex; readonly what: string }>()
  /** By `r`. */
  readonly #intents = new Map<Hex, string>()
  #count = 0

  /** The same for the same. */
  transaction(from: Hex, payload: TransactionPayload): SignedTransaction {
    const { chainId, nonce, to, value, data, gasLimit, maxFeePerGas, maxPriorityFeePerGas } =
      payload
    const list = payload.authorizationList
    const fields = [
      ...[numberItem(BigInt(chainId)), numberItem(BigInt(nonce)), numberItem(maxPriorityFeePerGas)],
      ...[numberItem(maxFeePerGas), numberItem(gasLimit), item(Buffer.from(to.slice(2), 'hex'))],
      ...[numberItem(value), item(Buffer.from(data.slice(2), 'hex'))],
      item(Buffer.from(`${from}${list?.[0]?.r ?? ''}`)),
    ]
    const body = Buffer.concat(fields)
    const type = list === undefined ? 0x02 : 0x04
    const bytes = Buffer.concat([Buffer.of(type), listHead(body.length), body])
    const raw: Hex = `0x${bytes.toString('hex')}`
    const known = this.#byRaw.get(raw)
    if (known !== undefined) return known
    const hash: Hex = `0x${createHash('sha256').update(bytes).digest('hex')}`
    const signed = { ...payload, to: lower(to), raw, hash, from }
    this.#byRaw.set(raw, signed)
    return signed
  }

  decode(raw: Hex): SignedTransaction | undefined {
    return this.#byRaw.get(raw)
  }

  /** @returns r ‖ s ‖ yParity */
  authorization(account: Hex, { chainId, delegate, nonce }: AuthorizationPayload): Uint8Array {
    const r = this.#r()
    this.#authorities.set(r, { account, what: `${chainId} ${lower(delegate)} ${nonce}` })
    return signatureOf(r)
  }

  /** Of anything but what was signed it is nobody's. */
  authorityOf({ r, chainId, address, nonce }: SignedAuthorization): Hex | undefined {
    const signed = this.#authorities.get(r)
    return signed?.what === `${chainId} ${lower(address)} ${nonce}` ? signed.account : undefined
  }

  intent(intent: SignedIntent): Uint8Array {
    const r = this.#r()
    this.#intents.set(r, nameOf(intent))
    return signatureOf(r)
  }

  isIntent(r: Hex, intent: SignedIntent): boolean {
    return this.#intents.get(r) === nameOf(intent)
  }

  #r(): Hex {
    return `0x${(++this.#count).toString(16).padStart(64, '0')}`
  }
}

export function lower(text: Hex): Hex {
  return text.toLowerCase() as Hex
}

function nameOf({ chainId, account, nonce, deadline }: SignedIntent): string {
  return `${chainId} ${account} ${nonce} ${deadline}`
}

function signatureOf(r: Hex): Uint8Array {
  const bytes = new Uint8Array(65)
  bytes.set(Buffer.from(r.slice(2), 'hex'))
  bytes[63] = 1
  return bytes
}

/** RLP. */
function numberItem(value: bigint): Buffer {
  const digits = value === 0n ? '' : value.toString(16)
  return item(Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex'))
}

function item(bytes: Buffer): Buffer {
  if (bytes.length === 1 && (bytes[0] ?? 0) < 0x80) return bytes
  return Buffer.concat([head(0x80, bytes.length), bytes])
}

function listHead(length: number): Buffer {
  return head(0xc0, length)
}

function head(base: number, length: number): Buffer {
  if (length <= 55) return Buffer.of(base + length)
  const digits = length.toString(16)
  const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
  return Buffer.concat([Buffer.of(base + 55 + bytes.length), bytes])
}
