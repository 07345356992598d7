import { subWalletAddress } from '../../../actors/addresses.js'
import type { ReplyTo } from '../../../actors/protocols.js'
import type { AskResult } from '../../../actors/runtime/actor.js'
import type { Claimed, Outdated } from '../../../actors/sub-wallet/core/grant-messages.js'
import type { ConsoleCommand } from '../../../actors/sub-wallet/core/messages.js'
import { inTime, unguessable } from '../../clock/timers.js'
import type { ApiKey } from '../../domain/api-key.js'
import type { CustodyStatus } from '../../domain/grant-change.js'
import type { ErrorCode } from '../../errors/catalogue.js'
import { fault, type Result, refuse } from '../../errors/fault.js'
import { ofRead } from '../../errors/outcome-unknown.js'
import type { OperationPorts } from '../ports.js'

/** How often a change is made again after others changed the same key first. */
const ATTEMPTS_MAX = 5

/**
 * How long an answer waits for the identity provider. This service already refuses what was taken
 * away, so a person who revokes a key in a hurry does not wait for one that hangs.
 */
const ACKNOWLEDGEMENT_WAIT_MS = 1_000

/** With these codes the identity provider has changed nothing. */
const NOTHING_TAKEN: ReadonlySet<ErrorCode> = new Set([
  'AUTHORIZATION_REQUIRED',
  'AUTHORIZATION_REFUSED',
  'PERMISSION_DENIED',
  'RATE_LIMITED',
])

type WalletAddress = ReturnType<typeof subWalletAddress>
type CommitCommand = Extract<ConsoleCommand, { type: 'rotate-key' | 'patch-key' }>

export const OUTDATED: Outdated = { outdated: true }

export interface Claim {
  readonly claimId: string
  /** The key that the change is based on. */
  readonly key: ApiKey
  /** Asks the identity provider, under the claim. */
  ask<T>(question: () => Promise<Result<T>>): Promise<Result<T>>
  /** Commits what the identity provider accepted. */
  commit<Command extends CommitCommand>(
    command: Command,
  ): Promise<AskResult<ReplyTo<WalletAddress, Command>>>
}

/** Repeats a change until nothing else happened between the state it is based on and its commit. */
export async function untilUndisturbed<T>(
  { reader }: Pick<OperationPorts, 'reader'>,
  change: () => Promise<Result<T> | Outdated>,
): Promise<Result<T>> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const made = await change()
    if (!('outdated' in made)) return made
    reader.fresh()
  }
  return refuse(fault('OVERLOADED', {}, 'The key is being changed by others; try again.'))
}

/**
 * Runs a change that the identity provider must accept first. The wallet's actor always learns the
 * outcome, and makes the identity provider drop what was not committed.
 */
export async function underClaim<T>(
  { actors, timers, nowMs }: Pick<OperationPorts, 'actors' | 'timers' | 'nowMs'>,
  { subWalletId, userId }: ApiKey,
  of: Claimed,
  change: (claim: Claim) => Promise<Result<T> | Outdated>,
): Promise<Result<T> | Outdated> {
  const wallet = subWalletAddress({ subWalletId, userId })
  const claimId = unguessable(timers)
  let taken: 'no' | 'unknown' = 'no'
  let committed = false
  try {
    const claim = { type: 'claim-grant', claimId, of, nowMs: nowMs() } as const
    // The claim is ended below, so without an answer nothing is done.
    const granted = ofRead(await actors.ask(wallet, claim))
    if (!granted.ok) return granted
    const { key } = granted.value
    return await change({
      claimId,
      key,
      async ask(question) {
        taken = 'unknown'
        const answer = await question()
        if (!answer.ok && NOTHING_TAKEN.has(answer.fault.code)) taken = 'no'
        return answer
      },
      async commit(command) {
        const answer = await actors.ask(wallet, command)
        // The actor's answer ends the claim, whatever it is.
        committed = answer.ok
        return answer
      },
    })
  } finally {
    if (!committed) {
      actors.tell(wallet, { type: 'end-claim', claimId, of, taken, nowMs: nowMs() })
    }
  }
}

/** Whether the identity provider has acknowledged the key's grant, after a short wait for it. */
export async function custodyOf(
  { actors, timers }: Pick<OperationPorts, 'actors' | 'timers'>,
  key: ApiKey,
): Promise<CustodyStatus> {
  const asked = actors.ask(subWalletAddress(key), { type: 'await-grant', keyId: key.keyId })
  const answer = await inTime(timers, ACKNOWLEDGEMENT_WAIT_MS, asked)
  return answer?.ok ? answer.value.custody : 'pending'
}

export function isOutdated(value: unknown): value is Outdated {
  return typeof value === 'object' && value !== null && 'outdated' in value
}
