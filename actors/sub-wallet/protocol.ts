import type { Ask, AsksByType, Tell } from '../runtime/actor.js'
import type { Command } from './core/messages.js'
import type { SubWalletReplies } from './core/replies.js'
import type { EncodedSend } from './encoded-send.js'
import type { EncodedSendReply } from './send-reply.js'

/**
 * The messages that others send a sub-wallet. The answer to a call that moves value is encoded,
 * because it crosses threads.
 */
export type SubWalletProtocol =
  | AsksByType<Command, Omit<SubWalletReplies, 'send' | 'sponsor-call'>>
  | Ask<EncodedSend | Extract<Command, { type: 'send' | 'sponsor-call' }>, EncodedSendReply>
  | Tell<
      Extract<
        Command,
        | { type: 'load' | 'forget-idempotency' | 'end-claim' | 'sponsor-update' }
        | { type: 'undelegate' | 'undelegation-update' }
        | { type: 'mined' | 'confirmed' | 'unmined' | 'head' }
      >
    >
