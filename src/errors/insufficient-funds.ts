import type { Address } from '../domain/ids.js'
import { type Fault, fault } from './fault.js'

/** What a wallet has of one asset, and what a call takes of it; smallest units. */
export interface Shortfall {
  /** Null: the native currency. */
  readonly token: Address | null
  readonly have: bigint
  /** Worst-case gas included where the asset pays for it. */
  readonly need: bigint
}

export function insufficientFunds({ token, have, need }: Shortfall): Fault {
  const asset =
    token === null ? 'native currency, in wei, worst-case gas included' : `token ${token}`
  return fault(
    'INSUFFICIENT_FUNDS',
    { token, have: have.toString(), need: need.toString() },
    `The sub-wallet has ${have} of the ${need} that this call needs (${asset}).`,
  )
}
