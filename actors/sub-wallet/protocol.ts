import type { Ask, AsksByType, Tell } from '../runtime/actor.js'
import type { CarriedSend } from './carried-send.js'
import type { Command } from './core/messages.js'
import type { SubWalletReplies } from './core/replies.js'
import type { CarriedSent } from './sent-reply.js'

/** What others send a sub-wallet. A call that moves value is answered as it crosses threads. */
export type SubWalletProtocol =
  | AsksByType<Command, Omit<SubWalletReplies, 'send' | 'sponsor-call'>>
  | Ask<CarriedSend | Extract<Command, { type: 'send' | 'sponsor-call' }>, CarriedSent>
  | Tell<
      Extract<
        Command,
        | { type: 'load' | 'forget-idempotency' | 'end-claim' | 'sponsor-news' }
        | { type: 'mined' | 'confirmed' | 'unmined' | 'head' }
      >
    >
