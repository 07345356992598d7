import { maxSwapLossBpsOf } from '../policy/policy.js'
import type { ApiKey } from './api-key.js'
import type { SubWalletId } from './ids.js'
import { lesser } from './key-policy-forms.js'

interface KeysOfWallets {
  readonly keys: { ofWallet(id: SubWalletId): Iterable<ApiKey> }
}

/**
 * The bound that a call is planned with: the smallest of its key and of those above it. The
 * wallet's actor decides by its own state whether the plan meets it.
 * @returns basis points; null when unbounded
 */
export function maxSwapLossOf(reader: KeysOfWallets, key: ApiKey): number | null {
  let bound = maxSwapLossBpsOf(key.policy)
  if (key.parentLineageId === undefined) return bound
  const keys = [...reader.keys.ofWallet(key.subWalletId)]
  const headOf = (lineageId: ApiKey['lineageId']) =>
    keys.find((one) => one.lineageId === lineageId && one.rotatedAtMs === null)
  for (let head = headOf(key.parentLineageId); head !== undefined; ) {
    bound = lesser(bound, maxSwapLossBpsOf(head.policy))
    const { parentLineageId } = head
    head = parentLineageId === undefined ? undefined : headOf(parentLineageId)
  }
  return bound
}
