import type { Address, KeyId, SubWalletId, UserId } from '../../../src/domain/ids.js'
import { asksForNewBeneficiaries, type Policy } from '../../../src/policy/policy.js'
import type { Reader } from '../../../src/store/reader.js'
import { payeesOf } from '../core/policy-ledgers.js'
import type { SubWalletState } from '../core/state.js'

/** Transactions that are looked at, newest first; whom older ones paid is new again. */
const TRANSACTIONS_MAX = 5_000
const PAGE = 100

/**
 * Whom the wallet has paid, lower-case, and how often, by what is stored of its transactions. Read
 * once in an actor's life, and only where a policy of the key asks.
 * @param tested a policy that is tried out instead of the key's
 * @returns null where nobody asks, or the actor knows
 */
export function payeesToTell(
  reader: Reader,
  state: SubWalletState,
  keyId: KeyId,
  tested?: Policy,
): ReadonlyMap<Address, number> | null {
  const policy = tested ?? state.keys.get(keyId)?.policy ?? null
  if (policy === null || state.payees !== null || state.wallet === null) return null
  if (!asksForNewBeneficiaries(policy)) return null
  return readPayees(reader, state.subWalletId, state.wallet.userId)
}

function readPayees(
  reader: Reader,
  subWalletId: SubWalletId,
  userId: UserId,
): Map<Address, number> {
  const payees = new Map<Address, number>()
  let cursor: string | null = null
  for (let seen = 0; seen < TRANSACTIONS_MAX; seen += PAGE) {
    const page = reader
      .fresh()
      .transactions.ofUser(userId, { limit: PAGE, cursor }, (tx) => tx.subWalletId === subWalletId)
    for (const tx of page.items) {
      // What is open the actor has itself.
      if (tx.status !== 'confirmed') continue
      for (const address of payeesOf(tx)) payees.set(address, (payees.get(address) ?? 0) + 1)
    }
    cursor = page.nextCursor
    if (cursor === null) break
  }
  return payees
}
