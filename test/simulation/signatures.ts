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

/** What was signed, by what a signature says: to recover keys would take longer than all the rest. */
export class Signatures {
  readonly #byRaw = new Map<Hex, SignedTransaction>()
  /** By `r`: the account that signed, and what. */
  readonly #authorities = new Map<Hex, { readonly account: Hex; readonly what: string }>()
  /** `chain account nonce` of each authorization. */
  readonly #authorized = new Set<string>()
  /** By `r`. */
  readonly #intents = new Map<Hex, string>()

  noteTransaction(from: Hex, payload: TransactionPayload, raw: Hex, hash: Hex): void {
    this.#byRaw.set(raw, { ...payload, to: lower(payload.to), raw, hash, from })
  }

  decode(raw: Hex): SignedTransaction | undefined {
    return this.#byRaw.get(raw)
  }

  noteAuthorization(account: Hex, payload: AuthorizationPayload, signature: Uint8Array): void {
    const { chainId, delegate, nonce } = payload
    const what = `${chainId} ${lower(delegate)} ${nonce}`
    this.#authorities.set(rOf(signature), { account, what })
    this.#authorized.add(`${chainId} ${account} ${nonce}`)
  }

  /** Of anything but what was signed it is nobody's. */
  authorityOf({ r, chainId, address, nonce }: SignedAuthorization): Hex | undefined {
    const signed = this.#authorities.get(padded(r))
    return signed?.what === `${chainId} ${lower(address)} ${nonce}` ? signed.account : undefined
  }

  /** Whether an account signed one for a nonce, landed or not. */
  isAuthorizedAt(chainId: number, account: Hex, nonce: number): boolean {
    return this.#authorized.has(`${chainId} ${account} ${nonce}`)
  }

  noteIntent(intent: SignedIntent, signature: Uint8Array): void {
    this.#intents.set(rOf(signature), nameOf(intent))
  }

  isIntent(r: Hex, intent: SignedIntent): boolean {
    return this.#intents.get(r) === nameOf(intent)
  }
}

export function lower(text: Hex): Hex {
  return text.toLowerCase() as Hex
}

function nameOf({ chainId, account, nonce, deadline }: SignedIntent): string {
  return `${chainId} ${account} ${nonce} ${deadline}`
}

function rOf(signature: Uint8Array): Hex {
  return `0x${Buffer.from(signature.subarray(0, 32)).toString('hex')}`
}

function padded(r: Hex): Hex {
  return `0x${r.slice(2).padStart(64, '0')}`
}
