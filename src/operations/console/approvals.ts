import { CUSTODY_ADDRESS, subWalletAddress } from '../../../actors/addresses.js'
import { sleep } from '../../clock/timers.js'
import { plainNameOf } from '../../contracts/functions/plain-names.js'
import type {
  Approval,
  ApprovalDecision,
  GivenDecision,
  WaitingSponsorship,
} from '../../domain/approval.js'
import type { ApprovalId, UserId } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import { formatUsd } from '../../domain/money.js'
import type { Transaction } from '../../domain/transaction.js'
import { fault, ok, type Result, refuse } from '../../errors/fault.js'
import {
  amountInUnits,
  callSentence,
  exchangeSentence,
  moveOf,
  type TokenNames,
} from '../../policy/call-sentence.js'
import { type Move, showCall, showIntent } from '../../policy/call-shown.js'
import type { Reader } from '../../store/reader.js'
import type { ConsoleContext, ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { answerToAuthorization, fingerprintOf, proofOf } from './authorizations.js'
import { pageOptions } from './page.js'

type ReadPorts = Pick<OperationPorts, 'reader' | 'chains'>

export function listApprovals({ reader, chains }: ReadPorts): ConsoleHandlers['list_approvals'] {
  return ({ userId }, input) => {
    const { items, nextCursor } = reader.approvals.ofUser(
      userId,
      pageOptions(input),
      ({ status }) => input.status === undefined || status === input.status,
    )
    const approvals = items.map((approval) => approvalView({ reader, chains }, approval))
    return { ok: true, value: { approvals, next_cursor: nextCursor } }
  }
}

export function getApproval({ reader, chains }: ReadPorts): ConsoleHandlers['get_approval'] {
  return ({ userId }, { approval_id }) => {
    const found = ownApproval(reader, userId, approval_id)
    return found.ok ? ok(approvalView({ reader, chains }, found.value)) : found
  }
}

/**
 * Both domains verify the approval over the call as it is shown now. On a development instance the
 * software approver device, which is announced there, confirms the request of a console token at
 * once.
 */
export function approveCall(ports: OperationPorts): ConsoleHandlers['approve_call'] {
  const { reader, actors } = ports
  return async (context, { approval_id, proof, comment = null }) => {
    const found = await toldApproval(ports, context, approval_id)
    if (!found.ok) return found
    const approval = found.value
    const tx = callOf(reader, approval)
    const wanted = {
      userId: context.userId,
      // A request that was asked again has another term.
      fingerprint: fingerprintOf('approve_call', {
        approval_id,
        max_native_wei: approval.maxNativeWei.toString(),
      }),
      authorization: proof,
      enlarges: [],
    }
    return answerToAuthorization(ports, wanted, async (asked) => {
      const given = await actors.ask(CUSTODY_ADDRESS, {
        type: 'approve-call',
        ...{ approval, tx, comment },
        confirmed: {
          consoleToken: context.token,
          authorization: asked === null || proof === undefined ? null : { proof: proofOf(proof) },
        },
      })
      return given.ok ? decide(ports, context, approval, given.value) : given
    })
  }
}

/** A console token is enough, because declining moves nothing. */
export function declineCall(ports: OperationPorts): ConsoleHandlers['decline_call'] {
  const { reader, nowMs } = ports
  return async (context, { approval_id, comment = null }) => {
    const personIds = [context.personId]
    const found = waitingApproval(reader, context, approval_id)
    if (!found.ok) return found
    const decision: ApprovalDecision = {
      ...{ authorizerId: null, personIds, decision: 'decline', comment },
      ...{ atMs: nowMs(), proof: null },
    }
    return decide(ports, context, found.value, decision)
  }
}

async function decide(
  { actors, reader, chains, nowMs }: OperationPorts,
  { requestId }: ConsoleContext,
  approval: Approval,
  decision: GivenDecision,
): Promise<Result<ReturnType<typeof approvalView>>> {
  const { txId } = approval
  const command = {
    ...({ type: 'decide-approval', txId, decision, requestId } as const),
    maxNativeWei: decision.decision === 'approve' ? approval.maxNativeWei : null,
    nowMs: nowMs(),
  }
  const answer = await actors.ask(subWalletAddress(approval), command)
  return answer.ok ? ok(approvalView({ reader: reader.fresh(), chains }, answer.value)) : answer
}

function ownApproval(
  reader: Reader,
  userId: ConsoleContext['userId'],
  approvalId: string,
): Result<Approval> {
  const approval = reader.approvals.byId(userId, approvalId as ApprovalId)
  return approval === undefined
    ? refuse(fault('NOT_FOUND', { approval_id: approvalId }))
    : ok(approval)
}

function waitingApproval(
  reader: Reader,
  { userId }: ConsoleContext,
  approvalId: string,
): Result<Approval> {
  const found = ownApproval(reader.fresh(), userId, approvalId)
  if (!found.ok) return found
  const { status } = found.value
  const isOver = status !== 'pending' && status !== 'approved'
  return isOver ? refuse(fault('INVALID_REQUEST', { status }, `The call is ${status}.`)) : found
}

/** The identity provider learns of the approval within milliseconds, unless it is unavailable. */
async function toldApproval(
  { reader, timers }: OperationPorts,
  context: ConsoleContext,
  approvalId: string,
): Promise<Result<Approval>> {
  for (let waitedMs = 0; ; waitedMs += TELLING_STEP_MS) {
    const found = waitingApproval(reader, context, approvalId)
    if (!found.ok || found.value.toldAtMs !== null) return found
    if (waitedMs >= TELLING_WAIT_MS) return refuse(fault('COSIGNER_UNAVAILABLE'))
    await sleep(timers, TELLING_STEP_MS)
  }
}

const TELLING_STEP_MS = 25
const TELLING_WAIT_MS = 1_000

function callOf(reader: Reader, { txId, approvalId }: Approval): Transaction {
  const tx = reader.transactions.byId(txId)
  if (tx === undefined)
    throw new Error(`${approvalId} belongs to ${txId}, which is not in the store`)
  return tx
}

/**
 * Shows an approval with the names that people know; labels are notes in the user's address rules.
 */
export function approvalView({ reader, chains }: ReadPorts, approval: Approval) {
  const tx = callOf(reader, approval)
  const { call, kind, reservation, status: txStatus, error } = tx
  const { chainId, to, value } = call
  const { foreseen, decidedAtMs, sponsored } = approval
  const shown =
    sponsored === null
      ? showCall({ operation: kind, ...call })
      : showIntent(kind, chainId, sponsored.terms)
  const { selector, moves, beneficiaries } = shown
  const data = sponsored?.terms.data ?? call.data
  const names = tokenNames(chains, chainId)
  return {
    approval_id: approval.approvalId,
    tx_id: approval.txId,
    key_id: approval.keyId,
    sub_wallet_id: approval.subWalletId,
    key_name: reader.keys.byId(approval.keyId)?.name ?? null,
    wallet_name: reader.wallets.byId(approval.subWalletId)?.name ?? null,
    status: approval.status,
    tx_status: txStatus,
    error,
    rule: approval.rule,
    needed: approval.needed,
    delay_seconds: approval.delaySeconds,
    decisions: approval.decisions.map(({ authorizerId, decision, atMs, comment }) => ({
      ...{ authorizer_id: authorizerId, decision, at: isoTime(atMs), comment },
    })),
    call: {
      ...{ operation: kind, chain_id: chainId, to, value: value.toString(), data },
      in_words:
        sponsored === null
          ? callSentence(shown, names, plainNameOf(selector))
          : exchangeSentence(sponsored.terms, chainId, names),
      labels: labelsOf(reader, approval.userId, [to, ...(beneficiaries ?? [])]),
      intent: sponsored === null ? null : intentView(sponsored, chainId, names),
      decoded: {
        selector,
        moves: moves?.map((move) => moveView(move, names)) ?? null,
        beneficiaries: beneficiaries === null ? null : [...beneficiaries],
      },
    },
    spend_usd: formatUsd(reservation.micros),
    max_native_wei: approval.maxNativeWei.toString(),
    simulation: {
      simulated: foreseen.simulated,
      gas_used: foreseen.gasUsed?.toString() ?? null,
      max_fee_native_wei: foreseen.maxFeeWei.toString(),
    },
    screening: {
      lists: approval.screenedAgainst.map(({ list, version }) => ({ list, version })),
    },
    asked_again: approval.askedAgain,
    url: approval.url,
    requested_at: isoTime(approval.requestedAtMs),
    expires_at: isoTime(approval.expiresAtMs),
    decided_at: decidedAtMs === null ? null : isoTime(decidedAtMs),
  }
}

function moveView({ token, amount }: Move, names: TokenNames) {
  const name = token === 'native' ? null : names(token)
  const { symbol = null, decimals = null } = name ?? {}
  return { token, amount: amount.toString(), symbol, decimals }
}

/** Tokens of the service's configuration; the identity provider uses those of the registry. */
function tokenNames(chains: OperationPorts['chains'], chainId: number): TokenNames {
  const tokens = chains.get(chainId)?.config.tokens ?? []
  return (address) => tokens.find((token) => token.address.toLowerCase() === address) ?? null
}

/** The user's notes for those addresses that have one. */
function labelsOf(reader: Reader, userId: UserId, addresses: readonly string[]) {
  const wanted = new Set(addresses.map((address) => address.toLowerCase()))
  return Object.fromEntries(
    reader.users
      .addressRules(userId)
      .flatMap(({ address, note }) =>
        note !== null && wanted.has(address.toLowerCase()) ? [[address.toLowerCase(), note]] : [],
      ),
  )
}

function intentView({ terms }: WaitingSponsorship, chainId: number, names: TokenNames) {
  const { target, tokenIn, amountIn, tokenOut, minOut, feeBps } = terms
  return {
    venue: target,
    token_in: tokenIn,
    amount_in: amountIn.toString(),
    token_out: tokenOut,
    amount_out_min: minOut.toString(),
    fee_bps: feeBps,
    in_units: {
      amount_in: amountInUnits(moveOf(tokenIn, amountIn), chainId, names),
      amount_out_min: amountInUnits(moveOf(tokenOut, minOut), chainId, names),
    },
  }
}
