import type { Timers } from '../../src/clock/timers.js'
import type { Approval } from '../../src/domain/approval.js'
import type { NewAuditRecord } from '../../src/domain/audit.js'
import type { SubWalletId } from '../../src/domain/ids.js'
import type { Transaction } from '../../src/domain/transaction.js'
import { type Fault, FaultError, fault } from '../../src/errors/fault.js'
import type { ApprovalPort, Confirmed } from '../../src/service-custody/approval-port.js'
import type { CoSigner, GrantUpdate, MemberUpdate } from '../../src/service-custody/co-signer.js'
import type { ActorShell, AskResult, ReplyToken } from '../runtime/actor.js'
import { approvedBy } from './decisions.js'
import { grantAudit } from './grant-audit.js'
import { memberAudit } from './member-audit.js'

/**
 * The front end's requests for wallet keys and grants. The actor decides nothing: it gives an
 * address to the one connection to the quorum, which lives in a worker thread.
 */
export type CustodyCommand =
  | {
      readonly type: 'create-wallet-key'
      readonly subWalletId: SubWalletId
      readonly userId: string
    }
  | { readonly type: 'put-grant'; readonly grant: GrantUpdate }
  | { readonly type: 'list-authorizers'; readonly userId: string }
  | {
      readonly type: 'change-member'
      readonly update: MemberUpdate
      readonly requestId: string
    }
  | {
      /** A person's approval over the call in its present terms. */
      readonly type: 'approve-call'
      readonly approval: Approval
      readonly tx: Transaction
      readonly confirmed: Confirmed
      readonly comment: string | null
    }
  | { readonly type: 'done'; readonly token: ReplyToken; readonly result: AskResult }

interface CustodyEffect {
  readonly command: Exclude<CustodyCommand, { type: 'done' }>
  readonly token: ReplyToken
}

export function createCustodyShell(
  coSigner: CoSigner,
  auditLog: { note(record: NewAuditRecord): void },
  log: { warn(context: object, message: string): void },
  timers: Pick<Timers, 'now'>,
  approvals: Pick<ApprovalPort, 'approve'>,
): ActorShell<null, CustodyCommand, never, CustodyEffect> {
  async function carryOut({ command }: CustodyEffect): Promise<unknown> {
    if (command.type === 'put-grant') {
      const taken = await coSigner.putGrant(command.grant)
      auditLog.note(grantAudit(command.grant, taken, timers.now()))
      return taken
    }
    if (command.type === 'change-member') {
      const { update, requestId } = command
      const changed = await coSigner.changeMember(update)
      auditLog.note(memberAudit(update, changed, requestId, timers.now()))
      return changed
    }
    if (command.type === 'list-authorizers') return coSigner.authorizersOf(command.userId)
    if (command.type === 'approve-call') {
      const { approval, tx, confirmed, comment } = command
      return approvedBy({ approvals, timers }, approval, tx, confirmed, comment)
    }
    return coSigner.createWallet(command.subWalletId, command.userId)
  }

  return {
    kind: 'custody',
    load: () => null,
    decide(_state, command, token) {
      if (command.type === 'done') {
        return {
          events: [],
          effects: [],
          replies: [{ token: command.token, result: command.result }],
        }
      }
      return { events: [], effects: token === null ? [] : [{ command, token }], replies: [] }
    },
    record() {},
    run(_id, effect, self) {
      const { token } = effect
      carryOut(effect).then(
        (value) => self({ type: 'done', token, result: { ok: true, value } }),
        (error: unknown) => {
          log.warn({ err: error }, `${effect.command.type} failed`)
          self({ type: 'done', token, result: { ok: false, fault: faultOf(error) } })
        },
      )
    },
    idle: () => true,
  }
}

function faultOf(error: unknown): Fault {
  return error instanceof FaultError ? error.fault : fault('COSIGNER_UNAVAILABLE')
}
