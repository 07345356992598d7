import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import type { ChainId } from '../../../src/domain/chain.js'
import type { ListVersion } from '../../../src/screening/lists/published-lists.js'
import type { Verdict } from '../../../src/screening/screener.js'
import { verdictFault } from '../../../src/screening/verdict-fault.js'
import type { Command } from '../messages.js'
import type { SubWalletPorts } from '../ports.js'
import type { Draft } from '../state.js'

/** Step 3 of the lifecycle: who would receive, spend or operate. */
export function screen(
  { screener, reader, nowMs }: SubWalletPorts,
  draft: Draft,
  self: (command: Command) => void,
): void {
  const { txId, chainId, to, data, keyId } = draft
  const userId = reader.apiKey(keyId)?.userId
  if (userId === undefined) throw new Error(`${keyId} vanished from the store`)
  const report = (verdict: Verdict) =>
    self({
      type: 'screened',
      txId,
      refusal: verdictFault(verdict),
      screenedAgainst: editionsOf(verdict.lists),
      nowMs: nowMs(),
    })
  const verdict = screener.screen({ chainId: chainId as ChainId, userId, to, data })
  if (verdict instanceof Promise) void verdict.then(report)
  else report(verdict)
}

/** Verdicts share one array of lists until a list changes. */
const editions = new WeakMap<readonly ListVersion[], readonly ScreenedAgainst[]>()

function editionsOf(lists: readonly ListVersion[]): readonly ScreenedAgainst[] {
  const known = editions.get(lists)
  if (known !== undefined) return known
  const made = lists.map(({ list, version, checkedAtMs }) => ({ list, version, checkedAtMs }))
  editions.set(lists, made)
  return made
}
