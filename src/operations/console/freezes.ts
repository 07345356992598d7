import { freezesAddress } from '../../../actors/addresses.js'
import type {
  FreezeCommand,
  FreezeTarget,
  UnfreezeCommand,
} from '../../../actors/freezes/core/messages.js'
import type { ConsoleInput } from '../../api/console-operations.js'
import { inTime } from '../../clock/timers.js'
import { freezeName } from '../../domain/freeze.js'
import type { CustodyStatus } from '../../domain/grant-change.js'
import type { UserId } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import { fault, ok, type Result, refuse } from '../../errors/fault.js'
import type { ConsoleContext, ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { answerToAuthorization, fingerprintOf, proofOf } from './authorizations.js'
import { ownedKey, ownedWallet } from './ownership.js'

/**
 * How long an answer waits for the identity provider. This service signs nothing from then on, so a
 * person who freezes in a hurry does not wait for one that hangs.
 */
const ACKNOWLEDGEMENT_WAIT_MS = 1_000

/** A console token is enough, and only an id of another user is refused. */
export function freeze(ports: OperationPorts): ConsoleHandlers['freeze'] {
  const { actors, nowMs } = ports
  return async ({ userId, personId: byPerson, requestId }, { reason = null, ...input }) => {
    const target = targetOf(ports, userId, input)
    if (!target.ok) return target
    const command: FreezeCommand = {
      type: 'freeze',
      ...{ target: target.value, reason, by: 'user', byPerson, requestId, nowMs: nowMs() },
    }
    const frozen = await actors.ask(freezesAddress(userId), command)
    if (!frozen.ok) return frozen
    const { sinceMs } = frozen.value
    const custody = await custodyOf(ports, userId, target.value.name)
    return { ok: true, value: { frozen: true as const, since: isoTime(sinceMs), custody } }
  }
}

/** The identity provider lifts it first, on the proof of the user's approver device. */
export function unfreeze(ports: OperationPorts): ConsoleHandlers['unfreeze'] {
  const { actors } = ports
  return async (context, { authorization, ...input }) => {
    const { userId, personId: byPerson, requestId, token } = context
    const target = targetOf(ports, userId, input)
    if (!target.ok) return target
    const wanted = {
      userId,
      fingerprint: fingerprintOf('unfreeze', input),
      authorization,
      enlarges: ['frozen'],
    }
    return answerToAuthorization(ports, wanted, async (pending) => {
      const command: UnfreezeCommand = {
        type: 'unfreeze',
        ...{ target: target.value, requestId, byPerson, consoleToken: token },
        authorization:
          pending === null || authorization === undefined
            ? null
            : {
                version: pending.version,
                confirmBeforeMs: pending.confirmBeforeMs,
                proof: proofOf(authorization),
              },
      }
      const answer = await actors.ask(freezesAddress(userId), command)
      return answer.ok
        ? ok({ frozen: false as const, authorized_by: answer.value.authorizedBy })
        : answer
    })
  }
}

/** A key is frozen with its lineage; otherwise a rotation would free it. */
function targetOf(
  { reader }: OperationPorts,
  userId: UserId,
  { scope, id }: Pick<ConsoleInput<'freeze'>, 'scope' | 'id'>,
): Result<FreezeTarget> {
  const none = { subWalletId: null, lineageId: null, keyId: null }
  if (scope === 'user') {
    if (id !== undefined && id !== userId) return refuse(fault('NOT_FOUND', { id }))
    return ok({ ...none, scope, name: freezeName(scope, null) })
  }
  if (id === undefined) {
    const issues = [{ path: 'id', message: `is needed for the scope ${scope}` }]
    return refuse(fault('INVALID_REQUEST', { issues }))
  }
  if (scope === 'wallet') {
    const wallet = ownedWallet(reader, userId, id)
    if (!wallet.ok) return wallet
    const { subWalletId } = wallet.value
    return ok({ ...none, scope, subWalletId, name: freezeName(scope, subWalletId) })
  }
  const key = ownedKey(reader, userId, id)
  if (!key.ok) return key
  const { keyId, lineageId, subWalletId } = key.value
  return ok({ scope, subWalletId, lineageId, keyId, name: freezeName(scope, lineageId) })
}

async function custodyOf(
  { actors, timers }: OperationPorts,
  userId: ConsoleContext['userId'],
  name: string,
): Promise<CustodyStatus> {
  const asked = actors.ask(freezesAddress(userId), { type: 'await-freeze', name })
  const answer = await inTime(timers, ACKNOWLEDGEMENT_WAIT_MS, asked)
  return answer?.ok ? answer.value.custody : 'pending'
}
