import { sleep, sleepUntil } from '../../../src/clock/timers.js'
import type { AddressRule } from '../../../src/domain/address-rule.js'
import { type Approval, askedCall } from '../../../src/domain/approval.js'
import type { UserId } from '../../../src/domain/ids.js'
import { formatUsd } from '../../../src/domain/money.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import { type Fault, FaultError, fault } from '../../../src/errors/fault.js'
import { showCall } from '../../../src/policy/call-shown.js'
import type { CallNames } from '../../../src/service-custody/approval-messages.js'
import type { ApprovalEffect } from '../core/approval-messages.js'
import type { Command } from '../core/messages.js'
import type { SubWalletPorts } from '../ports.js'

type Of<T extends ApprovalEffect['type']> = Extract<ApprovalEffect, { type: T }>

/** Limits warnings to about one a minute for a call that the identity provider does not accept. */
const FAILURES_PER_WARNING = 12

/** Proves the call with the API key. Only this proof outlives the request; the API key does not. */
export function readyApproval(
  { timers, approvals, reader }: Pick<SubWalletPorts, 'timers' | 'approvals' | 'reader'>,
  { txId, asked, proofKey }: Of<'ready-approval'>,
  self: (command: Command) => void,
): void {
  if (proofKey === null || approvals === null)
    throw new Error(`${txId} cannot be put before a person`)
  const keyProof = approvals.proveKey(asked, proofKey)
  const url = approvals.pageOf(asked.approvalId)
  const userWaiting = reader.fresh().approvals.waitingOfUser(asked.userId as UserId)
  self({ type: 'approval-ready', txId, keyProof, url, userWaiting, nowMs: timers.now() })
}

/**
 * Registers the call with the identity provider, which shows it to people. Repeating it does no
 * harm.
 */
export async function registerApproval(
  {
    approvals,
    log,
    timers,
    reader,
    chains,
  }: Pick<SubWalletPorts, 'approvals' | 'log' | 'timers' | 'reader' | 'chains'>,
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
    if (approvals === null) throw new Error('approvals are not configured')
    await approvals.register(askedCall(approval, tx), {
      ...{ needed, delaySeconds, rule, keyProof },
      spendUsd: formatUsd(tx.reservation.micros),
      payeeLabel: payeeLabel(reader.users.addressRules(tx.userId), approval, tx),
      askedAgain: approval.askedAgain,
      names: namesOf({ reader, chains }, approval, tx),
    })
    outcome(true)
  } catch (error) {
    if (failures % FAILURES_PER_WARNING === 0) {
      log.warn({ err: error, txId, failures }, 'the identity provider has yet to hear of a call')
    }
    outcome(false, refusalOf(error))
  }
}

/** The identity provider's reasons that mean that the key has ended there or never existed. */
const OF_THE_KEY: ReadonlySet<unknown> = new Set([
  'KEY_PROOF_MISSING',
  'UNKNOWN_KEY',
  'NOT_GRANTED',
])

/**
 * Returns the final refusal, or null when a later attempt may succeed or the call ends by itself.
 */
function refusalOf(error: unknown): Fault | null {
  if (!(error instanceof FaultError) || error.fault.code !== 'PERMISSION_DENIED') return null
  if (!OF_THE_KEY.has(error.fault.details.reason)) return null
  return fault('PERMISSION_DENIED', {}, NOT_KEPT)
}

const NOT_KEPT = 'The identity provider does not keep this call of the key; nothing was signed.'

/** The identity provider's limit. */
const LABEL_CHARS_MAX = 128

/**
 * The user's own name for whom the call pays. When a call names no beneficiary it is the name of
 * the contract that it calls, and for a sponsored call that of its venue.
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

const NAME_CHARS_MAX = 128

/** Replaces control characters, which the identity provider refuses. */
function oneLine(name: string | undefined): string | null {
  return name?.replaceAll(/\p{Cc}/gu, ' ').slice(0, NAME_CHARS_MAX) ?? null
}

/** The names that people know: of the agent, the wallet and the tokens that the call moves. */
function namesOf(
  { reader, chains }: Pick<SubWalletPorts, 'reader' | 'chains'>,
  { sponsored }: Pick<Approval, 'sponsored'>,
  { keyId, subWalletId, kind, call }: Transaction,
): CallNames {
  const moved =
    sponsored === null
      ? (showCall({ operation: kind, ...call }).moves ?? []).map(({ token }) => token)
      : [sponsored.terms.tokenIn, sponsored.terms.tokenOut]
  const addresses = new Set(moved.map((token) => token.toLowerCase()))
  const configured = chains.get(call.chainId)?.config.tokens ?? []
  return {
    agent: oneLine(reader.keys.byId(keyId)?.name),
    wallet: oneLine(reader.wallets.byId(subWalletId)?.name),
    tokens: configured
      .filter(({ address }) => addresses.has(address.toLowerCase()))
      .map(({ address, symbol, decimals }) => ({ address, symbol, decimals })),
  }
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

/**
 * Frees the call's place at the identity provider. When this fails, the call expires there by
 * itself.
 */
export function forgetApproval(
  { approvals, log }: Pick<SubWalletPorts, 'approvals' | 'log'>,
  { approvalId, status }: Of<'forget-approval'>,
): void {
  const as = status === 'approved' || status === 'pending' ? 'dropped' : status
  approvals
    ?.end(approvalId, as)
    .catch((error: unknown) => log.warn({ err: error, approvalId }, 'an ended call stays there'))
}
