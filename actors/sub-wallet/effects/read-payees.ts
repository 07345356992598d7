import type { Address, KeyId, TxId, UserId } from '../../../src/domain/ids.js'
import { isFinal } from '../../../src/domain/transaction.js'
import { compiledOf } from '../../../src/policy/compiled-policies.js'
import { payeesOf } from '../../../src/policy/payees.js'
import type { Policy } from '../../../src/policy/policy.js'
import type { Reader } from '../../../src/store/reader.js'
import { ancestorsOf } from '../core/key-tree.js'
import type { KnownPayees } from '../core/policy-ledgers.js'
import type { SubWalletState } from '../core/state.js'

/** The most transactions that are read, newest first; beneficiaries of older ones count as new. */
const TRANSACTIONS_MAX = 5_000
const PAGE = 100
const NONE: ReturnType<typeof ancestorsOf> = []

/**
 * Whom the wallet has paid, according to its stored transactions. It is read once in an actor's
 * life, and only when a policy of the key or a breaker of the user needs it.
 * @param tested a policy to try instead of the key's
 * @returns null when nothing needs it, the actor already has it, or the store is behind the actor;
 * in the last case the next call reads it
 */
export function payeesToTell(
  reader: Reader,
  state: SubWalletState,
  keyId: KeyId,
  tested?: Policy | null,
): KnownPayees | null {
  if (state.payees !== null || state.wallet === null) return null
  const key = state.keys.get(keyId)
  const policy = tested ?? key?.policy ?? null
  const above = key === undefined ? NONE : ancestorsOf(state, key.lineageId)
  const isAsked =
    state.userWatch?.payees === true || asks(policy) || above.some((head) => asks(head.policy))
  if (!isAsked) return null
  return readPayees(reader.fresh(), state, state.wallet.userId)
}

function asks(policy: Policy | null): boolean {
  return policy !== null && compiledOf(policy).asksForNewBeneficiaries
}

function readPayees(
  reader: Reader,
  { subWalletId, open, waiting }: SubWalletState,
  userId: UserId,
): KnownPayees | null {
  const times = new Map<Address, number>()
  const openAtRead: TxId[] = []
  let cursor: string | null = null
  for (let seen = 0; seen < TRANSACTIONS_MAX; seen += PAGE) {
    const page = reader.transactions.ofUser(
      userId,
      { limit: PAGE, cursor },
      (tx) => tx.subWalletId === subWalletId && tx.kind === 'send',
    )
    for (const tx of page.items) {
      // The actor itself has the open and the waiting calls.
      if (open.has(tx.txId) || waiting.byTx.has(tx.txId)) openAtRead.push(tx.txId)
      else if (!isFinal(tx.status)) return null
      else if (tx.status === 'confirmed') {
        for (const address of payeesOf(tx)) times.set(address, (times.get(address) ?? 0) + 1)
      }
    }
    cursor = page.nextCursor
    if (cursor === null) break
  }
  return { times, openAtRead }
}
