import type { GasWalletId, TxId } from '../../../src/domain/ids.js'
import type { GasJob } from '../../../src/domain/sponsorship.js'
import { type AccountTransaction, isFinal } from '../../../src/domain/transaction.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import { decideAccount } from '../../account/core/decide.js'
import { endRead, unmined } from '../../account/core/decide-chain.js'
import { pumpSigning } from '../../account/core/signing.js'
import { type AccountDraft, isIdle, laneOf } from '../../account/core/state.js'
import type { Decision, ReplyToken } from '../../runtime/actor.js'
import type {
  JobRefusal,
  SponsorUpdate,
  UndelegationUpdate,
} from '../../sub-wallet/core/sponsored-messages.js'
import { heldMore, JAMMED_AFTER_MS, jobHeld } from './held-gas.js'
import type {
  GasWalletCommand,
  GasWalletEffect,
  GasWalletEvent,
  JobUpdate,
  Opened,
  PreparedJob,
} from './messages.js'
import { type GasWalletState, JOBS_MAX } from './state.js'
import { whyStopped } from './stopped.js'
import { GasTurn } from './turn.js'

type Of<T extends GasWalletCommand['type']> = Extract<GasWalletCommand, { type: T }>
type GasDecision = Decision<GasWalletEvent, GasWalletEffect>

/**
 * A gas wallet sends what sub-wallets signed for. The account handles nonces, replacements and
 * gaps; the gas wallet adds jobs and their updates.
 */
export function decide(
  state: GasWalletState,
  command: GasWalletCommand,
  token: ReplyToken | null,
): GasDecision {
  switch (command.type) {
    case 'open':
      return open(state, command, token)
    case 'key-made':
      return keyMade(state, command.wallet)
    case 'sponsor':
      throw new Error('a job must be prepared before it reaches the mailbox')
    case 'prepared-sponsor':
      return takeJob(state, command)
    case 'unmined': {
      const turn = new GasTurn(state)
      unmined(turn, command)
      return decided(state, turn, command.nowMs)
    }
    case 'end-read':
      return takeUp(state, command)
    default: {
      const turn = new GasTurn(state)
      decideAccount(turn, command)
      return decided(state, turn, 'nowMs' in command ? command.nowMs : 0)
    }
  }
}

const NOTHING: GasDecision = { events: [], effects: [], replies: [] }

function open(
  state: GasWalletState,
  { unreported = { jobs: [], nowMs: 0 } }: Of<'open'>,
  token: ReplyToken | null,
): GasDecision {
  const { gasWalletId } = state
  const { wallet, open: transactions } = state.account
  if (wallet === null) {
    if (token !== null) state.openers.push(token)
    return { ...NOTHING, effects: [{ type: 'make-key' }] }
  }
  const value: Opened = { address: wallet.address }
  const told = unreported.jobs.map(({ job, tx }): GasWalletEffect => {
    const about: About = { gasWalletId, job, nowMs: unreported.nowMs }
    const flight = transactions.get(tx.txId)?.flight ?? 'ended'
    return { type: 'tell', subWalletId: job.subWalletId, update: update(about, tx, flight) }
  })
  return {
    events: [],
    effects: [
      ...[...transactions.values()].map(({ tx }): GasWalletEffect => ({ type: 'watch', tx })),
      ...told,
    ],
    replies: token === null ? [] : [{ token, result: { ok: true, value } }],
  }
}

function keyMade(state: GasWalletState, wallet: Of<'key-made'>['wallet']): GasDecision {
  const waiting = state.openers.splice(0)
  if (wallet === null) {
    const refused = { ok: false, fault: fault('COSIGNER_UNAVAILABLE') } as const
    return { ...NOTHING, replies: waiting.map((token) => ({ token, result: refused })) }
  }
  const turn = new GasTurn(state)
  turn.emit({ type: 'gas-wallet-opened', wallet })
  const value: Opened = { address: wallet.address }
  const replies = waiting.map((token) => ({ token, result: { ok: true, value } as const }))
  return { events: turn.events, effects: [], replies }
}

