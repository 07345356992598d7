import type { UnitsTaken } from '../../policy/ceilings.js'
import { type PolicyLedger, returnUnits } from '../../policy/policy-ledger.js'
import type { LedgerStore, LedgerWriter } from './ledger-store.js'

/** What one intent counted in the usage of one grant. */
export interface CountedUse {
  readonly grantId: Uint8Array
  readonly before: PolicyLedger
  readonly after: PolicyLedger
}

/**
 * Takes back what intents counted that are not approved after all. Units go back whatever was counted
 * since. A sliding time gets back what nobody has counted on top of: else it keeps a call too many
 * until that leaves it, since a sum that others rest on cannot be made smaller.
 * @param uses in the order in which they were counted
 * @param atMs at which they were
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
