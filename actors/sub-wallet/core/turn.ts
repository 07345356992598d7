import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { Decision, Reply, ReplyToken } from '../../runtime/actor.js'
import { evolve } from './evolve.js'
import type { Effect, Event, RefusedCall } from './messages.js'
import type { SubWalletReplies } from './replies.js'
import type { Sent } from './sent.js'
import type { SubWalletState } from './state.js'

const NO_REPLIES: readonly Reply[] = []

/** Collects what one command leads to, folding each event as it is emitted. */
export class Turn {
  readonly state: SubWalletState
  readonly events: Event[] = []
  readonly effects: Effect[] = []
  readonly replies: Reply[] = []
  #promptReplies: Reply[] | null = null

  constructor(state: SubWalletState) {
    this.state = state
  }

  emit(event: Event): void {
    evolve(this.state, event)
    this.events.push(event)
  }

  effect(effect: Effect): void {
    this.effects.push(effect)
  }

  answer(token: ReplyToken | null, value: SubWalletReplies[keyof SubWalletReplies]): void {
    if (token !== null) this.replies.push({ token, result: { ok: true, value } })
  }

  /** For what is true by what is stored already, whatever becomes of this command's events. */
  answerPromptly(token: ReplyToken, value: Sent): void {
    this.#promptReplies ??= []
    this.#promptReplies.push({ token, result: { ok: true, value } })
  }

  refuse(token: ReplyToken | null, fault: Fault): void {
    if (token !== null) this.replies.push({ token, result: { ok: false, fault } })
  }

  /** Refuses a send, and leaves a trace of it. */
  refuseSend(
    token: ReplyToken | null,
    fault: Fault,
    call: RefusedCall,
    screenedAgainst: readonly ScreenedAgainst[] = [],
  ): void {
    const userId = this.state.wallet?.userId
    if (userId !== undefined) {
      this.effect({ type: 'refused', userId, call, fault, screenedAgainst })
    }
    this.refuse(token, fault)
  }

  decision(): Decision<Event, Effect> {
    const { events, effects, replies } = this
    const promptReplies = this.#promptReplies ?? NO_REPLIES
    return { events, effects, replies, promptReplies }
  }
}
