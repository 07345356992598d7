import type { Address } from '../domain/ids.js'
import { type Fault, fault } from './fault.js'

/** A wallet's balance of one asset and the amount that a call needs, in smallest units. */
export interface Shortfall {
  /** Null for the native currency. */
  readonly token: Address | null
  readonly have: bigint
  /** Includes worst-case gas when the asset pays for it. */
  readonly need: bigint
  /** The token's name for people; absent for its address. */
  readonly words?: string | undefined
}

export function insufficientFunds({ token, have, need, words }: Shortfall): Fault {
  const asset =
    token === null
      ? 'native currency, in wei, worst-case gas included'
      : (words ?? `token ${token}`)
  return fault(
    'INSUFFICIENT_FUNDS',
    { token, have: have.toString(), need: need.toString() },
    `The sub-wallet has ${have} of the ${need} that this call needs (${asset}).`,
  )
}
