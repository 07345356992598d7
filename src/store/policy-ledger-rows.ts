import type { LineageId, SubWalletId } from '../domain/ids.js'
import { type PolicyLedger, windowIn } from '../policy/policy-ledger.js'
import { encodePolicyLedger, encodeSlide } from './encodings/policy-ledger.js'
import { putOf, type Row, removalOf } from './rows.js'

/**
 * Stores a ledger in rows: one for what changes with each call, and one for each sliding window,
 * written in the same batch as the ledger when it changes.
 */
type Place = readonly [wallet: SubWalletId, lineage: LineageId]

/**
 * @param before what the store holds; a window that is the same object in both is stored already
 */
export function addLedger(
  rows: Row[],
  [wallet, lineage]: Place,
  ledger: PolicyLedger,
  before: PolicyLedger,
): void {
  rows.push(putOf('policyLedgers', [wallet, lineage], encodePolicyLedger(ledger)))
  for (const [at, window] of ledger.windows.entries()) {
    const { perSeconds, slide } = window
    // A window in which no bucket closed is the same object, and usually at the same index.
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
