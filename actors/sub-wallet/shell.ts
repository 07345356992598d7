import { freezeName } from '../../src/domain/freeze.js'
import type { SubWalletId } from '../../src/domain/ids.js'
import { broadcast } from '../account/effects/broadcast.js'
import { replace } from '../account/effects/replace.js'
import { type Signer, sign } from '../account/effects/sign.js'
import { freezesAddress, userBreakersAddress } from '../addresses.js'
import type { WatcherCommand } from '../chain-watcher/core/messages.js'
import { givenUpOf, watchOf } from '../chain-watcher/watch-of.js'
import type { FreezeCommand } from '../freezes/core/messages.js'
import type { ActorShell, Envelope } from '../runtime/actor.js'
import { refusalAudit, unvaluedAudit } from './audit.js'
import { decide } from './core/decide.js'
import { walletGasOf } from './core/gas-budget-gate.js'
import type { Command, Effect, Event } from './core/messages.js'
import type { Draft, GasBudgetNow, SubWalletState } from './core/state.js'
import {
  forgetApproval,
  readyApproval,
  registerApproval,
  restApprovals,
  wakeApprovals,
} from './effects/approvals.js'
import { awaitDeadline, checkDelegation } from './effects/delegation.js'
import { cancelIntent, restJob, submitJob } from './effects/gas-jobs.js'
import { prepareSend } from './effects/prepare-send.js'
import { prepareSponsored } from './effects/prepare-sponsored.js'
import { putGrant, restGrants } from './effects/put-grant.js'
import { payeesToTell } from './effects/read-payees.js'
import { screen, screenSponsored } from './effects/screen.js'
import { signIntent } from './effects/sign-intent.js'
import { endDelegation, prepareUndelegation } from './effects/undelegation.js'
import { valueReceipt } from './effects/value-receipt.js'
import { endedCall } from './ended-call.js'
import type { SubWalletPorts } from './ports.js'
import { loadState, recordEvents } from './record.js'
import { stillForgotten } from './sweep-idempotency.js'

