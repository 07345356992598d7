import { sleep, type Timers } from '../../src/clock/timers.js'
import {
  type Approval,
  approversOf,
  askedCall,
  type GivenDecision,
  SOFTWARE_AUTHORIZER,
} from '../../src/domain/approval.js'
import type { Transaction } from '../../src/domain/transaction.js'
import { CATALOGUE } from '../../src/errors/catalogue.js'
import { FaultError } from '../../src/errors/fault.js'
import type { ApprovalDecisions } from '../../src/service-custody/approval-messages.js'
import type { ApprovalPort, Confirmed } from '../../src/service-custody/approval-port.js'
import type { Reader } from '../../src/store/reader.js'
import { subWalletAddress } from '../addresses.js'
import type { Envelope } from '../runtime/actor.js'

/** The interval between two polls while a call waits: people take seconds at the least. */
const POLL_MS = 1_000

interface DecisionPorts {
  readonly approvals: Pick<ApprovalPort, 'approve' | 'decisions'>
  readonly reader: Pick<Reader, 'fresh' | 'approvals' | 'transactions'>
  readonly tell: (envelope: Envelope) => void
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly log: { warn(context: object, message: string): void }
}

type Decided = ApprovalDecisions['decisions'][number]

/**
 * Returns the decision as both domains verified it.
 * @throws FaultError as `ApprovalPort.approve` does
 */
export async function approvedBy(
  {
    approvals,
    timers,
  }: {
    readonly approvals: Pick<ApprovalPort, 'approve'>
    readonly timers: Pick<Timers, 'now'>
  },
  approval: Approval,
  tx: Transaction,
  confirmed: Confirmed,
  comment: string | null,
): Promise<GivenDecision> {
  const earlier = [...approversOf(approval)]
  const given = await approvals.approve(askedCall(approval, tx), { ...confirmed, earlier })
  return {
    authorizerId: given.authorizerId ?? SOFTWARE_AUTHORIZER,
    ...(given.personIds === null ? {} : { personIds: given.personIds }),
    ...(given.holdersNow === undefined ? {} : { holdersNow: given.holdersNow }),
    decision: 'approve',
    comment,
    atMs: timers.now(),
    proof: `0x${Buffer.from(given.proof).toString('hex')}`,
  }
}

/**
 * Brings decisions made on the identity provider's own page to the wallets whose calls wait. A
 * restart reads all kept decisions again: a decision that was already applied changes nothing. A
 * decision that a wallet cannot accept yet is brought again at each poll, because it would
 * otherwise be lost.
 */
export async function followDecisions(
  ports: DecisionPorts,
  isStopped: () => boolean,
): Promise<void> {
  const { approvals, reader, timers, log } = ports
  let cursor: string | null = null
  let early: readonly Decided[] = []
  let failing = false
  while (!isStopped()) {
    try {
      if (waits(reader)) {
        const { decisions, cursor: next } = await approvals.decisions(cursor)
        const again: Decided[] = []
        for (const decided of [...early, ...decisions]) {
          if (!(await bring(ports, decided))) again.push(decided)
        }
        early = again
        cursor = next
        if (decisions.length > 0) continue
      } else early = []
      failing = false
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'decisions about waiting calls could not be read')
      failing = true
    }
    await sleep(timers, POLL_MS)
  }
}

function waits(reader: DecisionPorts['reader']): boolean {
  for (const _ of reader.fresh().approvals.walletsWithWaiting()) return true
  return false
}

/** @returns false while the decision has to be brought again */
async function bring(ports: DecisionPorts, decided: Decided): Promise<boolean> {
  const { reader, tell, timers, log } = ports
  const { approvalId, userId, subWalletId } = decided
  const waiting = soundly(ports, decided, () => {
    const approval = reader.fresh().approvals.byId(userId as Approval['userId'], approvalId)
    return { approval, tx: approval && reader.transactions.byId(approval.txId) }
  })
  if (waiting === null) return true
  const { approval, tx } = waiting
  if (approval === undefined || tx?.status !== 'awaiting_approval') return true
  if (approval.subWalletId !== subWalletId) return true
  // An approved call may still have to wait for its delay and be declined during it.
  const isDecline = decided.decision === 'decline'
  if (!isDecline && approval.status !== 'pending') return true
  const decision = await decisionOf(ports, approval, tx, decided).catch((error: unknown) => {
    if (!(error instanceof FaultError) || error.fault.code === 'COSIGNER_UNAVAILABLE') throw error
    // One user's full queue must not hold up the others.
    if (CATALOGUE[error.fault.code].retryable) return 'later' as const
    // The decision is for an earlier term of the call, and is void.
    log.warn({ err: error, approvalId }, 'a decision about a waiting call does not hold')
    return null
  })
  if (decision === 'later') return false
  if (decision === null) return true
  const command = {
    type: 'decide-approval',
    ...{ txId: tx.txId, decision, requestId: null, nowMs: timers.now() },
    maxNativeWei: decision.decision === 'approve' ? approval.maxNativeWei : null,
  }
  tell({ ...subWalletAddress(tx), command, token: null })
  // A call that is being signed cannot be stopped, and may wait again when the signing fails.
  return !isDecline
}

/** Returns null when the record is damaged, so that the decisions about other calls continue. */
function soundly<T>({ log }: DecisionPorts, { approvalId }: Decided, read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    log.warn({ err: error, approvalId }, 'a decision is about a call that cannot be read')
    return null
  }
}

async function decisionOf(
  ports: DecisionPorts,
  approval: Approval,
  tx: Transaction,
  { decision, authorizerId, comment, atMs, proof }: Decided,
): Promise<GivenDecision> {
  if (decision === 'decline') return { authorizerId, decision, comment, atMs, proof: null }
  const confirmed = { consoleToken: '', authorization: { proof } }
  return approvedBy(ports, approval, tx, confirmed, comment)
}
