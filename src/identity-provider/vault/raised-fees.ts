import type { PolicyLedger } from '../../policy/policy-ledger.js'
import type { DecodedTransaction } from '../../quorum-protocol/transaction.js'
import type { CountedUse } from './give-back.js'
import { type BoundUsage, pathOf, policiesOf } from './granted.js'
import type { Grants } from './grants.js'
import { countRaisedFee, hasNativeCeiling } from './judge-policy.js'
import type { LedgerStore } from './ledger-store.js'
import type { LedgerEntry } from './nonce-ledger.js'

/** How ceilings of native coin count the gas of a call, and what a higher fee adds to it. */

interface Context {
  readonly grants: Pick<Grants, 'view'>
  readonly ledger: Pick<LedgerStore, 'usage'>
}

/** Whether a ceiling of native coin on the key's path counts the gas of its calls. */
export function countsGas(keyId: Uint8Array, chainId: number, { grants }: Context): boolean {
  const view = grants.view(keyId)
  if (view === null) return false
  const above = view.ancestors.flatMap(({ grant }) => grant.policy ?? [])
  return hasNativeCeiling([...policiesOf(view), ...above], chainId)
}

/**
 * No live key is behind a higher fee, but its cost counts for the key that asked for the call.
 * @param held the approval that the higher fee replaces
 * @throws PolicyDenied when a ceiling of native coin does not cover it
 */
export function usesOfRaisedFee(
  held: LedgerEntry,
  { gasLimit, maxFeePerGasWei, chainId }: DecodedTransaction,
  { grants, ledger }: Context,
  nowMs: number,
): readonly CountedUse[] {
  const view = held.gasOfKey === undefined ? null : grants.view(held.gasOfKey)
  if (view === null) return []
  const path = pathOf(view.key.grantId, policiesOf(view), view.ancestors, ledger)
  const extraWei = gasLimit * (maxFeePerGasWei - held.maxFeePerGasWei)
  return countedUses(path, countRaisedFee(path, chainId, extraWei, nowMs))
}

/** @param usages of each place of the path; null where its policies count nothing */
export function countedUses(
  path: readonly (BoundUsage & { readonly grantId: Uint8Array })[],
  usages: readonly (PolicyLedger | null)[],
): readonly CountedUse[] {
  return path.flatMap(({ grantId, usage: before }, place) => {
    const after = usages[place] ?? null
    return after === null ? [] : [{ grantId, before, after }]
  })
}
