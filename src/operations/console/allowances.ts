import { subWalletAddress } from '../../../actors/addresses.js'
import type { SendCommand } from '../../../actors/sub-wallet/core/messages.js'
import { decodeSendReply } from '../../../actors/sub-wallet/send-reply.js'
import { transactionView } from '../../api/transaction-view.js'
import type { AuthenticatedKey } from '../../auth/api-key.js'
import { type AllowanceEntry, allowanceKey } from '../../domain/allowance.js'
import { CHAIN_IDS } from '../../domain/chains.js'
import { ID_PREFIX, type TxId } from '../../domain/ids.js'
import type { Transaction } from '../../domain/transaction.js'
import type { SubWallet } from '../../domain/wallet.js'
import { type Fault, fault, ok, type Result, refuse } from '../../errors/fault.js'
import { frozenFault } from '../../errors/frozen.js'
import { unknownCall } from '../../errors/outcome-unknown.js'
import { newId } from '../../store/new-id.js'
import { type RevokeCall, revokeCalls } from '../../valuation/allowances.js'
import { readLiveAllowances } from '../../valuation/live-allowances.js'
import { answerFromChain } from '../chain-answer.js'
import type { ConsoleContext, ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { ownedWallet } from './ownership.js'

/** Transactions of one request; further ones are skipped as OVERLOADED, for the next request. */
const REVOCATIONS_MAX = 64

const MS_PER_SECOND = 1_000

/**
 * Ends every allowance of a sub-wallet that is in force or on its way, by transactions like any
 * other of the wallet's: valued, capped, screened, co-signed, with gas paid by the wallet.
 *
 * Spec silent: the identity provider's share signs only on the proof of a live API key, so that a
 * stolen console session cannot move funds. The request therefore has a trade key of the wallet in
 * `X-Api-Key` besides the token; its caps and chains apply, and the audit trail names it. Repeating
 * the request is safe: a revocation under way is answered and not sent again.
 *
 * Spec silent: a call that ends an allowance names its spender, so screening refuses it if that
 * spender is on a list, and it is skipped. Rules that the user made can be lifted for the time.
 */
export function revokeAllowances(ports: OperationPorts): ConsoleHandlers['revoke_allowances'] {
  const { reader, headOf, chains } = ports
  return async (context, { sub_wallet_id, chain_id }) => {
    const owned = ownedWallet(reader, context.userId, sub_wallet_id)
    if (!owned.ok) return owned
    if (chain_id !== undefined && !chains.has(chain_id)) {
      const details = { chain_id, supported_chains: [...CHAIN_IDS] }
      return { ok: false, fault: fault('CHAIN_NOT_SUPPORTED', details) }
    }
    const key = tradeKeyOf(owned.value, context.presentedKey)
    if (!key.ok) return key
    const frozen = ports.freezes.freezeOf(key.value.key)
    if (frozen !== null) return refuse(frozenFault(frozen))
    const run = new Revocation(ports, owned.value, context, key.value)
    try {
      const wanted = chain_id === undefined ? [...chains.keys()] : [chain_id]
      await Promise.all(wanted.map((id) => run.onChain(id)))
    } finally {
      key.value.proofKey.fill(0)
    }
    const transactions = run.transactions.map((tx) => transactionView(tx, headOf(tx.call.chainId)))
    return { ok: true, value: { transactions, skipped: run.skipped.map(skippedView) } }
  }
}

/** Copies the proof key, because the exchange's own is wiped when the caller disconnects. */
function tradeKeyOf(
  wallet: SubWallet,
  presented: AuthenticatedKey | null,
): Result<AuthenticatedKey> {
  if (presented === null) {
    const message = 'Send a trade key of this sub-wallet in X-Api-Key besides the console token.'
    return refuse(fault('UNAUTHENTICATED', {}, message))
  }
  const { key, rateLineage, proofKey } = presented
  if (key.subWalletId !== wallet.subWalletId) {
    const message = 'This API key belongs to another sub-wallet. Use a trade key of this one.'
    return refuse(fault('PERMISSION_DENIED', {}, message))
  }
  if (key.permission !== 'trade') return refuse(fault('PERMISSION_DENIED'))
  return ok({ key, rateLineage, proofKey: new Uint8Array(proofKey) })
}

interface Skipped {
  readonly entry: AllowanceEntry
  readonly why: Fault
}

/** The work of one request, chain by chain; a chain that fails does not affect the others. */
class Revocation {
  readonly transactions: Transaction[] = []
  readonly skipped: Skipped[] = []
  readonly #ports: OperationPorts
  readonly #wallet: SubWallet
  readonly #context: ConsoleContext
  readonly #key: AuthenticatedKey
  readonly #open: readonly Transaction[]
  #sendsLeft = REVOCATIONS_MAX
  #isOver = false

  constructor(
    ports: OperationPorts,
    wallet: SubWallet,
    context: ConsoleContext,
    key: AuthenticatedKey,
  ) {
    this.#ports = ports
    this.#wallet = wallet
    this.#context = context
    this.#key = key
    this.#open = [...ports.reader.transactions.openOfWallet(wallet.subWalletId)]
  }

  async onChain(chainId: number): Promise<void> {
    const { reader, nowMs } = this.#ports
    const { address } = this.#wallet
    const entries = [...reader.allowances.ofWallet(address, chainId)]
    if (entries.length === 0) return
    const nowSeconds = Math.floor(nowMs() / MS_PER_SECOND)
    const standing = await answerFromChain(this.#ports, chainId, async (chain) => {
      return ok(await readLiveAllowances(chain, address, entries, nowSeconds))
    })
    if (!standing.ok) {
      this.#skip(entries, standing.fault)
      return
    }
    const pending = new Set(this.#open.map(({ txId }) => txId))
    const live = new Set(standing.value.map(({ entry }) => allowanceKey(entry)))
    const toEnd = entries.filter(
      (entry) => live.has(allowanceKey(entry)) || pending.has(entry.txId),
    )
    const calls = revokeCalls(toEnd)
    const ended = new Set(calls.flatMap(({ ends }) => ends.map(allowanceKey)))
    this.#skip(
      toEnd.filter((entry) => !ended.has(allowanceKey(entry))),
      fault(
        'CALLDATA_UNDECODABLE',
        {},
        'The allowance does not name its item, so no call can end it.',
      ),
    )
    for (const call of calls) await this.#end(call)
  }

  async #end(call: RevokeCall): Promise<void> {
    const underWay = this.#open.find((tx) => this.#isUnderWay(tx, call))
    if (underWay !== undefined) {
      this.transactions.push(underWay)
      return
    }
    if (this.#sendsLeft === 0) {
      const message = 'One request cannot end this many allowances. Repeat it for the others.'
      this.#skip(call.ends, fault('OVERLOADED', { revocations_max: REVOCATIONS_MAX }, message))
      return
    }
    if (this.#isOver) {
      this.#skip(call.ends, fault('OVERLOADED', {}, NOT_TRIED))
      return
    }
    this.#sendsLeft--
    const sent = await this.#send(call)
    if (sent.ok) this.transactions.push(sent.value)
    else if (sent.fault.code === 'ADDRESS_BLOCKED' && call.ends.length > 1) {
      // A blocked spender must not keep the other allowances of the same call alive.
      for (const entry of call.ends)
        for (const alone of revokeCalls([entry])) await this.#end(alone)
    } else this.#skip(call.ends, sent.fault)
  }

  /** Whether the same call is under way, at a nonce after those of the allowances that it ends. */
  #isUnderWay(tx: Transaction, { chainId, to, data, ends }: RevokeCall): boolean {
    if (tx.call.chainId !== chainId || tx.call.data !== data) return false
    if (tx.call.to.toLowerCase() !== to.toLowerCase()) return false
    const { reader } = this.#ports
    return ends.every(({ txId }) => (reader.transactions.byId(txId)?.nonce ?? -1) < tx.nonce)
  }

  async #send({ chainId, to, value, data }: RevokeCall): Promise<Result<Transaction>> {
    const { key, proofKey } = this.#key
    const command: SendCommand = {
      type: 'send',
      txId: newId<TxId>(ID_PREFIX.tx, this.#ports.timers),
      requestId: this.#context.requestId,
      keyId: key.keyId,
      kind: 'send',
      call: { chainId, to, value, data },
      proofKey,
      idempotency: null,
      guardsDuplicates: false,
    }
    const answer = await this.#ports.actors.ask(subWalletAddress(this.#wallet), command)
    if (!answer.ok) {
      // Each of the other calls would wait as long.
      this.#isOver = answer.fault.code === 'OUTCOME_UNKNOWN'
      return refuse(unknownCall(answer.fault, command.txId, false))
    }
    const { answeredSends, reader } = this.#ports
    const sent = decodeSendReply(answer.value)
    answeredSends.note(sent)
    const tx = reader.fresh().transactions.byId(sent.txId)
    if (tx === undefined) throw new Error(`${sent.txId} was answered but is not stored`)
    return ok(tx)
  }

  #skip(entries: readonly AllowanceEntry[], why: Fault): void {
    for (const entry of entries) this.skipped.push({ entry, why })
  }
}

const NOT_TRIED =
  'The outcome of an earlier call is not known yet, so nothing was sent for this one.'

function skippedView({ entry, why }: Skipped) {
  return {
    chain_id: entry.chainId,
    token: entry.token,
    spender: entry.spender,
    tx_id: entry.txId,
    code: why.code,
    message: why.message,
  }
}
