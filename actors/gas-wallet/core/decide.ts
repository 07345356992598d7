import type { GasWalletId, KeyId, LineageId, TxId } from '../../../src/domain/ids.js'
import type { GasJob } from '../../../src/domain/sponsorship.js'
import { isFinal, type Transaction } from '../../../src/domain/transaction.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import type { Decision, ReplyToken } from '../../runtime/actor.js'
import { decide as decideAccount } from '../../sub-wallet/core/decide.js'
import { pumpSigning } from '../../sub-wallet/core/decide-lane.js'
import type {
  Effect as SubWalletEffect,
  Event as SubWalletEvent,
} from '../../sub-wallet/core/messages.js'
import type { JobRefusal, SponsorNews } from '../../sub-wallet/core/sponsored-messages.js'
import { type Draft, laneOf } from '../../sub-wallet/core/state.js'
import { Turn } from '../../sub-wallet/core/turn.js'
import type {
  GasWalletCommand,
  GasWalletEffect,
  GasWalletEvent,
  Opened,
  PreparedJob,
} from './messages.js'
import { type GasWalletState, JOBS_MAX } from './state.js'

type GasDecision = Decision<GasWalletEvent, GasWalletEffect>

/** A gas wallet's spend is nobody's: what it pays is counted against its budget elsewhere. */
const NO_KEY = '' as KeyId
const NO_LINEAGE = 'service' as LineageId
const NO_VALUE = { valueMicros: 0n, gasMicros: 0n, nativePrice: 0n, nativePriceDecimals: 0 }

/**
 * The service's own wallets prove no API key. Present all the same, since the lane signs again at
 * another nonce only what may be signed again.
 */
export const SERVICE_PROOF = new Uint8Array(0)

/**
 * A gas wallet sends what sub-wallets signed for. Its nonces, replacements and gaps are handled by
 * the same lane as a sub-wallet's own sends; what is added here is whom to tell.
 */
export function decide(
  state: GasWalletState,
  command: GasWalletCommand,
  token: ReplyToken | null,
): GasDecision {
  switch (command.type) {
    case 'open':
      return open(state, token)
    case 'key-made': {
      const waiting = state.openers.splice(0)
      const { wallet } = command
      if (wallet === null) {
        const refused = { ok: false, fault: fault('COSIGNER_UNAVAILABLE') } as const
        return {
          ...NOTHING,
          replies: waiting.map((opener) => ({ token: opener, result: refused })),
        }
      }
      state.account.wallet = wallet
      const value: Opened = { address: wallet.address }
      return {
        events: [{ type: 'gas-wallet-opened', wallet }],
        effects: [],
        replies: waiting.map((opener) => ({ token: opener, result: { ok: true, value } })),
      }
    }
    case 'sponsor':
      throw new Error('a job reaches the mailbox prepared')
    case 'prepared-sponsor':
      return takeJob(state, command)
    case 'unmined-final':
      if (command.job !== null && isFinal(command.stored.status)) {
        state.jobs.set(command.txId, command.job)
      }
      return followed(
        state,
        decideAccount(state.account, { ...command, type: 'unmined' }, null),
        command.nowMs,
      )
    default:
      return followed(
        state,
        decideAccount(state.account, command, null),
        'nowMs' in command ? command.nowMs : 0,
      )
  }
}

const NOTHING: GasDecision = { events: [], effects: [], replies: [] }

function open(state: GasWalletState, token: ReplyToken | null): GasDecision {
  const { wallet, open: transactions } = state.account
  if (wallet === null) {
    if (token !== null) state.openers.push(token)
    return { ...NOTHING, effects: [{ type: 'make-key' }] }
  }
  const value: Opened = { address: wallet.address }
  return {
    events: [],
    effects: [...transactions.values()].map(({ tx }) => ({ type: 'watch', tx })),
    replies: token === null ? [] : [{ token, result: { ok: true, value } }],
  }
}

