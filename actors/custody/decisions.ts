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
import type { ApprovalPort, Confirmed } from '../../src/service-custody/approval-port.js'
import type { ApprovalDecisions } from '../../src/service-custody/co-signer.js'
import type { Reader } from '../../src/store/reader.js'
import { subWalletAddress } from '../addresses.js'
import type { Envelope } from '../runtime/actor.js'

/** Between two looks, while a call waits: people take seconds at the least. */
const LOOK_MS = 1_000

export interface DecisionPorts {
  readonly approvals: Pick<ApprovalPort, 'approve' | 'decisions'>
  readonly reader: Pick<Reader, 'fresh' | 'approvals' | 'transactions'>
  readonly tell: (envelope: Envelope) => void
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly log: { warn(context: object, message: string): void }
}

type Decided = ApprovalDecisions['decisions'][number]

/** As both domains verified it. @throws FaultError as `ApprovalPort.approve` */
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
 * Brings what people decide at the identity provider's own page to the wallets whose calls wait. A
 * start reads all that is kept there once more: a decision that was heard before changes nothing.
 * What a wallet cannot take yet is brought again at each look, or nobody would ever hear of it.
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
    await sleep(timers, LOOK_MS)
  }
}

function waits(reader: DecisionPorts['reader']): boolean {
  for (const _ of reader.fresh().approvals.walletsWithWaiting()) return true
  return false
}

/** @returns false while it has to be brought again */
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
  // What is approved may have its delay before it still, and be declined.
  const isDecline = decided.decision === 'decline'
  if (!isDecline && approval.status !== 'pending') return true
  const decision = await decisionOf(ports, approval, tx, decided).catch((error: unknown) => {
    if (!(error instanceof FaultError) || error.fault.code === 'COSIGNER_UNAVAILABLE') throw error
    // One user's full line keeps nobody else's waiting.
    if (CATALOGUE[error.fault.code].retryable) return 'later' as const
    // Of a call that was asked about again since, it is good for nothing.
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
  // One that is being signed cannot be stopped, and may come to wait again if that fails.
  return !isDecline
}

/** Null where the record is damaged: what others decided goes on. */
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