/** Takes up a transaction that a reorg took back after its end: it is in flight again. */
function takeUp(state: GasWalletState, command: Of<'end-read'>): GasDecision {
  const turn = new GasTurn(state)
  const stored = endRead(turn, command)
  if (stored !== null) {
    if (command.job !== null) state.jobs.set(stored.txId, command.job)
    turn.emit({ type: 'transaction-reopened', tx: stored, atMs: command.nowMs })
    const reopened = state.account.open.get(stored.txId)
    if (reopened !== undefined) turn.effect({ type: 'watch', tx: reopened.tx })
  }
  return decided(state, turn, command.nowMs)
}

/** Takes a job. It is idempotent by transaction id: a known job is only answered with its state. */
function takeJob(state: GasWalletState, command: PreparedJob): GasDecision {
  const { job: asked, quote, past, chainNonce, nowMs } = command
  const { account } = state
  const turn = new GasTurn(state)
  const known = account.open.get(asked.txId)
  const more = known === undefined ? null : heldMore(state.jobs.get(asked.txId), asked)
  if (more !== null) turn.emit({ type: 'job-raised', job: more })
  const job = state.jobs.get(asked.txId) ?? asked
  const about: About = { gasWalletId: state.gasWalletId, job, nowMs }
  if (known !== undefined) {
    turn.effect(told(job, update(about, known.tx, known.flight)))
    return { events: turn.events, effects: turn.effects, replies: [] }
  }
  if (account.drafts.has(job.txId) || past === 'under-way') return NOTHING
  if (past !== null) return tell(job, update(about, past, 'ended'))
  const stopped = whyStopped(state, job)
  if (stopped !== null) return tell(job, refusal(about, { fault: stopped, of: 'call' }))
  const lane = laneOf(account, state.chainId)
  if (!quote.ok) return tell(job, refusal(about, quote.refusal))
  if (account.wallet === null || (lane.nextNonce === null && chainNonce === null)) {
    const why = fault('CHAIN_UNAVAILABLE')
    return tell(job, refusal(about, { fault: why, of: 'gas-wallet' }))
  }
  const why = cannotCarry(state, command, quote)
  if (why !== null) return tell(job, refusal(about, { fault: why, of: 'gas-wallet' }))
  const held = jobHeld(job, quote)
  if ('refusal' in held) return tell(job, refusal(about, held.refusal))
  turn.emit({ type: 'job-taken', job: held.job })
  if (
    chainNonce !== null &&
    (lane.nextNonce === null || (isIdle(lane) && lane.nextNonce < chainNonce))
  ) {
    const { chainId, window, nextNonce: before } = lane
    turn.emit({ type: 'lane-synced', chainId, before, nextNonce: chainNonce, window })
  }
  turn.emit({ type: 'reserved', draft: draftOf(job, quote.gasLimit, quote.fees, nowMs) })
  turn.emit({ type: 'queued', txId: job.txId, screenedAgainst: [] })
  pumpSigning(turn, lane)
  return decided(state, turn, nowMs)
}

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
  // When all are jammed, the job waits at the last one behind its transactions.
  return isJammed && others > 0 ? fault('OVERLOADED') : null
}

function draftOf(
  job: GasJob,
  gasLimit: bigint,
  fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint },
  nowMs: number,
): AccountDraft {
  return {
    txId: job.txId,
    requestId: job.txId,
    call: { chainId: job.chainId, to: job.router, value: 0n, data: job.calldata },
    gasLimit,
    ...fees,
    createdAtMs: nowMs,
    token: null,
    signs: 'first-time',
  }
}