export function createSubWalletShell(
  ports: SubWalletPorts,
): ActorShell<SubWalletState, Command, Event, Effect> {
  const { reader, versions } = ports
  const delegationChecks = new Set<string>()

  function watcher(chainId: number, command: WatcherCommand): void {
    ports.tell({ kind: 'chain-watcher', id: String(chainId), userId: null, command, token: null })
  }

  const watchOfUser = ({ wallet }: SubWalletState) =>
    wallet === null ? null : ports.userBreakers.of(wallet.userId)

  const { gasBook, gasBudgets: limits } = ports
  const NOBODY: GasBudgetNow = { limits, ofOthers: () => 0n }
  function gasBudgetOf({ wallet }: SubWalletState): GasBudgetNow {
    if (wallet === null) return NOBODY
    const { userId, subWalletId } = wallet
    return { limits, ofOthers: (nowMs) => gasBook.ofOthers(userId, subWalletId, nowMs) }
  }

  /**
   * Publishes the gas use that was just folded, so that the user's next decision sees it, whichever
   * wallet it concerns.
   */
  function noteGas(state: SubWalletState): void {
    if (state.wallet === null) return
    const { userId, subWalletId } = state.wallet
    gasBook.put(userId, subWalletId, walletGasOf(state))
    versions.countUp(userId)
  }

  return {
    kind: 'sub-wallet',
    decide(state, command, token) {
      if (!ONLY_READS.has(command.type)) versions.countUp(state.subWalletId)
      state.freezes = state.wallet === null ? null : ports.freezes.of(state.wallet.userId)
      state.userWatch = watchOfUser(state)
      state.gasBudget = gasBudgetOf(state)
      const decision = decide(state, command, token)
      for (const { type } of decision.events) {
        if (!CHANGES_GAS.has(type)) continue
        noteGas(state)
        break
      }
      return decision
    },
    load(id) {
      // After a broken invariant the drafts are gone, and their reservations with them.
      versions.countUp(id as SubWalletId)
      const state = loadState(reader, id as SubWalletId)
      state.waiting.isOpen = ports.approvals !== null
      if (state.sponsored.size > 0 || state.sponsoredGas.micros > 0n) noteGas(state)
      return state
    },
    record: recordEvents,
    resume: (state) => (hasUnderWay(state) ? { type: 'resume', nowMs: ports.timers.now() } : null),
    prepare(state, command) {
      if (command.type === 'send') {
        // The user's breakers decide whether the wallet's beneficiaries have to be known.
        state.userWatch = watchOfUser(state)
        return prepareSend(ports, state, command)
      }
      if (command.type === 'sponsor-call') return prepareSponsored(ports, state, command)
      if (command.type === 'undelegate') return prepareUndelegation(ports, state, command)
      if (command.type === 'sponsor-update') {
        const txId = command.cancels ?? command.txId
        const entry = state.sponsored.get(txId)
        // A held call may have left memory before this command runs, and is on disk by then.
        if (entry !== undefined && entry.phase !== 'held') return command
        return { ...command, stored: endedCall(reader.fresh(), txId) }
      }
      if (command.type === 'read-limits' && command.judged !== undefined) {
        const payees = payeesToTell(reader, state, command.keyId, command.judged.policy)
        return payees === null ? command : { ...command, payees }
      }
      if (command.type === 'forget-idempotency') {
        return { ...command, keys: stillForgotten(reader, command, ports.timers.now()) }
      }
      return command
    },
    // A draft is not stored: a crash forgets it, with its verdict and its signature request. An
    // approved call is bound to one nonce, which is on disk before the quorum is called.
    startsAtOnce: (effect) => {
      const { type } = effect
      if (type === 'sign') return effect.draft.approval === undefined
      return type === 'screen' || type === 'trip' || type === 'watched' || type === 'ready-approval'
    },
    run(id, effect, self) {
      switch (effect.type) {
        case 'screen':
          screen(ports, effect, id as SubWalletId, self)
          break
        case 'sign':
          sign(ports, signerOf(id, effect.draft), effect.draft, effect.nonce, effect.replaces, self)
          break
        case 'broadcast':
          broadcast(ports, effect, self)
          break
        case 'replace': {
          const { tx, purpose, feeCapWei } = effect
          const walletId = tx.subWalletId
          const replaced = {
            walletId,
            tx,
            purpose,
            feeCapWei,
            keyId: tx.keyId,
            authorization: null,
          }
          replace(ports, replaced, self)
          break
        }
        case 'watch':
          watcher(effect.tx.call.chainId, watchOf(id as SubWalletId, effect.tx))
          break
        case 'read-end': {
          const { txId } = effect
          const stored = reader.ifSound(() => reader.fresh().transactions.byId(txId)) ?? null
          self({ type: 'end-read', txId, stored, nowMs: ports.timers.now() })
          break
        }
        case 'unwatch':
          watcher(effect.tx.call.chainId, { type: 'unwatch', txId: effect.tx.txId })
          break
        case 'give-up':
          watcher(effect.tx.call.chainId, givenUpOf(id as SubWalletId, effect.tx, effect.height))
          break
        case 'value-receipt':
          void valueReceipt(ports, effect, self)
          break
        case 'unvalued':
          ports.auditLog.note(unvaluedAudit(effect, ports.timers.now()))
          break
        case 'refused':
          ports.auditLog.note(refusalAudit(effect, id as SubWalletId, ports.timers.now()))
          break
        case 'trip':
          ports.tell(tripped(effect))
          ports.auditLog.settleSoon(effect.keyId)
          break
        case 'watched': {
          const { userId, ...seen } = effect
          ports.tell({ ...userBreakersAddress(userId), command: seen, token: null })
          break
        }
        case 'screen-sponsored':
          screenSponsored(ports, effect.draft, self)
          break
        case 'sign-intent':
          signIntent(ports, id as SubWalletId, effect, self)
          break
        case 'submit-job':
          ports.tell(submitJob(effect))
          break
        case 'rest-job':
          void restJob(ports.timers, effect, self)
          break
        case 'tell-recorded': {
          const { txId, runningKeys, blockHash } = effect
          self({ type: 'end-recorded', txId, runningKeys, blockHash })
          break
        }
        case 'cancel-intent':
          ports.tell(cancelIntent(ports.timers, effect))
          break
        case 'check-delegation':
          void checkDelegation(ports, effect, delegationChecks, self)
          break
        case 'end-delegation':
          void endDelegation(ports, id as SubWalletId, effect, self)
          break
        case 'await-deadline':
          void awaitDeadline(ports, effect, self)
          break
        case 'put-grant':
          void putGrant(ports, effect, self)
          break
        case 'rest-grants':
          void restGrants(ports.timers, effect, self)
          break
        case 'ready-approval':
          readyApproval(ports, effect, self)
          break
        case 'register-approval':
          void registerApproval(ports, effect, self)
          break
        case 'rest-approvals':
          void restApprovals(ports.timers, effect, self)
          break
        case 'wake-approvals':
          void wakeApprovals(ports.timers, effect, self)
          break
        case 'forget-approval':
          forgetApproval(ports, effect)
          break
        case 'key-changed':
          ports.keyChanged(effect.secretHash)
          break
      }
    },
    idle: ({ drafts, open, sponsored, delegations, grants, waiting }) =>
      drafts.size + open.size + sponsored.size + delegations.size === 0 &&
      grants.byKey.size + waiting.byTx.size === 0,
  }
}

/** After these every answer about the wallet stays the same. */
const ONLY_READS: ReadonlySet<Command['type']> = new Set<Command['type']>([
  'read-limits',
  'read-gas',
])

/** The only events that change what a wallet counts of the gas budgets. */
const CHANGES_GAS: ReadonlySet<Event['type']> = new Set<Event['type']>([
  'sponsored-reserved',
  'sponsored-reserved-again',
  'sponsored-released',
  'sponsored-withdrawn',
  'sponsored-handed',
  'sponsored-moved',
  'sponsored-sent',
  'sponsored-ended',
  'sponsored-expired',
  'sponsored-reopened',
  'cancellation-failed',
  'delegation-ending',
])

function hasUnderWay({ sponsored, grants, open, waiting }: SubWalletState): boolean {
  if (sponsored.size + grants.byKey.size + waiting.byTx.size > 0) return true
  for (const { tx } of open.values()) if (tx.mined !== null) return true
  return false
}

/**
 * Sent before the trip is durable: a freeze only restricts, and it is stored in the same commit.
 */
function tripped(effect: Extract<Effect, { type: 'trip' }>): Envelope {
  const { userId, subWalletId, lineageId, keyId, reason, requestId, nowMs } = effect
  const name = freezeName('key', lineageId)
  const command: FreezeCommand = {
    ...{ type: 'freeze', reason, by: 'breaker', requestId, nowMs },
    target: { scope: 'key', name, subWalletId, lineageId, keyId },
  }
  return { ...freezesAddress(userId), command, token: null }
}

function signerOf(id: string, { keyId, proofKey, approval }: Draft): Signer {
  const signer = { walletId: id as SubWalletId, keyId, proofKey, authorization: null }
  return approval === undefined ? signer : { ...signer, approval }
}
