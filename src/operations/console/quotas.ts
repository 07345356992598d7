import type { CountedQuota, QuotaCommand } from '../../../actors/quotas/core/decide.js'
import { unguessable } from '../../clock/timers.js'
import type { UserId } from '../../domain/ids.js'
import type { ErrorCode } from '../../errors/catalogue.js'
import { ofRead } from '../../errors/outcome-unknown.js'
import type { Answer, ConsoleContext } from '../context.js'
import type { OperationPorts } from '../ports.js'

/** Codes of an actor that did not reply, or failed while it worked. */
const MAYBE_MADE: ReadonlySet<ErrorCode> = new Set(['OUTCOME_UNKNOWN', 'INTERNAL'])

type Handler<Input, Output> = (
  context: ConsoleContext,
  input: Input,
) => Answer<Output> | Promise<Answer<Output>>

/**
 * The same handler, which begins only with a place reserved in the user's quota, so that of
 * concurrent requests for the last place one gets it. A request that must be confirmed first
 * releases its place. The outcome is sent with `tell`, not `ask`, because a tell arrives however
 * many callers wait, and before whatever the same user asks next.
 */
export function withinQuota<Input, Output>(
  { actors, quotas, timers }: Pick<OperationPorts, 'actors' | 'quotas' | 'timers'>,
  quota: CountedQuota,
  handler: Handler<Input, Output>,
): Handler<Input, Output> {
  return async (context, input) => {
    const counter = counterOf(context.userId)
    const name = unguessable(timers)
    const reserve = { type: 'reserve', quota, name, limit: quotas[quota] } as const
    const settle = (outcome: Extract<QuotaCommand, { type: 'settle' }>['outcome']): void => {
      actors.tell(counter, { type: 'settle', quota, name, outcome })
    }
    const reserved = ofRead(await actors.ask(counter, reserve))
    if (!reserved.ok) {
      // The place may have been reserved although no reply came; settling one that was not has no
      // effect.
      settle('not-made')
      return reserved
    }
    let outcome: Parameters<typeof settle>[0] = 'unknown'
    try {
      const answer = await handler(context, input)
      if (answer.ok) outcome = 'made'
      else if (!MAYBE_MADE.has(answer.fault.code)) outcome = 'not-made'
      return answer
    } finally {
      settle(outcome)
    }
  }
}

/** The same handler; what it takes away frees a place in the quota. */
export function freeing<Input, Output>(
  { actors }: Pick<OperationPorts, 'actors'>,
  handler: Handler<Input, Output>,
): Handler<Input, Output> {
  return async (context, input) => {
    const answer = await handler(context, input)
    if (answer.ok) actors.tell(counterOf(context.userId), { type: 'free' })
    return answer
  }
}

function counterOf(userId: UserId) {
  return { kind: 'quotas', id: userId, userId } as const
}
