import type { LineageId, SubWalletId } from '../domain/ids.js'
import { type PolicyLedger, windowIn } from '../policy/policy-ledger.js'
import { encodePolicyLedger, encodeSlide } from './encodings/policy-ledger.js'
import { putOf, type Row, removalOf } from './rows.js'

/**
 * A ledger in rows: what changes with each call in one, and each of its sliding times in one of its
 * own, in the same batch as the ledger with which it changes.
 */
type Place = readonly [wallet: SubWalletId, lineage: LineageId]

/** @param before what the store holds: a sliding time that is the same object in both is there */
export function addLedger(
  rows: Row[],
  [wallet, lineage]: Place,
  ledger: PolicyLedger,
  before: PolicyLedger,
): void {
  rows.push(putOf('policyLedgers', [wallet, lineage], encodePolicyLedger(ledger)))
  for (const [at, window] of ledger.windows.entries()) {
    const { perSeconds, slide } = window
    // One that nothing closed in is the same object, and mostly where it was.
    if (before.windows[at] === window) continue
    if (windowIn(before.windows, perSeconds)?.slide === slide) continue
    rows.push(putOf('policyWindows', [wallet, lineage, perSeconds], encodeSlide(slide)))
  }
  for (const [at, { perSeconds }] of before.windows.entries()) {
    if (ledger.windows[at]?.perSeconds === perSeconds) continue
    if (windowIn(ledger.windows, perSeconds) !== null) continue
    rows.push(removalOf('policyWindows', [wallet, lineage, perSeconds]))
  }
}

/** @param before what the store holds */
export function removeLedger(rows: Row[], [wallet, lineage]: Place, before: PolicyLedger): void {
  rows.push(removalOf('policyLedgers', [wallet, lineage]))
  for (const { perSeconds } of before.windows) {
    rows.push(removalOf('policyWindows', [wallet, lineage, perSeconds]))
  }
}