/** Idempotent by transaction id: a job known already is only told how it stands. */
function takeJob(state: GasWalletState, command: PreparedJob): GasDecision {
  const { job, quote, past, chainNonce, nowMs } = command
  const { account } = state
  const about: About = { gasWalletId: state.gasWalletId, job, nowMs }
  const known = account.open.get(job.txId)
  if (known !== undefined) return tell(job, news(about, known.tx, known.flight))
  if (account.drafts.has(job.txId)) return NOTHING
  if (past !== null) return tell(job, news(about, past, 'ended'))
  const lane = laneOf(account, state.chainId)
  if (!quote.ok) return tell(job, refusal(about, quote.refusal))
  if (account.wallet === null || (lane.nextNonce === null && chainNonce === null)) {
    const why = fault('CHAIN_UNAVAILABLE')
    return tell(job, refusal(about, { fault: why, of: 'gas-wallet' }))
  }
  const why = cannotCarry(state, command, quote)
  if (why !== null) return tell(job, refusal(about, { fault: why, of: 'gas-wallet' }))
  const turn = new Turn(account)
  const idle = lane.signing.length === 0 && lane.flight.length === 0
  if (chainNonce !== null && (lane.nextNonce === null || (idle && lane.nextNonce < chainNonce))) {
    const { chainId, window, nextNonce: before } = lane
    turn.emit({ type: 'lane-synced', chainId, before, nextNonce: chainNonce, window })
  }
  state.jobs.set(job.txId, job)
  turn.emit({ type: 'reserved', draft: draftOf(job, quote.gasLimit, quote.fees, nowMs) })
  turn.emit({ type: 'queued', txId: job.txId, screenedAgainst: [] })
  pumpSigning(turn, lane)
  const { events, effects, replies } = followed(state, turn.decision(), nowMs)
  return { events: [{ type: 'job-taken', job }, ...events], effects, replies }
}

/** A transaction that takes longer to be mined holds up all that were signed after it. */
const JAMMED_AFTER_MS = 60_000

/** Why this gas wallet should be passed over; null when it can take the job. */
function cannotCarry(
  { account, jobs }: GasWalletState,
  { others, nowMs }: PreparedJob,
  { gasLimit, fees, balanceWei }: Extract<PreparedJob['quote'], { ok: true }>,
): Fault | null {
  if (jobs.size >= JOBS_MAX) return fault('OVERLOADED')
  let committedWei = gasLimit * fees.maxFeePerGas
  for (const { draft } of account.drafts.values()) {
    committedWei += draft.gasLimit * draft.maxFeePerGas
  }
  let isJammed = false
  for (const { tx } of account.open.values()) {
    if (tx.mined !== null) continue
    committedWei += tx.gasLimit * (tx.attempts.at(-1)?.maxFeePerGas ?? 0n)
    if (nowMs - tx.createdAtMs > JAMMED_AFTER_MS) isJammed = true
  }
  if (balanceWei < committedWei) {
    const message = 'The service cannot pay for sponsored transactions on this chain at the moment.'
    return fault('CHAIN_UNAVAILABLE', {}, message, 'a gas wallet is out of funds')
  }
  // Where all are jammed the last one waits with its transactions.
  return isJammed && others > 0 ? fault('OVERLOADED') : null
}

function draftOf(
  job: GasJob,
  gasLimit: bigint,
  fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint },
  nowMs: number,
): Draft {
  return {
    txId: job.txId,
    requestId: job.txId,
    keyId: NO_KEY,
    lineageId: NO_LINEAGE,
    chainId: job.chainId,
    kind: 'send',
    to: job.router,
    value: 0n,
    data: job.calldata,
    gasLimit,
    ...fees,
    valuation: NO_VALUE,
    reservation: { micros: 0n, day: 0, month: 0 },
    problem: null,
    forecast: null,
    proofKey: SERVICE_PROOF,
    idempotency: null,
    token: null,
    createdAtMs: nowMs,
    booking: 'drafted',
  }
}

