import { sleep, type Timers } from '../../src/clock/timers.js'
import type { CoSigner } from '../../src/service-custody/co-signer.js'

/** The interval between two polls: a member is refused within seconds of being removed. */
const POLL_MS = 1_000

interface MemberPorts {
  readonly coSigner: Pick<CoSigner, 'followMembers'>
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly log: { warn(context: object, message: string): void }
}

/**
 * Brings the identity provider's list of account members here, for as long as this thread lives.
 */
export async function followMembers(
  { coSigner, timers, log }: MemberPorts,
  isStopped: () => boolean,
): Promise<void> {
  let failing = false
  while (!isStopped()) {
    try {
      await coSigner.followMembers()
      failing = false
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'members of accounts could not be read')
      failing = true
    }
    await sleep(timers, POLL_MS)
  }
}
