import { sleep, type Timers } from '../../../src/clock/timers.js'
import { keyExpiresAtMs } from '../../../src/domain/api-key.js'
import { grantedOf, LEAST_GRANT } from '../../../src/domain/grant-terms.js'
import { FaultError } from '../../../src/errors/fault.js'
import type { GrantUpdate } from '../../../src/service-custody/co-signer.js'
import { grantAudit } from '../../custody/grant-audit.js'
import type { GrantEffect } from '../core/grant-messages.js'
import type { Command } from '../core/messages.js'
import type { SubWalletPorts } from '../ports.js'

type PutGrant = Extract<GrantEffect, { type: 'put-grant' }>

/** Limits warnings to about one a minute for a key whose change is refused repeatedly. */
const FAILURES_PER_WARNING = 12

/** Notifies the identity provider of what the key may do now. Repeating it does no harm. */
export async function putGrant(
  { coSigner, auditLog, log, timers }: SubWalletPorts,
  effect: PutGrant,
  self: (command: Command) => void,
): Promise<void> {
  const { change, failures } = effect
  const { keyId, version } = change
  const update = updateOf(effect)
  try {
    const outcome = await coSigner.putGrant(update)
    auditLog.note(grantAudit(update, outcome, timers.now()))
    self({ type: 'grant-answered', keyId, version, taken: true })
  } catch (error) {
    const taken = update.revoked && isUnknownKey(error)
    if (!taken && failures % FAILURES_PER_WARNING === 0) {
      log.warn({ err: error, key_id: keyId, failures }, 'the identity provider has yet to take it')
    }
    self({ type: 'grant-answered', keyId, version, taken })
  }
}

export async function restGrants(
  timers: Timers,
  { delayMs }: Extract<GrantEffect, { type: 'rest-grants' }>,
  self: (command: Command) => void,
): Promise<void> {
  await sleep(timers, delayMs)
  self({ type: 'grants-rested' })
}

function updateOf({ change, wallet, key }: PutGrant): GrantUpdate {
  const common = {
    keyId: change.keyId,
    walletId: wallet.subWalletId,
    userId: wallet.userId,
    proofKey: null,
    consoleToken: null,
    parentLineageId: change.parentLineageId,
    effect: 'narrows',
    authorization: null,
  } as const
  if (key === null) {
    return {
      ...common,
      rotatedFrom: change.rotatedFrom,
      ...LEAST_GRANT,
      expiresAt: null,
      revoked: true,
    }
  }
  return {
    ...common,
    rotatedFrom: null,
    ...grantedOf(key),
    expiresAt: keyExpiresAtMs(key),
    revoked: key.revokedAtMs !== null,
  }
}

/** Whether the identity provider never had the key, so that it can sign nothing for it. */
function isUnknownKey(error: unknown): boolean {
  return error instanceof FaultError && error.fault.details.reason === 'UNKNOWN_KEY'
}