/** Adds the updates for sub-wallets. */
function decided(state: GasWalletState, turn: GasTurn, nowMs: number): GasDecision {
  const { events, effects } = turn
  const changed = new Set<TxId>()
  for (const event of events) {
    const txId = changedBy(event)
    if (txId !== null) changed.add(txId)
  }
  for (const txId of turn.wanted.keys()) changed.add(txId)
  for (const txId of changed) {
    const job = state.jobs.get(txId)
    // A transaction that closes a gap belongs to no job.
    if (job === undefined) state.faults.delete(txId)
    const found = job === undefined ? null : updateOf(state, job, nowMs)
    if (job !== undefined && found !== null) effects.push(told(job, wanting(turn, found)))
  }
  return { events, effects, replies: [] }
}

function changedBy(event: GasWalletEvent): TxId | null {
  switch (event.type) {
    case 'transaction-signed':
    case 'transaction-reopened':
      return event.tx.txId
    case 'released':
    case 'indeterminate':
    case 'refusal-disputed':
    case 'loss-disputed':
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

function updateOf(state: GasWalletState, job: GasJob, nowMs: number): JobUpdate | null {
  const { account, gasWalletId } = state
  const about: About = { gasWalletId, job, nowMs }
  const { txId } = job
  const entry = account.open.get(txId)
  const ended = account.ended.get(txId)
  if (entry !== undefined || ended !== undefined) state.faults.delete(txId)
  if (entry !== undefined) return update(about, entry.tx, entry.flight)
  if (ended !== undefined) return update(about, ended, 'ended')
  if (account.drafts.has(txId)) return null
  const why = state.faults.get(txId) ?? whyStopped(state, job) ?? undefined
  state.faults.delete(txId)
  state.jobs.delete(txId)
  return refusal(about, { fault: publicFault(why), of: 'call' })
}

/**
 * Hides the quorum's refusal to sign for the service's own wallet, which is not the caller's fault.
 */
function publicFault(why: Fault | undefined): Fault {
  if (why === undefined || why.code === 'PERMISSION_DENIED') {
    return fault('COSIGNER_UNAVAILABLE', {}, undefined, 'a gas wallet could not sign')
  }
  return why
}

function tell(job: GasJob, update: JobUpdate): GasDecision {
  return { ...NOTHING, effects: [told(job, update)] }
}

function told({ subWalletId }: GasJob, update: JobUpdate): GasWalletEffect {
  return { type: 'tell', subWalletId, update }
}

function wanting({ wanted }: GasTurn, update: JobUpdate): JobUpdate {
  const wantedWei = wanted.get(update.txId)
  if (wantedWei === undefined || update.type !== 'sponsor-update') return update
  return { ...update, wantedWei }
}

/** The subject of an update and its sender. */
interface About {
  readonly gasWalletId: GasWalletId
  readonly job: GasJob
  readonly nowMs: number
}

function update(about: About, gas: AccountTransaction, flight: SponsorUpdate['flight']): JobUpdate {
  const { gasWalletId, job, nowMs } = about
  const { txId, cancels } = job
  if (job.lineageId === null) {
    const isOver = gas.mined !== null || isFinal(gas.status)
    return undelegation(job, isOver ? 'over' : 'open', gas.mined?.blockNumber ?? null)
  }
  const heldWei = job.gas?.heldWei ?? null
  return {
    ...{ type: 'sponsor-update', txId, gas, flight, refusal: null, gasWalletId, cancels, nowMs },
    ...(heldWei === null ? {} : { heldWei }),
  }
}

function refusal({ gasWalletId, job, nowMs }: About, why: JobRefusal): JobUpdate {
  const { txId, cancels } = job
  if (job.lineageId === null) return undelegation(job, 'refused', null)
  return {
    ...{ type: 'sponsor-update', txId, gas: null, flight: 'ended', refusal: why },
    ...{ gasWalletId, cancels, nowMs },
  }
}

function undelegation(
  { txId, chainId }: GasJob,
  stage: UndelegationUpdate['stage'],
  minedAt: number | null,
): UndelegationUpdate {
  return { type: 'undelegation-update', txId, chainId, stage, minedAt }
}
