import { decideAccount } from '../../account/core/decide.js'
import type { Decision, ReplyToken } from '../../runtime/actor.js'
import { cancelTransaction } from './cancel.js'
import { approvalReady, decideApproval, withdrawCall } from './decide-approvals.js'
import { advanceDelegations, delegationChecked } from './decide-delegation.js'
import {
  awaitGrant,
  claimGrant,
  endClaim,
  grantAnswered,
  grantsRested,
  resumeGrants,
} from './decide-grants.js'
import {
  createWallet,
  patchKey,
  readLimits,
  registerKey,
  revokeKey,
  rotateKey,
} from './decide-keys.js'
import { admitSend, screened } from './decide-send.js'
import { deadlinePassed, endRecorded, jobRested, sponsorUpdate } from './decide-sponsor-update.js'
import {
  admitSponsored,
  intentFailed,
  intentSigned,
  resumeSponsored,
  sponsoredScreened,
} from './decide-sponsored.js'
import { planSubKey } from './decide-sub-keys.js'
import { undelegate, undelegationUpdate } from './decide-undelegation.js'
import { forgetIdempotency, forgetLineages } from './forget.js'
import { gasUseOf } from './gas-budget-gate.js'
import { endJoined } from './joined-callers.js'
import type { Command, Effect, Event } from './messages.js'
import { callConfirmed, callMined, receiptValued, resumeReceipts } from './receipts.js'
import { callUnmined, reopenEnded } from './reopen.js'
import {
  advanceWaiting,
  approvalRegistered,
  approvalsDue,
  approvalsRested,
} from './run-approved.js'
import type { SubWalletState } from './state.js'
import { Turn } from './turn.js'

/**
 * The decisions of a sub-wallet. They are synchronous and deterministic: nothing happens between
 * the check of a cap or a nonce and its reservation.
 */
export function decide(
  state: SubWalletState,
  command: Command,
  token: ReplyToken | null,
): Decision<Event, Effect> {
  const turn = new Turn(state, command)
  switch (command.type) {
    case 'create-wallet':
      createWallet(turn, command, token)
      break
    case 'register-key':
      registerKey(turn, command, token)
      forgetLineages(turn, command.key.createdAtMs)
      break
    case 'plan-sub-key':
      planSubKey(turn, command, token)
      break
    case 'forget-idempotency':
      forgetIdempotency(turn, command)
      break
    case 'rotate-key':
      rotateKey(turn, command, token)
      break
    case 'revoke-key':
      revokeKey(turn, command, token)
      break
    case 'patch-key':
      patchKey(turn, command, token)
      break
    case 'read-limits':
      readLimits(turn, command, token)
      break
    case 'read-gas':
      turn.answer(token, gasUseOf(turn.state, command.nowMs))
      break
    case 'send':
      throw new Error('a send must be prepared before it reaches the mailbox')
    case 'prepared-send':
      admitSend(turn, command, token)
      break
    case 'screened':
      screened(turn, command)
      break
    case 'mined':
      callMined(turn, command)
      break
    case 'confirmed':
      callConfirmed(turn, command)
      break
    case 'receipt-valued':
      receiptValued(turn, command)
      break
    case 'unmined':
      callUnmined(turn, command)
      break
    case 'end-read':
      reopenEnded(turn, command)
      break
    case 'sponsor-call':
      throw new Error('a sponsored call must be prepared before it reaches the mailbox')
    case 'prepared-sponsor-call':
      admitSponsored(turn, command, token)
      break
    case 'sponsored-screened':
      sponsoredScreened(turn, command)
      break
    case 'intent-signed':
      intentSigned(turn, command)
      break
    case 'intent-failed':
      intentFailed(turn, command)
      break
    case 'sponsor-update':
      sponsorUpdate(turn, command)
      break
    case 'delegation-checked':
      delegationChecked(turn, command)
      break
    case 'undelegate':
      throw new Error('the end of a delegation must be prepared before it reaches the mailbox')
    case 'prepared-undelegate':
      undelegate(turn, command)
      break
    case 'undelegation-update':
      undelegationUpdate(turn, command)
      break
    case 'job-rested':
      jobRested(turn, command)
      break
    case 'end-recorded':
      endRecorded(turn, command)
      break
    case 'deadline-passed':
      deadlinePassed(turn, command)
      break
    case 'cancel-transaction':
      cancelTransaction(turn, command, token)
      break
    case 'load':
      break
    case 'resume-sponsored':
      resumeSponsored(turn)
      break
    case 'claim-grant':
      claimGrant(turn, command, token)
      break
    case 'end-claim':
      endClaim(turn, command)
      break
    case 'await-grant':
      awaitGrant(turn, command, token)
      break
    case 'grant-answered':
      grantAnswered(turn, command)
      break
    case 'grants-rested':
      grantsRested(turn)
      break
    case 'approval-ready':
      approvalReady(turn, command)
      break
    case 'approval-registered':
      approvalRegistered(turn, command)
      break
    case 'approvals-rested':
      approvalsRested(turn)
      break
    case 'decide-approval':
      decideApproval(turn, command, token)
      break
    case 'withdraw-call':
      withdrawCall(turn, command, token)
      break
    case 'approvals-due':
      approvalsDue(turn, command)
      break
    case 'resume':
      resumeSponsored(turn)
      resumeGrants(turn, command.nowMs)
      resumeReceipts(turn)
      turn.touchWaiting(command.nowMs)
      break
    default:
      decideAccount(turn, command)
  }
  advanceDelegations(turn)
  if (turn.waitingAtMs !== null || turn.hasRefusedRuns) {
    advanceWaiting(turn, turn.waitingAtMs ?? ('nowMs' in command ? command.nowMs : 0))
  }
  turn.revalueMovedLines()
  if (state.joined.size > 0) endJoined(turn)
  return turn.decision()
}
