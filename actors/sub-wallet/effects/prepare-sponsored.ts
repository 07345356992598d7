import type { Command } from '../core/messages.js'
import type { SponsorCommand } from '../core/sponsored-messages.js'
import type { SubWalletState } from '../core/state.js'
import type { SubWalletPorts } from '../ports.js'
import { firstAnswer } from './prepare-send.js'
import { UNKNOWN_ACCOUNT, withAccount } from './sponsored-account.js'

/** Adds whether the account has delegated, its nonce if not, and what its gas may cost us. */
export async function prepareSponsored(
  ports: SubWalletPorts,
  state: SubWalletState,
  command: SponsorCommand,
): Promise<Command> {
  const before = firstAnswer(ports, state, command)
  const { wallet } = state
  const { chainId, delegate, quote } = command
  const known =
    before !== null || wallet === null
      ? { ...UNKNOWN_ACCOUNT, quote }
      : await withAccount(ports, chainId, wallet.address, delegate, quote)
  // Looked up again after the wait: the first request with the same key may have ended meanwhile.
  const first = before ?? firstAnswer(ports, state, command)
  const nowMs = ports.timers.now()
  return { ...command, ...known, type: 'prepared-sponsor-call', nowMs, first }
}
