import type { UnitsTaken } from '../../policy/ceilings.js'
import { type PolicyLedger, returnUnits } from '../../policy/policy-ledger.js'
import type { LedgerStore, LedgerWriter } from './ledger-store.js'

/** What one intent added to the usage of one grant. */
export interface CountedUse {
  readonly grantId: Uint8Array
  readonly before: PolicyLedger
  readonly after: PolicyLedger
}

/**
 * Undoes the counts of intents that were not approved after all. Units are always returned. A
 * sliding time is returned only if nothing was counted after it: otherwise it keeps a call too many
 * until that call leaves the window, because a sum that later entries build on cannot be made
 * smaller.
 * @param uses in the order in which they were counted
 * @param atMs when they were counted
 */
export function giveBack(
  uses: readonly CountedUse[],
  atMs: number,
  ledger: Pick<LedgerStore, 'usage'>,
  writer: Pick<LedgerWriter, 'putUsage'>,
): void {
  for (const { grantId, before, after } of [...uses].reverse()) {
    const now = ledger.usage(grantId)
    const without = now === after ? before : returnUnits(now, atMs, unitsBetween(before, after))
    writer.putUsage(grantId, without)
  }
}

function unitsBetween(before: PolicyLedger, after: PolicyLedger): UnitsTaken[] {
  const taken: UnitsTaken[] = []
  for (const { chainId, token, month, monthUnits } of after.units) {
    const known = before.units.find((one) => one.chainId === chainId && one.token === token)
    const amount = monthUnits - (known?.month === month ? known.monthUnits : 0n)
    if (amount > 0n) taken.push({ chainId, token, amount })
  }
  return taken
}
