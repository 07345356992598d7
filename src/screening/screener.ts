import type { ChainId } from '../domain/chains.js'
import type { Address, Hex, UserId } from '../domain/ids.js'
import type { ListKind } from './lists/named-list.js'
import type { ListVersion } from './lists/published-lists.js'

/** The port that the write path calls before it signs. */
export interface Screener {
  /**
   * Judges one call. It answers without a promise for small calldata when no provider is needed,
   * which is nearly always; never throws and never rejects.
   */
  screen(call: ScreenedCall): Verdict | Promise<Verdict>
  /** The same judgement with every address that was found, for simulations and people. */
  inspect(call: ScreenedCall): Promise<Inspection>
  /** Whether writes can be screened now, and if not, why. */
  readiness(): { readonly ready: boolean; readonly reason: string | null }
  close(): Promise<void>
}

export interface ScreenedCall {
  readonly chainId: ChainId
  readonly userId: UserId
  readonly to: Address
  /** At most 131,072 bytes. */
  readonly data: Hex | Uint8Array
  /** Addresses known from other sources: simulated recipients, venues, tokens. */
  readonly extra?: readonly NamedAddress[] | undefined
}

export interface NamedAddress {
  readonly address: Address
  /** The place of the address, for example `to` or `multicall[0] → exactInputSingle.recipient`. */
  readonly path: string
}

/** Each verdict names the lists it was made against. */
export type Verdict =
  | { readonly outcome: 'clean'; readonly lists: readonly ListVersion[] }
  | { readonly outcome: 'blocked'; readonly lists: readonly ListVersion[]; readonly hit: Hit }
  | {
      readonly outcome: 'undecodable'
      readonly lists: readonly ListVersion[]
      readonly reason: string
      readonly path: string
    }
  | {
      readonly outcome: 'unavailable'
      readonly lists: readonly ListVersion[]
      /** The reason for operators, which may name a list or a provider. */
      readonly reason: string
    }

export interface Hit extends NamedAddress {
  /** A list's name, `user-rules`, or a provider's name. */
  readonly list: string
  readonly listVersion: string
  readonly kind: ListKind | 'user'
}

export interface Inspection {
  readonly verdict: Verdict
  /** At most INSPECTED_ADDRESSES_MAX, `to` first. */
  readonly addresses: readonly InspectedAddress[]
}

export interface InspectedAddress extends NamedAddress {
  readonly hit: Hit | null
}

/** A call with more parties is screened completely, but only this many are listed. */
export const INSPECTED_ADDRESSES_MAX = 1_000

/** CONTRACT.md, "Conventions". */
export const CALLDATA_BYTES_MAX = 131_072