/** Turns what the lane decided into a gas wallet's own effects, and adds the news. */
function followed(
  state: GasWalletState,
  decision: Decision<SubWalletEvent, SubWalletEffect>,
  nowMs: number,
): GasDecision {
  const changed = new Set<TxId>()
  for (const event of decision.events) {
    const txId = changedBy(event)
    if (txId !== null) changed.add(txId)
    if (event.type === 'signature-failed') state.faults.set(event.txId, event.fault)
  }
  const effects = decision.effects.flatMap((effect) => ownEffect(state, effect))
  for (const txId of changed) {
    const job = state.jobs.get(txId)
    const found = job === undefined ? null : newsOf(state, job, nowMs)
    if (job !== undefined && found !== null) {
      effects.push({ type: 'tell', subWalletId: job.subWalletId, news: found })
    }
  }
  return { events: decision.events, effects, replies: [] }
}

function changedBy(event: SubWalletEvent): TxId | null {
  switch (event.type) {
    case 'transaction-signed':
    case 'transaction-reopened':
      return event.tx.txId
    case 'released':
    case 'unsure':
    case 'underpriced':
    case 'transaction-renonced':
    case 'transaction-replaced':
    case 'transaction-broadcast':
    case 'transaction-mined':
    case 'transaction-unmined':
    case 'transaction-ended':
      return event.txId
    default:
      return null
  }
}

function newsOf(state: GasWalletState, job: GasJob, nowMs: number): SponsorNews | null {
  const { account, gasWalletId } = state
  const about: About = { gasWalletId, job, nowMs }
  const { txId } = job
  const entry = account.open.get(txId)
  const ended = account.ended.get(txId)
  if (entry !== undefined || ended !== undefined) state.faults.delete(txId)
  if (entry !== undefined) return news(about, entry.tx, entry.flight)
  if (ended !== undefined) return news(about, ended, 'ended')
  if (account.drafts.has(txId)) return null
  const why = state.faults.get(txId)
  state.faults.delete(txId)
  state.jobs.delete(txId)
  return refusal(about, { fault: publicFault(why), of: 'call' })
}

/** Whatever the quorum says of the service's own wallet is not the caller's doing. */
function publicFault(why: Fault | undefined): Fault {
  if (why === undefined || why.code === 'PERMISSION_DENIED') {
    return fault('COSIGNER_UNAVAILABLE', {}, undefined, 'a gas wallet could not sign')
  }
  return why
}

function ownEffect(state: GasWalletState, effect: SubWalletEffect): GasWalletEffect[] {
  switch (effect.type) {
    case 'sign': {
      const { draft, nonce, replaces } = effect
      const walletId = state.account.wallet?.subWalletId
      if (walletId === undefined) throw new Error(`${state.gasWalletId} signs without a key`)
      const authorization = state.jobs.get(draft.txId)?.authorization ?? null
      return [{ type: 'sign-job', walletId, draft, nonce, replaces, authorization }]
    }
    case 'replace': {
      const authorization = state.jobs.get(effect.tx.txId)?.authorization ?? null
      return [{ type: 'replace-job', tx: effect.tx, purpose: effect.purpose, authorization }]
    }
    case 'broadcast':
    case 'watch':
    case 'unwatch':
    case 'read-again':
      return [effect]
    default:
      return []
  }
}

function tell(job: GasJob, told: SponsorNews): GasDecision {
  return { ...NOTHING, effects: [{ type: 'tell', subWalletId: job.subWalletId, news: told }] }
}

/** Whom the news is about, and from whom. */
interface About {
  readonly gasWalletId: GasWalletId
  readonly job: GasJob
  readonly nowMs: number
}

function news(about: About, gas: Transaction, flight: SponsorNews['flight']): SponsorNews {
  const { gasWalletId, job, nowMs } = about
  const { txId, cancels } = job
  return { type: 'sponsor-news', txId, gas, flight, refusal: null, gasWalletId, cancels, nowMs }
}

function refusal({ gasWalletId, job, nowMs }: About, why: JobRefusal): SponsorNews {
  const { txId, cancels } = job
  return {
    ...{ type: 'sponsor-news', txId, gas: null, flight: 'ended', refusal: why },
    ...{ gasWalletId, cancels, nowMs },
  }
}
