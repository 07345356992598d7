import { broadcastAnswered } from './decide-broadcast.js'
import { confirmed, mined, replaced } from './decide-chain.js'
import { onHead } from './decide-head.js'
import type { AccountCommand } from './messages.js'
import { nonceTaken, signatureArrived, signatureFailed } from './signing.js'
import type { AccountTurn } from './turn.js'

/**
 * Decides the commands of an account's own effects and of its chain's watcher. The owner handles
 * `unmined` before the account does.
 */
export function decideAccount(turn: AccountTurn, command: AccountCommand): void {
  switch (command.type) {
    case 'signed':
      signatureArrived(turn, command)
      return
    case 'sign-failed':
      signatureFailed(turn, command)
      return
    case 'nonce-taken':
      nonceTaken(turn, command)
      return
    case 'broadcast-outcome':
      broadcastAnswered(turn, command)
      return
    case 'mined':
      mined(turn, command)
      return
    case 'confirmed':
      confirmed(turn, command)
      return
    case 'head':
      onHead(turn, command)
      return
    case 'replacement-signed':
    case 'replacement-failed':
      replaced(turn, command)
      return
  }
}
