import { sleep, sleepUntil } from '../../../src/clock/timers.js'
import type { AddressRule } from '../../../src/domain/address-rule.js'
import { type Approval, askedCall } from '../../../src/domain/approval.js'
import type { UserId } from '../../../src/domain/ids.js'
import { formatUsd } from '../../../src/domain/money.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import { type Fault, FaultError, fault } from '../../../src/errors/fault.js'
import { showCall } from '../../../src/policy/call-shown.js'
import type { ApprovalEffect } from '../core/approval-messages.js'
import type { Command } from '../core/messages.js'
import type { SubWalletPorts } from '../ports.js'

type Of<T extends ApprovalEffect['type']> = Extract<ApprovalEffect, { type: T }>

/** One warning a minute from a call that the identity provider does not take. */
const FAILURES_PER_WARNING = 12

/** The key's proof over the call: nothing else of the API key outlives its request. */
export function readyApproval(
  { timers, approvals, reader }: Pick<SubWalletPorts, 'timers' | 'approvals' | 'reader'>,
  { txId, asked, proofKey }: Of<'ready-approval'>,
  self: (command: Command) => void,
): void {
  if (proofKey === null || approvals === null) throw new Error(`${txId} cannot be asked about`)
  const keyProof = approvals.proveKey(asked, proofKey)
  const url = approvals.pageOf(asked.approvalId)
  const userWaiting = reader.fresh().approvals.waitingOfUser(asked.userId as UserId)
  self({ type: 'approval-ready', txId, keyProof, url, userWaiting, nowMs: timers.now() })
}

/** Has the identity provider know of the call, so that it can show it. Told again, it does no harm. */
export async function registerApproval(
  {
    approvals,
    log,
    timers,
    reader,
  }: Pick<SubWalletPorts, 'approvals' | 'log' | 'timers' | 'reader'>,
  { tx, approval, failures }: Of<'register-approval'>,
  self: (command: Command) => void,
): Promise<void> {
  const { txId, maxNativeWei, needed, delaySeconds, rule, keyProof } = approval
  const outcome = (taken: boolean, refusal: Fault | null = null) =>
    self({
      ...{ type: 'approval-registered', txId, maxNativeWei, taken, nowMs: timers.now() },
      ...(refusal === null ? {} : { refusal }),
    })
  try {
    if (approvals === null) throw new Error('nobody is told of calls that wait')
    await approvals.register(askedCall(approval, tx), {
      ...{ needed, delaySeconds, rule, keyProof },
      spendUsd: formatUsd(tx.reservation.micros),
      payeeLabel: payeeLabel(reader.users.addressRules(tx.userId), approval, tx),
      askedAgain: approval.askedAgain,
    })
    outcome(true)
  } catch (error) {
    if (failures % FAILURES_PER_WARNING === 0) {
      log.warn({ err: error, txId, failures }, 'the identity provider has yet to hear of a call')
    }
    outcome(false, refusalOf(error))
  }
}

/** What it says of a key that has ended there, or never was. */
const OF_THE_KEY: ReadonlySet<unknown> = new Set([
  'KEY_PROOF_MISSING',
  'UNKNOWN_KEY',
  'NOT_GRANTED',
])

/** Null of what may be taken another time, or ends by itself. */
function refusalOf(error: unknown): Fault | null {
  if (!(error instanceof FaultError) || error.fault.code !== 'PERMISSION_DENIED') return null
  if (!OF_THE_KEY.has(error.fault.details.reason)) return null
  return fault('PERMISSION_DENIED', {}, NOT_KEPT)
}

const NOT_KEPT = 'The identity provider keeps no such call of this key; nothing was signed.'

/** What the identity provider takes. */
const LABEL_CHARS_MAX = 128

/**
 * The user's own note of whom the call pays; of one that does not say whom, of the contract that it
 * calls, and of a sponsored one of its venue.
 */
export function payeeLabel(
  rules: readonly AddressRule[],
  { sponsored }: Pick<Approval, 'sponsored'>,
  { kind, call }: Pick<Transaction, 'kind' | 'call'>,
): string | null {
  const [payee] =
    sponsored === null
      ? (showCall({ operation: kind, ...call }).beneficiaries ?? [call.to])
      : [sponsored.terms.target]
  const of = rules.find(({ address }) => address.toLowerCase() === payee?.toLowerCase())
  return of?.note?.slice(0, LABEL_CHARS_MAX) ?? null
}

export async function restApprovals(
  timers: SubWalletPorts['timers'],
  { delayMs }: Of<'rest-approvals'>,
  self: (command: Command) => void,
): Promise<void> {
  await sleep(timers, delayMs)
  self({ type: 'approvals-rested' })
}

export async function wakeApprovals(
  timers: SubWalletPorts['timers'],
  { atMs }: Of<'wake-approvals'>,
  self: (command: Command) => void,
): Promise<void> {
  await sleepUntil(timers, atMs)
  self({ type: 'approvals-due', atMs, nowMs: timers.now() })
}

/** It frees its place there; forgotten, it ends by itself. */
export function forgetApproval(
  { approvals, log }: Pick<SubWalletPorts, 'approvals' | 'log'>,
  { approvalId, status }: Of<'forget-approval'>,
): void {
  const as = status === 'approved' || status === 'pending' ? 'dropped' : status
  approvals
    ?.end(approvalId, as)
    .catch((error: unknown) => log.warn({ err: error, approvalId }, 'an ended call stays there'))
}
