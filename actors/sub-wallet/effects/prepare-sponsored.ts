import type { Command } from '../core/messages.js'
import type { SponsorCommand } from '../core/sponsored-messages.js'
import type { SubWalletState } from '../core/state.js'
import type { SubWalletPorts } from '../ports.js'
import { executedAs, firstAnswer } from './prepare-send.js'
import { UNKNOWN_ACCOUNT, withAccount } from './sponsored-account.js'

/**
 * Adds whether the account has delegated, its nonce when it has not, and what its gas may cost us.
 */
export async function prepareSponsored(
  ports: SubWalletPorts,
  state: SubWalletState,
  command: SponsorCommand,
): Promise<Command> {
  const before = firstAnswer(ports, state, command)
  const isKnown = before !== null || executedAs(ports, state, command) !== null
  const { wallet } = state
  const { chainId, kind, delegate, quote } = command
  const known =
    isKnown || wallet === null
      ? { ...UNKNOWN_ACCOUNT, quote }
      : await withAccount(ports, { chainId, kind, account: wallet.address, delegate }, quote)
  // The first request is read again after the wait, because it may have ended in the meantime.
  const first = before ?? firstAnswer(ports, state, command)
  const executed = executedAs(ports, state, command)
  const nowMs = ports.timers.now()
  return { ...command, ...known, type: 'prepared-sponsor-call', nowMs, first, executed }
}
