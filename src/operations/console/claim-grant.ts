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

/** A change that others of the same key came before is made again on what they left. */
const ATTEMPTS_MAX = 5

/**
 * How long an answer waits for the identity provider. What was taken away is refused here already,
 * so whoever revokes a key in a hurry is not kept waiting by one that hangs.
 */
const ACKNOWLEDGEMENT_WAIT_MS = 1_000

/** With these the identity provider has taken nothing. */
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
  /** The key that the change rests on. */
  readonly key: ApiKey
  /** What the identity provider is asked under the claim. */
  ask<T>(question: () => Promise<Result<T>>): Promise<Result<T>>
  /** Commits what it took. */
  commit<Command extends CommitCommand>(
    command: Command,
  ): Promise<AskResult<ReplyTo<WalletAddress, Command>>>
}

/** Makes a change until nothing else came between what it rests on and its commit. */
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
 * Runs a change that the identity provider has to take first. Whatever becomes of it, the wallet's
 * actor hears of it, and sees to it that the identity provider keeps nothing that was not committed.
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
    // It is ended below, so that without an answer nothing is done.
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
        // An answer of the actor's ends the claim, whatever it says.
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
